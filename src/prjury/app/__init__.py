"""A run: take a snapshot of the pull request, let the cascade judge it, make the report.

`review` is the whole run in one process. `stages` are the same steps in four jobs, so that code of
the change, a model's key and a token that can write never meet. `backport` asks the backport judge
alone, and `picks` turns its verdicts into proposed pull requests.
"""
