"""The build judge: runs the merged tree's own build and tests, and reads why they fail.

A judgment is made in these steps, and `judge` is the page that shows them:

1. detect: `planner` finds the builds of a tree, by its CI and by ``systems/``, each as a `plan`.
2. run: `run` runs a plan on the base, where no outcome of it is kept, then on the merged tree.
3. read: ``results/`` reads reports and logs; `evidence` has the values, which are their own JSON.
4. compare: `compare` says what is new, old, flaky or the machine's, and what was lost.
5. decide: `decide` makes a judgment of each build, and one of all of them.

A build that ran elsewhere joins after the third step: `stage` writes down what happened there,
`external_builds` judges by it. `external_checks` judges by the checks of another CI.
"""

from prjury.judges.builds.judge import make

__all__ = ["make"]
