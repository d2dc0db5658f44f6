"""Judges that need nothing but a directory: its files, a command in it, a coverage report."""
