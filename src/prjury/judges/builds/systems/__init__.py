"""Build systems: one module each, from a tree to the plans that build it."""
