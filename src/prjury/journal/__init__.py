"""The record of a run: one file of JSON lines below ``$XDG_STATE_HOME/prjury``."""
