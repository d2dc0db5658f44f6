"""The version-pattern judge: rules about code that a declared version no longer has.

packs (YAML) ─ load ─> rules ─┐
build files ─ project ─> modules ─ gate ─> which rules hold where, and how severely
added lines ─ prefilter ─> files to read ─ parser ─> matches ─ judge ─> findings
"""
