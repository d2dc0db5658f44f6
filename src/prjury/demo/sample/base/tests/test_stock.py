import unittest

from shelf.stock import Stock


class StockTest(unittest.TestCase):
    def test_put_and_take(self) -> None:
        stock = Stock()
        stock.put("nail", 3)
        stock.take("nail")
        self.assertEqual(stock.count("nail"), 2)

    def test_take_too_many(self) -> None:
        with self.assertRaises(ValueError):
            Stock().take("nail")
