"""Bridges to agent frameworks; each is an extra, imported when it is used."""
