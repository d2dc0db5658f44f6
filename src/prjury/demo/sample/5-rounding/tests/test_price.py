import unittest

from shelf.price import total


class PriceTest(unittest.TestCase):
    def test_discount(self) -> None:
        self.assertEqual(total(1000, 2, 10), 1800)

    def test_discount_is_rounded_not_cut(self) -> None:
        self.assertEqual(total(199, 1, 50), 100)
