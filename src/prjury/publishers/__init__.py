"""Write a finished report somewhere: one file a target."""
