"""The policy: what to judge, with what, and what closes the gate. Resolved once, from text."""

POLICY_PATH = ".github/prjury.yml"
