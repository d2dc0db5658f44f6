"""Judging a directory: the judges of `prjury.judges.workspace` with what they need around them."""
