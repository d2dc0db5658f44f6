"""The pick itself: tried, with what has to come first, and as commands."""
