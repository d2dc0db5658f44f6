"""Readers of what a build prints: which tests ran, which failed and why, and what did not compile.

To add a problem matcher, for errors that a tool prints in one line or as a list below a heading:

1. Add it to ``matchers/TOOL.json``, in GitHub's format for ``::add-matcher::``. Expressions are
   RE2's and begin with ``^``. ``kind`` is ``compile``, ``error`` (the default) or ``goal``, for a
   part of the build that gave up because of other failures. There is nothing to register: the files
   are read in the order of their names, and the first matcher that fits a line decides.
2. Add a log of the tool to ``tests/unit/judges/builds/logs`` and what is found in it to
   ``tests/unit/judges/builds/test_results.py``.

To add a reader of a test runner's output, first see whether the runner can write JUnit or TAP. If
it can, let the build plan in ``systems/`` ask for that. If it cannot:

1. Write a function from a `LogSection` to a `RunnerOutput`, in the module of its language, such as
   ``rust_runners.py``. Describe each run as a `RunnerRun`: its names are believed only where they
   add up to the runner's own closing line.
2. Add one row to ``READERS`` in ``read.py``, with text that each of its logs holds.
3. Add logs and expectations as above, with a log in which the tests themselves print such lines.
"""
