"""Where words stand in a whole tree."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from prjury.git.command import Git, failure
from prjury.ports.types import WordPlaces

#: Nobody waits longer than so many seconds for one tree.
SECONDS = 3.0
_FOUND, _NOTHING = 0, 1
#: Prose, data and pictures; much of a tree, and no code.
_NO_CODE = (
    "adoc asciidoc csv css fits html ipynb jar json lock map md pdf png po rst snap sql svg tsv txt"
    " xml yaml yml"
)
_WITHOUT = tuple(f":(exclude,icase,glob,top)**/*.{suffix}" for suffix in _NO_CODE.split())
_PATTERNS = {"GIT_LITERAL_PATHSPECS": "0"}
#: What git says of a blob that a partial clone lacks; it goes on with the next file.
_MISSING = re.compile(r"^error: '(.*)': unable to read [0-9a-f]+$", re.MULTILINE)

_ERROR = re.compile(r"^(?:error|fatal): ", re.MULTILINE)


def words_in_tree(
    git: Git, tree: str, words: Sequence[str], seconds: float = SECONDS
) -> WordPlaces:
    """Every place of each word as a whole word, in text files that by their name may hold code.

    Args:
        tree: a commit or tree.
        words: letters, digits and underscores.
        seconds: how long git may take.

    Raises:
        GitError: when it takes longer, prints too much, or fails.
    """
    if not words:
        return WordPlaces({})
    # One pattern for all of them: with a pattern each git looks through every line for each.
    pattern = "|".join(words)
    args = ("grep", "-I", "-n", "-z", "-o", "-w", "-E", "--no-color", "--full-name")
    output, code, stderr = git.try_run(
        *args, "-e", pattern, tree, "--", *_WITHOUT, env=_PATTERNS, timeout=seconds
    )
    missing = _MISSING.findall(stderr)
    if code not in {_FOUND, _NOTHING} or len(_ERROR.findall(stderr)) > len(missing):
        raise failure("grep", code, stderr)
    places: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for path, line, word in _places(output, len(tree) + 1):
        places[word].append((path, line))
    lacking = dict.fromkeys(path.removeprefix(f"{tree}:") for path in missing)
    return WordPlaces({word: tuple(found) for word, found in places.items()}, tuple(lacking))


def _places(output: bytes, prefix: int) -> Iterator[tuple[str, int, str]]:
    """Path, line and word of each match; git puts the tree's name before every path."""
    at = 0
    while at < len(output):
        path_end = output.index(b"\0", at)
        line_end = output.index(b"\0", path_end + 1)
        end = output.index(b"\n", line_end + 1)
        path = output[at + prefix : path_end].decode("utf-8", "surrogateescape")
        yield path, int(output[path_end + 1 : line_end]), output[line_end + 1 : end].decode()
        at = end + 1
