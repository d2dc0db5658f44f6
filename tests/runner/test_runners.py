"""The runners themselves: what they do with jobs, conditions, outputs and artifacts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from runner.expressions import filled, holds
from runner.host import Host
from runner.site import Site

_WORKFLOW = """
name: Relay
on: [workflow_run]
permissions: {}
jobs:
  write:
    if: github.event.workflow_run.event == 'pull_request'
    runs-on: ubuntu-24.04
    outputs:
      artifact: ${{ steps.kept.outputs.artifact-id }}
      sha256: ${{ steps.kept.outputs.artifact-digest }}
    steps:
      - run: |
          echo "of ${GITHUB_RUN_ID}" > "$RUNNER_TEMP/letter"
          echo "## Written" >> "$GITHUB_STEP_SUMMARY"
          printf 'text<<END\\none\\ntwo\\nEND\\nname=octo\\n' >> "$GITHUB_OUTPUT"
        id: said
      - uses: UPLOAD
        id: kept
        with:
          path: ${{ runner.temp }}/letter
          archive: false
          if-no-files-found: error
  read:
    needs: write
    runs-on: ubuntu-24.04
    env:
      SHA256: ${{ needs.write.outputs.sha256 }}
    steps:
      - uses: DOWNLOAD
        with:
          artifact-ids: ${{ needs.write.outputs.artifact }}
          path: ${{ runner.temp }}/mail
      - run: echo "$SHA256  $RUNNER_TEMP/mail/letter" | sha256sum --check
      - uses: DOWNLOAD
        continue-on-error: true
        with:
          artifact-ids: "1"
          path: ${{ runner.temp }}/mail
      - run: exit 3
      - run: exit 4
      - name: At last
        if: always()
        run: echo "::notice::still here"
  left:
    needs: [write, read]
    runs-on: ubuntu-24.04
    steps:
      - run: exit 5
  finish:
    needs: [write, left]
    if: always() && github.event.workflow_run.event == 'pull_request'
    runs-on: ubuntu-24.04
    steps:
      - name: Never
        if: needs.left.outputs.artifact != ''
        run: exit 6
      - name: Sum up
        env:
          ARTIFACT: ${{ needs.write.outputs.artifact }}
        run: echo "$ARTIFACT" >> "$GITHUB_STEP_SUMMARY"
"""


def stub(repositories: Mapping[str, Path], name: str) -> str:
    return next(used for used in repositories if f"/{name}-artifact" in used)


def test_our_own_harness_does_what_the_runner_does(
    site: Site, repositories: Mapping[str, Path], tmp_path: Path
) -> None:
    workflow = tmp_path / "relay.yml"
    text = _WORKFLOW.replace("UPLOAD", stub(repositories, "upload"))
    workflow.write_text(text.replace("DOWNLOAD", stub(repositories, "download")))
    (tmp_path / "own").mkdir()
    own = Site(
        site.shop, site.fake, Host(repositories, tmp_path / "own"), tmp_path / "artifacts-own"
    )
    event: Mapping[str, Any] = {"workflow_run": {"event": "pull_request"}}
    theirs, ours = (one.run(workflow, "workflow_run", event) for one in (site, own))
    expected = {"write": "success", "read": "failure", "finish": "success"}
    for ran in (theirs, ours):
        assert {job: ran.jobs.get(job) for job in expected} == expected, ran.log
        assert ran.jobs.get("left") in {None, "skipped"}
        assert ran.code == 1
        assert ran.outputs("said") == {"text": "one\ntwo", "name": "octo"}
        assert ran.outputs("kept")["artifact-id"] == "5001"
        assert [text.strip() for _, text in ran.summaries] == ["## Written", "5001"]
    names = [[(one.name, one.result) for one in ran.steps] for ran in (theirs, ours)]
    assert names[0] == names[1]
    assert site.artifacts[0].content.startswith(b"of ")


_CONTEXT = {"github": {"event": {"number": 7, "draft": False}}, "needs": {"a": {"outputs": {}}}}


@pytest.mark.parametrize(
    ("condition", "failed", "expected"),
    [
        (None, False, True),
        (None, True, False),
        ("always()", True, True),
        ("${{ failure() }}", True, True),
        ("!failure()", False, True),
        ("github.event.number == '7'", False, True),
        ("github.event.number == '7'", True, False),
        ("always() && (github.event.number != '7' || github.event.title == '')", True, True),
        ("needs.a.outputs.artifact != ''", False, False),
        ("github.event.draft == false", False, True),
    ],
)
def test_a_condition_holds(condition: str | None, failed: bool, expected: bool) -> None:
    assert holds(condition, _CONTEXT, failed=failed) is expected


def test_a_text_is_filled() -> None:
    text = "pr-${{ github.event.number }}-${{ github.event.draft }}-${{ github.event.none }}-"
    assert filled(text, _CONTEXT) == "pr-7-false--"


@pytest.mark.parametrize("text", ["${{ toJSON(github) }}", "${{ a[0] }}", "${{ 'a' 'b' }}"])
def test_what_our_workflows_do_not_say_is_refused(text: str) -> None:
    with pytest.raises(AssertionError, match="not an expression of ours"):
        filled(text, _CONTEXT)
