"""Judges that ask models: the models answer, the program counts.

To add a judge of changes, write its questions and its ``make_NAME`` in ``kinds.py`` (``make_tests``
is an example), its instructions in ``templates/prompts/NAME.md.j2`` (and the name in
``OVERRIDABLE`` of ``question.py`` if a repository may replace them), its options in
``policy/tiers.py``, its factory in ``JUDGES`` of ``app/registry.py``, its page in
``.github/docs/judges``, and its golden prompt.
"""
