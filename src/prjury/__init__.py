"""PR Jury: a cascaded jury for pull requests, and a jury library for any other work."""
