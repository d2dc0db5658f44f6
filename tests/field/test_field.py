"""Some of the field corpus, each night; the edits of all of it whenever its format is read."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import get_args

import pytest

from field.clones import clone
from field.corpus import Case, Edit, Kind, load_corpus
from field.table import is_wrong
from field.trial import lacks, own_commands, review

_CORPUS = load_corpus()
_FAST = [case for one in _CORPUS if one.fast for case in one.cases]


def test_the_corpus_is_as_large_as_it_says() -> None:
    assert len(_CORPUS) >= 20
    assert len({one.system for one in _CORPUS}) >= 12
    assert all(len(one.changes) == 2 for one in _CORPUS)
    assert all(set(one.mutations) == set(get_args(Kind)) for one in _CORPUS)


def test_an_edit_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="is there 2 times"):
        Edit(file="a", old="x", new="y").of("x x")


@pytest.mark.nightly
@pytest.mark.parametrize("case", _FAST, ids=lambda case: f"{case.repository.name}, {case.name}")
def test_a_verdict_is_what_maintainers_would_say(
    case: Case, tmp_path_factory: pytest.TempPathFactory
) -> None:
    repository = case.repository
    if missing := lacks(repository):
        pytest.skip(f"{missing} is not installed")
    place = Path(tmp_path_factory.getbasetemp(), f"{repository.name.replace('/', '+')}.git")
    try:
        cloned = clone(repository, place, None)
    except subprocess.CalledProcessError:
        pytest.skip(f"{repository.address} cannot be reached")
    result = review(case, cloned, 600)
    if case.merged and result.outcome == "red":
        ran = own_commands(repository, cloned, result.head, 600)
        if ran.code != 0:
            pytest.skip(f"the maintainers' own commands fail here: {ran.tail}")
    if case.merged:
        assert result.outcome in {"green", "told"}, result.headline
    else:
        assert not is_wrong(result), result.headline
