"""Judges of a directory in a policy: they look at the merged tree, as git holds it.

A command runs in a copy of that tree where the change may be run: in a review of one process, or in
the stage build, whose evidence the later stages read.
"""
