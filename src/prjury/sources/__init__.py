"""Read-only adapters: where pull requests, files and command results come from."""
