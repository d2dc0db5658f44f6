"""The prompt that PR-Agent sends to review a pull request, built by its own code without a network.

`prompts.py` starts this script with the Python of an environment in which PR-Agent's requirements
are installed, for it imports PR-Agent from a checkout that the caller names:

    python -P tests/benchmarks/prompts_rival.py CHECKOUT path/to/repository.git BASE HEAD

Prints a JSON object: `system`, `user`, `calls`. Everything runs as on GitHub with the default
settings, but for three stand-ins: the provider's answers come from git, the tokens are counted by
characters, and nothing is behind the model. What only GitHub knows is missing: the title and body
are those of the first commit, the languages are told by the files' extensions, and there are no
tickets.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from types import SimpleNamespace
from typing import Any

#: Characters that count as one token.
CHARACTERS_PER_TOKEN = 4

_WORDS = {"A": "added", "D": "removed", "M": "modified", "T": "modified", "R": "renamed"}


class Change:
    """Two commits of a repository, seen as GitHub describes a pull request."""

    def __init__(self, repository: str, base: str, head: str) -> None:
        self._git = ("git", f"--git-dir={repository}")
        self.base, self.head = base, head

    def files(self) -> list[SimpleNamespace]:
        """What changes, as the API lists it: a file's patch begins with its first hunk."""
        listing = self._output("diff", "--name-status", "-z", "-M", self.base, self.head)
        words = iter(listing.split("\0")[:-1])
        return [self._file(word[0], self._paths(word, next(words), words)) for word in words]

    def content(self, path: str, commit: str) -> str:
        """A file's text; nothing where the commit does not have it."""
        argv = (*self._git, "cat-file", "blob", f"{commit}:{path}")
        done = subprocess.run(argv, capture_output=True, check=False)
        return done.stdout.decode(errors="replace") if done.returncode == 0 else ""

    @cached_property
    def message(self) -> tuple[str, str]:
        """Subject and body of the first commit."""
        commits = self._output("rev-list", "--reverse", f"{self.base}..{self.head}").split()
        subject, _, body = self._output("log", "-1", "--format=%B", commits[0]).partition("\n")
        return subject, body.strip()

    def sizes(self) -> Counter[str]:
        """Bytes at the head for each extension."""
        sizes: Counter[str] = Counter()
        for line in self._output("ls-tree", "-r", "-l", self.head).splitlines():
            about, _, path = line.partition("\t")
            size = about.split()[3]
            # It is a dash for a submodule, and another word where a snapshot lacks the file.
            sizes["." + path.rpartition(".")[2]] += int(size) if size.isdecimal() else 0
        return sizes

    def _file(self, word: str, paths: tuple[str, ...]) -> SimpleNamespace:
        patch = self._output("diff", "-M", self.base, self.head, "--", *paths)
        hunks = patch.find("\n@@ ")
        lines = patch[hunks + 1 :].rstrip("\n") if hunks >= 0 else ""
        return SimpleNamespace(
            filename=paths[-1],
            status=_WORDS[word],
            patch=lines or None,
            additions=sum(line.startswith("+") for line in lines.split("\n")),
            deletions=sum(line.startswith("-") for line in lines.split("\n")),
        )

    @staticmethod
    def _paths(word: str, first: str, words: Any) -> tuple[str, ...]:
        return (first, next(words)) if word[0] == "R" else (first,)

    def _output(self, *args: str) -> str:
        done = subprocess.run((*self._git, *args), capture_output=True, check=True)
        return done.stdout.decode(errors="replace")


class CharacterEncoder:
    """Stands for the tokeniser, whose vocabulary is downloaded when it is first used."""

    def encode(self, text: str, **_: object) -> range:
        """As many values as there are tokens."""
        return range(-(-len(text) // CHARACTERS_PER_TOKEN))


class SilentModel:
    """Takes what is sent and answers nothing."""

    def __init__(self) -> None:
        self.prompts: list[tuple[str, str]] = []

    async def chat_completion(self, *, system: str, user: str, **_: object) -> tuple[str, str]:
        """An empty answer."""
        self.prompts.append((system, user))
        return "", "stop"


def provider_of(change: Change, extensions: Mapping[str, list[str]]) -> type:
    """PR-Agent's provider for GitHub, with the answers of the API taken from the repository."""
    github = import_module("pr_agent.git_providers.github_provider")
    base = import_module("pr_agent.git_providers.git_provider")
    language_of = {e: name for name, known in reversed(list(extensions.items())) for e in known}
    languages: Counter[str] = Counter()
    for extension, size in change.sizes().items():
        languages[language_of.get(extension, "Other")] += size
    head, merge_base = (
        SimpleNamespace(sha=change.head, ref="topic"),
        SimpleNamespace(sha=change.base),
    )

    def prepare(self: Any, url: str) -> None:
        self.pr_url, self.diff_files, self.git_files = url, None, None
        self.incremental = base.IncrementalPR(False)
        self.pr = SimpleNamespace(
            title=change.message[0],
            body=change.message[1],
            head=head,
            base=merge_base,
            get_files=change.files,
            get_commits=list,
        )
        self.repo_obj = SimpleNamespace(
            compare=lambda *_: SimpleNamespace(merge_base_commit=merge_base)
        )

    members = {
        "__init__": prepare,
        "get_languages": lambda self: dict(languages),
        "_get_pr_file_content": lambda self, file, sha: change.content(file.filename, sha),
    }
    return type("LocalProvider", (github.GithubProvider,), members)


def prompts_of(change: Change) -> list[tuple[str, str]]:
    """System and user text of every call that a review makes."""
    settings = import_module("pr_agent.config_loader").get_settings()
    providers = import_module("pr_agent.git_providers")
    reviewer = import_module("pr_agent.tools.pr_reviewer")
    encoder = import_module("pr_agent.algo.token_handler").TokenEncoder
    encoder._encoder_instance, encoder._model = CharacterEncoder(), settings.config.model
    provider = provider_of(change, settings.language_extension_map_org)
    providers._GIT_PROVIDERS[settings.config.git_provider] = provider
    review = reviewer.PRReviewer("https://github.com/o/r/pull/1", ai_handler=SilentModel)
    # Not `run`: that goes on to look tickets up and to publish, and swallows what goes wrong.
    asyncio.run(review._prepare_prediction(settings.config.model))
    prompts: list[tuple[str, str]] = review.ai_handler.prompts
    return prompts


def main(checkout: str, repository: str, base: str, head: str) -> None:
    sys.path.insert(0, checkout)
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the network for prices
    logger = import_module("loguru").logger
    logger.remove()  # its messages are not for this script's output
    prompts = prompts_of(Change(repository, base, head))
    if len(prompts) != 1:
        sys.exit(f"PR-Agent made {len(prompts)} calls, not one")
    system, user = prompts[0]
    json.dump({"system": system, "user": user, "calls": len(prompts)}, sys.stdout)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
