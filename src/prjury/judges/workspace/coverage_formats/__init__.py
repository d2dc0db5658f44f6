"""Readers of coverage reports, one format a file; `read` recognises them."""
