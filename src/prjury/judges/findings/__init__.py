"""The judge `findings`: another tool's report, as far as it is about added lines."""
