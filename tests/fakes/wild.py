"""Histories of small files in which two branches do whatever chance says; the same for a seed."""

from __future__ import annotations

import random
from pathlib import Path

from fakes.history import Content, Entry, Files, History, script

_NAMES = ("a.py", "b.txt", "d/c.java", "d/e.md", "f")


class WildHistory:
    """``main`` and ``change`` since they parted; ``change`` may have merged ``main`` meanwhile."""

    def __init__(self, path: Path, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - the same on every run
        self.history = History(path)
        self._files: dict[str, dict[str, Content]] = {}
        start: dict[str, Content] = {name: self._text() for name in _NAMES}
        self.history.commit(start)
        self.history.branch("change")
        self._files = {"main": dict(start), "change": dict(start)}
        for number in range(self.chance.randint(1, 3)):
            self._commit("main", f"main {number}")
        for number in range(self.chance.randint(1, 4)):
            self._commit("change", f"change {number}")
        if self.chance.random() < 0.3:
            self._take_over()
        if self.chance.random() < 0.2:
            self._merge_back()

    def _text(self) -> str:
        return "".join(
            f"{self.chance.choice('abc')}{n}\n" for n in range(self.chance.randint(0, 14))
        )

    def _commit(self, branch: str, message: str) -> None:
        self.history.switch(branch)
        changes: dict[str, Content] = {}
        for _ in range(self.chance.randint(1, 3)):
            changes |= self._change(self._files[branch] | changes)
        self._files[branch] |= changes
        self.history.commit(changes, message)

    def _change(self, files: Files) -> dict[str, Content]:
        here = sorted(name for name, content in files.items() if content is not None)
        if not here:
            return {self.chance.choice(_NAMES): self._text()}
        name = self.chance.choice(here)
        content = files[name]
        kinds = ["edit"] * 8 + ["rename", "delete", "add", "mode", "ends", "copy"]
        match self.chance.choice(kinds):
            case "rename" if len(str(content)) > 20:
                target = f"{self.chance.choice(['d', 'g'])}/{self.chance.choice('xy')}"
                return {} if target in files else {name: None, target: content}
            case "delete":
                return {name: None}
            case "add":
                new = self.chance.choice(["n", "d/n", "g/n"])
                return {new: self._text()} if "g" not in files else {}
            case "mode" if isinstance(content, str):
                return {name: script(content)}
            case "ends" if isinstance(content, str):
                return {name: content.replace("\n", "\r\n")}
        return {name: self._edited(content)}

    def _edited(self, content: Content) -> Content:
        if isinstance(content, Entry):
            return Entry(self._edited_text(content.content.decode()).encode(), content.mode)
        return self._edited_text(str(content or ""))

    def _edited_text(self, text: str) -> str:
        lines = text.splitlines(keepends=True)
        at = self.chance.randint(0, len(lines))
        new = [f"{self.chance.choice('xyz')}\n" for _ in range(self.chance.randint(0, 2))]
        return "".join(lines[:at] + new + lines[at + self.chance.randint(0, 2) :])

    def _take_over(self) -> None:
        """What ``change`` did first comes to ``main`` as a commit of its own."""
        first = self.history.git("rev-list", "--reverse", "main..change").split()[0]
        self.history.switch("main")
        self.history.git(
            "cherry-pick", "--allow-empty", "--keep-redundant-commits", first, ok=(0, 1)
        )
        if self.history.git("ls-files", "-u"):
            self.history.git("cherry-pick", "--abort")

    def _merge_back(self) -> None:
        """``change`` merges ``main``; where both collide it says which lines it wants."""
        self.history.switch("change")
        self.history.git("merge", "--quiet", "-X", "theirs", "--no-edit", "main", ok=(0, 1, 128))
        if self.history.git("ls-files", "-u"):
            self.history.git("merge", "--abort")
            return
        self.history.commit({"a.py": self._text()}, "after the merge")
