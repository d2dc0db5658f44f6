"""Git: finding the operator's repository, a private object store beside it, the snapshot.

Every git command runs with a fixed environment and without the repository's own configuration,
hooks, attributes, replacements and helpers.
"""
