"""Rules of a team: Python functions that the policy names, called with a view of the change."""
