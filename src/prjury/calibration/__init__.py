"""Earning the gate: were the failures that models reported right? The proof is a record."""
