"""The ``backport`` section: which release branches a change is judged for, who asks for one."""

from __future__ import annotations

import string
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from prjury.policy.fields import LONGEST_LABEL, Label, PolicySection

#: Bytes.
_LONGEST_BRANCH = 255
#: Characters.
_LONGEST_TITLE = 256
_TITLE_PARTS = frozenset({"branch", "title", "number"})


def _branch(name: str) -> str:
    """Refuses what git takes for no branch, glob characters apart."""
    length = len(name.encode("utf-8", "surrogatepass"))
    if not name.isprintable() or set(name) & set(" ~^:\\") or not 1 <= length <= _LONGEST_BRANCH:
        raise ValueError("a branch is a name such as 1.0.x, or a glob such as release/*")
    return name


def _auto_or_list(value: object) -> object:
    if value != "auto" and not isinstance(value, list):
        raise ValueError("auto or a list of names and globs is expected here")
    return value


def _label_of_branch(pattern: str) -> str:
    """Refuses what cannot be a label with a branch's name in it."""
    text, rest = pattern.strip(), pattern.replace("{branch}", "", 1)
    if rest == pattern:
        raise ValueError("the label has to hold {branch}")
    if set(rest) & set("{},\r\n") or text != pattern or len(rest) > LONGEST_LABEL:
        raise ValueError(
            f"a label has {{branch}} once and up to {LONGEST_LABEL} other characters, with no "
            "comma, brace or line break, and no blank at its ends"
        )
    return pattern


def _title(pattern: str) -> str:
    """Refuses a title without the branch, or with a part that nobody fills in."""
    known = ", ".join(f"{{{part}}}" for part in sorted(_TITLE_PARTS))
    try:
        fields = [field for field in string.Formatter().parse(pattern) if field[1] is not None]
    except ValueError:
        raise ValueError(f"a title may hold {known}, and no other brace") from None
    if any(name not in _TITLE_PARTS or form or how for _, name, form, how in fields):
        raise ValueError(f"a title may hold {known}, and no other brace")
    if "branch" not in {name for _, name, _, _ in fields}:
        raise ValueError("the title has to hold {branch}")
    if not pattern.isprintable() or len(pattern) > _LONGEST_TITLE:
        raise ValueError(f"a title is one line of up to {_LONGEST_TITLE} characters")
    return pattern


BranchName: TypeAlias = Annotated[str, AfterValidator(_branch)]
#: What is wrong in a list is told of its entry, not of the other form as well.
Branches: TypeAlias = Annotated[
    Annotated[Literal["auto"], Tag("auto")] | Annotated[list[BranchName], Tag("list")],
    Discriminator(lambda value: "list" if isinstance(value, list) else "auto"),
    BeforeValidator(_auto_or_list),
]
BranchLabel: TypeAlias = Annotated[str, AfterValidator(_label_of_branch)]


class OpenConfig(PolicySection):
    """Whether pull requests are opened for backports once the change is merged.

    Nothing is ever pushed to a release branch.
    """

    enabled: bool = False
    conflicts: Literal["nothing", "draft"] = Field(
        "nothing", description="what is opened where the pick conflicts; a draft lists them"
    )
    labels: list[Label] = Field(default_factory=list, description="what is opened gets these")
    title: Annotated[str, AfterValidator(_title)] = Field(
        "[{branch}] {title}", description="its title, of {branch}, {title} and {number}"
    )


class BackportConfig(PolicySection):
    """Which release branches a change is judged for."""

    branches: Branches = Field(
        "auto", description="names or globs; auto takes the newest release branches"
    )
    default: Literal["ask", "yes", "no"] = Field(
        "ask", description="what is said of a branch that nobody named"
    )
    merge: Literal["squash", "merge", "rebase"] = Field(
        "squash", description="how changes arrive in the branch that they are merged into"
    )
    build: bool = Field(
        False,  # noqa: FBT003 - pydantic takes the default by position
        description="whether the picked tree is built as well",
    )
    most: int = Field(3, ge=1, le=50, description="how many branches auto takes at most")
    locked: list[BranchName] = Field(
        default_factory=list, description="branches that take nothing any more, names or globs"
    )
    labels: list[BranchLabel] = Field(
        default_factory=list,
        description="labels that ask for a backport, beside those that common tools know",
    )
    trailers: bool = Field(
        True,  # noqa: FBT003 - pydantic takes the default by position
        description="whether lines of commit messages and of the description may ask for one",
    )
    override: BranchLabel | None = Field(
        None, description="a maintainer's label that says yes, whatever the score says"
    )
    open: OpenConfig = OpenConfig()
