"""Judges of a directory in a policy: they look at the merged tree, as git holds it."""
