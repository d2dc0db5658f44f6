"""A run: take a snapshot of the pull request, let the cascade judge it, make the report."""
