"""What users of the library need beside the court: repeated judges, retries, evaluation, model and agent judges."""
