"""The court: judges, ballots, juries, cascades. Generic and pure; it knows no pull request."""
