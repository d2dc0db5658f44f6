"""Source text: languages, a parser in a process of its own, comments and strings told apart."""
