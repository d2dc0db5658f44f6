import unittest

from shelf.price import total


class PriceTest(unittest.TestCase):
    def test_discount(self) -> None:
        self.assertEqual(total(1000, 2, 10), 1800)
