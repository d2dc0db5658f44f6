"""What it costs."""

CURRENCY = "EUR"


def total(cents: int, count: int, discount_percent: int = 0) -> int:
    return cents * count * (100 - discount_percent) // 100


def label(cents: int) -> str:
    return f"{cents / 100:.2f} {CURRENCY}"
