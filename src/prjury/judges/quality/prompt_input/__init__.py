"""What is laid before a model: the change and other texts, numbered, in pieces and on sheets."""
