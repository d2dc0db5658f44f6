"""The picked change as the branch would have it: against its versions, and built."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fakes.maven import project
from integration.backport.bench import ASKED, Bench, Story, lines
from prjury.jury.judgment import Check
from prjury.report.model import Backport

CART = "src/main/java/shop/Cart.java"
MAPPER = "com.fasterxml.jackson.databind.ObjectMapper"


def boot(version: str) -> str:
    parent = (
        "<parent><groupId>org.springframework.boot</groupId>"
        f"<artifactId>spring-boot-starter-parent</artifactId><version>{version}</version></parent>"
    )
    starter = (
        "<dependency><groupId>org.springframework.boot</groupId>"
        "<artifactId>spring-boot-starter-web</artifactId></dependency>"
    )
    return project(f"{parent}<artifactId>shop</artifactId><dependencies>{starter}</dependencies>")


def cart(*imports: str) -> str:
    named = "".join(f"import {name};\n" for name in imports)
    return f"package shop;\n\n{named}\nclass Cart {{\n    int count;\n}}\n"


def check_of(told: Backport, name: str) -> Check:
    (check,) = (check for check in told.checks if check.name == name)
    return check


@pytest.mark.parametrize("name", ["javax.servlet.Filter", MAPPER])
@pytest.mark.parametrize("right_on", ["1.x", "main"])
def test_the_branch_s_own_versions_count(tmp_path: Path, name: str, right_on: str) -> None:
    old, new = ("2.7.18", "3.2.0") if name.startswith("javax") else ("3.2.0", "4.0.0")
    here, there = (new, old) if right_on == "1.x" else (old, new)
    story = Story(
        start={CART: cart(), "pom.xml": boot("1.5.0")},
        main=[{"pom.xml": boot(here)}],
        branch=[{"pom.xml": boot(there)}],
        change=[({CART: cart(name)}, "Fix the cart")],
    )
    told = Bench(tmp_path, story).judge(labels=ASKED)
    versions = check_of(told, "versions")
    assert told.applies
    assert versions.passed is (right_on == "1.x")
    if right_on == "1.x":
        assert told.verdict == "suitable"
    else:
        assert told.verdict in {"suitable_with_changes", "needs_human"}
        assert told.reasons[0] == versions.message
        assert f"{CART}:3" in (versions.evidence or "")


MAKEFILE = "test:\n\t@sh check.sh\n"
BUILDS = {"Makefile": MAKEFILE, "check.sh": "grep -q . value\n", "value": "1\n", "a.py": lines()}


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_a_pick_that_builds_everywhere_but_on_the_branch(tmp_path: Path) -> None:
    story = Story(
        start=BUILDS,
        branch=[{"check.sh": "grep -q 1 value\n"}],
        change=[{"value": "2\n"}],
    )
    bench = Bench(tmp_path, story)
    bench.history.branch("2.x", "main")
    first, second = bench.judged(
        "1.x", "2.x", policy="build: true, default: yes", build=True
    ).backports
    assert (first.verdict, check_of(first, "build").passed) == ("needs_human", False)
    assert first.reasons[0] == check_of(first, "build").message
    assert (second.verdict, check_of(second, "build").passed) == ("suitable", True)

    asked = bench.judge(policy="build: true, default: yes", build=False)
    assert asked.verdict == "suitable"
    assert "build" not in {check.name for check in asked.checks}


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_a_branch_that_does_not_build_anyway(tmp_path: Path) -> None:
    story = Story(start=BUILDS, branch=[{"check.sh": "false\n"}], change=[{"value": "2\n"}])
    told = Bench(tmp_path, story).judge(policy="build: true", build=True, labels=ASKED)
    assert told.verdict == "needs_human"
    assert any("nor can the base" in reason for reason in told.reasons)
