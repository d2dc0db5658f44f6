"""How many of what."""


class Stock:
    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def put(self, item: str, count: int = 1) -> None:
        self._counts[item] = self.count(item) + count

    def take(self, item: str, count: int = 1) -> None:
        if self.count(item) < count:
            raise ValueError(f"only {self.count(item)} of {item} left")
        self._counts[item] -= count

    def count(self, item: str) -> int:
        return self._counts.get(item, 0)
