"""The judges that ask models: what each is about, its questions, and what it reads."""
