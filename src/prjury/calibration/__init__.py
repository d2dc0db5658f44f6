"""Earning the gate: were the failures that models reported right?

A tier that asks models advises until the repository has shown that its failures are right
(`answers`). The proof is a record in the repository (`record`).
"""
