"""What answers come to: true evidence, one opinion a model, one judgment of all. Pure."""
