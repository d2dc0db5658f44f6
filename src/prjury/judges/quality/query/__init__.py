"""How a model is asked: templates, one question, its reply, what it cost, what is remembered."""
