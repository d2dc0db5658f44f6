"""Write a finished report somewhere: one file a target.

To add a publisher:

1. Write ``publishers/NAME.py`` with a dataclass that has a ``name`` and a method
   ``publish(report) -> str | None`` (the address of what was written, if it has one); see
   `Publisher` in ``prjury.ports``. It raises `PublishError` and nothing else; its reason is
   ``permission`` for a token that may not write, ``unwritable`` for a file. Take texts from
   ``prjury.report``, where words from outside are sanitised.
2. Where it writes to GitHub, make it repeatable: look what is there, write inside `write_once`,
   run the attempt in `converge` (``races.py``), and let a newer run win (`find_newer`).
3. Switch it on: add a key to `PublishConfig` in ``policy/schema.py``,
   and a branch to `PublisherFactory` (GitHub) or ``action/publishing.py`` (files of the job).
4. Test it in ``tests/unit/publishers/test_NAME.py``; a target on GitHub also gets its rows in the
   fault table (``tests/integration/faults``), which ends every request at every moment.

Publishers read judgments through the facts in ``report/judge_facts.py``, never by a metadata key.
"""
