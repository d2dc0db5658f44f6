"""What is wrong with the way PR Jury is set up in a repository, and how to fix it."""
