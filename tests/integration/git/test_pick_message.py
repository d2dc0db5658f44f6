"""The message of a picked commit, beside the one that git writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.history import History
from prjury.publishers.backport_pulls import add_cherry_pick_lines

SIGNED = "Signed-off-by: Ada <ada@example.org>"
PICKED = f"(cherry picked from commit {'a' * 40})"
MESSAGES = {
    "a subject": "Fix",
    "with a line end": "Fix\n",
    "a colon in the subject": "fix: the cart",
    "a subject like a trailer": SIGNED,
    "a body": "Fix\n\nBecause.\n",
    "trailers": f"Fix\n\nBecause.\n\n{SIGNED}\nReviewed-by: B\n",
    "trailers only": f"Fix\n\n{SIGNED}",
    "picked before": f"Fix\n\nBecause.\n\n{PICKED}\n",
    "a list that looks like trailers": "Fix\n\nWhy: this\nHow: that\n",
    "mixed with too many words": f"Fix\n\none\ntwo\nthree\nfour\n{SIGNED}\n",
    "words and a trailer of nobody's": "Fix\n\nsome words\nWhy: this\n",
    "a continued word": "Fix\n\nword\n  and that\nWhy: this\n",
    "a colon after two words": "Fix\n\nWhy this: that\n",
    "blank lines": "\n\nFix\n\n\n\nBecause.   \n\n\n",
    "hashes alone": "Fix\n\n# heading\n\n#2\n",
    "a hash for a subject": "#7 fix\n\nBecause.\n",
    "no blank after the subject": f"Fix\n{SIGNED}\n",
    "carriage returns": f"Fix\r\n\r\nBecause.\r\n\r\n{SIGNED}\r\n",
    "beyond ASCII": "Réparer 日本\n\nClé: oui\n",
}


@pytest.mark.parametrize("name", list(MESSAGES))
def test_it_is_the_one_that_git_writes(tmp_path: Path, name: str) -> None:
    history = History(tmp_path)
    history.commit({"a.txt": "a\n"})
    history.branch("1.x")
    sha = history.commit({"b.txt": "b\n"}, MESSAGES[name])
    history.switch("1.x")
    history.git("cherry-pick", "-x", sha)
    written = history.git("cat-file", "commit", "HEAD").partition("\n\n")[2] + "\n"
    assert add_cherry_pick_lines(MESSAGES[name], [sha]) == written


def test_without_a_message_the_origin_is_all_there_is() -> None:
    assert add_cherry_pick_lines("\n", ["b" * 40]) == f"(cherry picked from commit {'b' * 40})\n"
