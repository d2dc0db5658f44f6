"""The judges of pull requests: one file, one judge; each gathers through a port, then decides."""
