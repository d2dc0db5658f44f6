"""The quality judge: a model answers one yes-or-no question per criterion and quotes the change."""
