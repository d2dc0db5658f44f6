"""The public names of source texts, and what a change does to them."""
