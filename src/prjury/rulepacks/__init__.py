"""Packs of rules: their format, how they are read, checked and tested."""
