"""For library users, beside the court: repeats, retries, evaluation, model and agent judges."""
