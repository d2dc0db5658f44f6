"""The sentence: a pull request is photographed, a cascade looks at it, a report is made.

`review` says it in one breath; `zones` says it in four, each for a job of its own, so that what
runs the change's code, what holds a model's key and what may write never meet. `backport` asks the
backport judge alone, and `picks` makes of its verdicts what is proposed.
"""
