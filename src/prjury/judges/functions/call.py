"""Calls one function of a rule with the view of a change, as a program of its own."""

from __future__ import annotations

import json
import linecache
import sys
from pathlib import Path
from types import SimpleNamespace


def main(rule_file: str, shown_path: str, function: str, pull_file: str, answer_file: str) -> None:
    """Write what the function answers, and the first line of its documentation."""
    source = Path(rule_file).read_text("utf-8-sig")
    linecache.cache[shown_path] = (len(source), None, source.splitlines(keepends=True), shown_path)
    scope: dict[str, object] = {"__name__": "rules", "__file__": shown_path}
    exec(compile(source, shown_path, "exec"), scope)  # noqa: S102 - the base's own, in the contained shell
    called = scope.get(function)
    if not callable(called):
        sys.exit(f"{shown_path} has no function {function}")
    pull = json.loads(Path(pull_file).read_text(), object_hook=lambda it: SimpleNamespace(**it))
    reply = {"answer": called(pull), "about": (called.__doc__ or "").strip().partition("\n")[0]}
    Path(answer_file).write_text(json.dumps(reply, allow_nan=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
