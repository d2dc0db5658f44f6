"""Judges that compare the files of a directory with what they should be."""
