"""GitHub: what it tells of a run and a pull request, and what may be written there."""
