"""Write adapters: each hangs the report up in one place."""
