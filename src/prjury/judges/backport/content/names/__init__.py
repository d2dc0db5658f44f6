"""Names in code: which ones lines refer to, which ones they define, and what imports stand for."""
