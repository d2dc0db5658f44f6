"""Return true if a change can be brought to a release branch, and how: proven where it can be."""
