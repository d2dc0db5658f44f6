"""The policy: what to judge, with what, and what closes the gate. Resolved once, from text."""
