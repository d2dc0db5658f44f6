"""What test runners tell of single tests: which failed and why, which ran, how many there were."""
