"""Git: the operator's repository, a private store beside it, the snapshot; no foreign settings."""
