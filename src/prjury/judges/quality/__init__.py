"""Judges that ask models: the models answer, the program counts.

A kind (`kinds`) says what is asked about. Its input is cut into chunks (`prompt_input`), every seat
of a panel is asked about every chunk by itself (`model_seat`, `question`, `interview`), quotes are
compared with what was shown (`evidence`), and the answers are counted (`votes`).

To add a judge of changes that asks a model:

1. Write ``kinds/NAME.py`` with a ``NAME``, ``CRITERIA`` (yes-or-no questions, answered with yes
   by work that is in order) and ``make(options, ports)``, which returns `kinds.reading.judge_of`;
   ``kinds/testing.py`` is an example.
2. Write its instructions in ``templates/prompts/NAME.md.j2``; add the name to ``OVERRIDABLE`` in
   ``prompts.py`` to let a repository replace them.
3. Add its options to ``policy`` (``JudgeEntry`` in ``policy/tiers.py``) and its factory to
   ``JUDGES`` in ``app/registry.py``.
4. Document it in ``.github/docs/judges`` and add it to
   ``tests/unit/judges/quality/test_golden_prompts.py``.
"""
