"""Source text: languages, a parser in its own process, names, imports, comments, strings."""
