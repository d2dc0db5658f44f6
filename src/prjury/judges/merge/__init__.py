"""Tier 0: does the change merge, and can it be rebased or cherry-picked?"""
