"""Readers of what a build prints: which tests ran, which failed and why, and what did not compile.

To add a problem matcher, for errors that a tool prints in one line or as a list below a heading:

1. Add it to ``matchers/TOOL.json``, in GitHub's format for ``::add-matcher::``. Expressions are
   RE2's and begin with ``^``. ``kind`` is ``compile``, ``error`` (the default) or ``goal``, for a
   part of the build that gave up because of other failures. There is nothing to register: the files
   are read in the order of their names, and the first matcher that fits a line decides.
2. Add a log of the tool to ``tests/unit/judges/builds/logs`` and what is found in it to
   ``tests/unit/judges/builds/test_results.py``.
"""
