"""Who asks for a backport, and which branches are meant."""
