from __future__ import annotations

from fakes.llm import answer, quote

FAILS = answer("fail", [quote()])
