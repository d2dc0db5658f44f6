"""Each way to write a version in each format of manifests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec
import yaml


class Spelling(msgspec.Struct, frozen=True):
    """A manifest in which ``@`` stands for a version, or ``§`` where it needs an ``@``.

    Attributes:
        name: what patterns know the dependency by.
        label: what backports and conflicts know it by, where that is another name.
        versions: three versions that go up.
        files: further files of the tree.
        patterns: whether patterns have to do with it.
    """

    way: str
    path: str
    text: str
    name: str
    label: str = ""
    versions: tuple[str, str, str] = ("1.1.0", "1.2.0", "1.10.0")
    files: Mapping[str, str] = {}
    patterns: bool = True

    def at(self, number: int) -> str:
        """The manifest's text with one of the versions."""
        version = self.versions[number]
        digest = hashlib.sha256(version.encode()).hexdigest()
        text = self.text.replace("%hash%", digest).replace("%commit%", digest[:40])
        return text.replace("@", version) if "§" not in text else text.replace("§", version)

    @property
    def known_as(self) -> str:
        """What backports and conflicts know it by."""
        return self.label or self.name


_TABLE = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text(encoding="utf-8"))
SPELLINGS = msgspec.convert(_TABLE["spellings"], tuple[Spelling, ...])
#: Lock files: patterns read them; backports and conflicts take each for a file that a tool writes.
LOCKS = msgspec.convert(_TABLE["locks"], tuple[Spelling, ...])
