"""The fake as a process of its own: it prints its address, and ends when its input does."""

from __future__ import annotations

import argparse
import sys

from fakes.github.server import running


def main() -> None:
    parser = argparse.ArgumentParser(prog="fakes.github", description=__doc__)
    parser.add_argument("--prefix", default="", help="such as /api/v3")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--pull", action="append", default=[], metavar="OWNER/NAME#NUMBER")
    given = parser.parse_args()
    with running(given.prefix, given.port) as fake:
        for one in given.pull:
            repo, _, number = one.partition("#")
            fake.add_pull(repo, int(number))
        sys.stdout.write(f"{fake.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
