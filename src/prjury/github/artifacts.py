"""What a workflow run has left behind: found, fetched and unpacked as something hostile.

An artifact is a zip that anybody may have packed who can open a pull request. It is never written
to disk: one file of it is read, up to a limit, and an archive that holds anything odd is refused.
"""

from __future__ import annotations

import hashlib
import io
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partial
from glob import escape
from operator import attrgetter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from prjury.errors import CannotJudgeError, SourceError
from prjury.github.client import LOOPBACK, GitHub
from prjury.github.payload import at, read_number, text
from prjury.ports.types import FetchedReports
from prjury.snapshot.model import printable

if TYPE_CHECKING:
    from requests import PreparedRequest, Response

#: What `prjury build` leaves behind, by the artifact's and the file's name.
ARTIFACT, FILE = "build-evidence", "build-evidence.json"

_LARGEST_ZIP = 32 * 1024**2
_LARGEST_FILE = 64 * 1024**2
_MOST_ENTRIES = 20
#: Of reports, which lie beside logs and pages.
_MOST_IN_REPORTS, _MOST_ARTIFACTS, _MOST_XML = 20_000, 30, 64 * 1024**2
#: Bytes in which a report says that it is one.
_HEAD = 4_096
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_CHUNK = 256 * 1024
_REDIRECTS = (301, 302, 303, 307, 308)
_GONE = 410
#: A later attempt of a run may leave an artifact with a lower number.
_AGE = attrgetter("created", "id")


class Artifact(Struct, frozen=True):
    """An artifact as GitHub lists it; ``digest`` is ``sha256:…`` or nothing."""

    id: int
    name: str
    size: int
    digest: str
    expired: bool
    created: str = ""


class BuildArtifact(Struct, frozen=True):
    """The evidence that a run has uploaded (`prjury.ports.Evidence`), fetched when it is read."""

    client: GitHub
    repo: str
    run: int

    def read_evidence_bytes(self) -> bytes:
        """The evidence's bytes."""
        try:
            return extract_file(fetch_artifact(self.client, self.repo, self.run, ARTIFACT), FILE)
        except SourceError as error:
            raise error.phrase_error(CannotJudgeError) from error


def fetch_artifact(client: GitHub, repo: str, run: int, name: str) -> bytes:
    """The newest artifact of that name as GitHub keeps it."""
    return _fetch_verified_zip(client, repo, _require_newest_artifact(client, repo, run, name))


def _fetch_verified_zip(client: GitHub, repo: str, artifact: Artifact) -> bytes:
    content = client.ask(
        f"fetch the artifact {artifact.id}",
        lambda: _download_archive(client, f"/repos/{repo}/actions/artifacts/{artifact.id}/zip"),
        needs="actions: read",
    )
    if artifact.digest and artifact.digest != f"sha256:{hashlib.sha256(content).hexdigest()}":
        raise _refuse_archive("it is not what was uploaded")
    return content


def _require_newest_artifact(client: GitHub, repo: str, run: int, name: str) -> Artifact:
    artifacts = _list_unexpired_artifacts(client, repo, run, {"name": name})
    matching = [each for each in artifacts if each.name == name]
    if not matching:
        raise CannotJudgeError(
            f"run {run} has left no {name} behind",
            why="It was cancelled, it crashed, its artifact could not be uploaded, or has expired",
            remedy="Look into its log for a used-up artifact quota, then run the build again",
            reason="evidence_missing",
        )
    newest = max(matching, key=_AGE)
    if newest.size > _LARGEST_ZIP:
        raise _refuse_archive(f"it is larger than {_LARGEST_ZIP // 1024**2} MiB")
    return newest


def _list_unexpired_artifacts(
    client: GitHub, repo: str, run: int, query: Mapping[str, object] | None = None
) -> list[Artifact]:
    artifacts = client.repo(repo).list_all(
        f"list the artifacts of run {run}",
        f"/actions/runs/{run}/artifacts",
        _read_artifact,
        key="artifacts",
        needs="actions: read",
        query=query,
    )
    return [each for each in artifacts if not each.expired]


def fetch_junit_reports(
    client: GitHub, repo: str, runs: Sequence[int], artifact_names: Sequence[str]
) -> FetchedReports:
    """The JUnit reports in the newest artifact of each wanted name that the runs have left."""
    newest: dict[str, Artifact] = {}
    for run in runs:
        for artifact in sorted(_list_unexpired_artifacts(client, repo, run), key=_AGE):
            if any(is_named(artifact.name, name) for name in artifact_names):
                newest[artifact.name] = artifact
    files, problems, room = dict[str, bytes](), list[str](), _MOST_XML
    for artifact in [*newest.values()][:_MOST_ARTIFACTS]:
        try:
            if artifact.size > _LARGEST_ZIP:
                raise _refuse_archive(f"it is larger than {_LARGEST_ZIP // 1024**2} MiB")
            contents = unpack_junit_reports(_fetch_verified_zip(client, repo, artifact), room)
        except CannotJudgeError as error:
            problems.append(f"the artifact {artifact.name} is refused: {error.why}")
            continue
        room -= sum(map(len, contents.values()))
        files |= {f"{artifact.name}/{path}": content for path, content in contents.items()}
    if len(newest) > _MOST_ARTIFACTS:
        problems.append(f"only {_MOST_ARTIFACTS} artifacts were read")
    return FetchedReports(files, tuple(problems))


def is_named(name: str, pattern: str) -> bool:
    """Return true if a pattern stands for a name, whatever the case; a star alone is a sign."""
    plain = escape(pattern.casefold()).replace("[*]", "*")
    return fnmatchcase(name.casefold(), plain)


def unpack_junit_reports(zipped: bytes, most_bytes: int) -> dict[str, bytes]:
    """The JUnit reports of an archive by their paths; everything else is left alone."""
    contents: dict[str, bytes] = {}
    with _open_zip(zipped) as archive:
        entries = archive.infolist()
        if len(entries) > _MOST_IN_REPORTS:
            raise _refuse_archive(f"it holds more than {_MOST_IN_REPORTS} files")
        for entry in entries:
            if not entry.filename.endswith(".xml") or not _is_plain(entry):
                continue
            with archive.open(entry) as file:
                text = file.read(most_bytes + 1)
            most_bytes -= len(text)
            if most_bytes < 0:
                raise _refuse_archive(f"its reports unpack to more than {_MOST_XML // 1024**2} MiB")
            if b"<testsuite" in text[:_HEAD]:
                contents[printable(entry.filename)] = text
    return contents


def _is_plain(entry: zipfile.ZipInfo) -> bool:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    return not entry.is_dir() and kind in {0, stat.S_IFREG} and entry.compress_type in _METHODS


@contextmanager
def _open_zip(content: bytes) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise _refuse_archive("it is no zip archive that can be read") from error
    except (ValueError, zipfile.LargeZipFile, zlib.error) as error:
        raise _refuse_archive("it is a damaged zip archive") from error


def extract_file(zipped: bytes, name: str, *, must_be_alone: bool = True) -> bytes:
    """The one file of an archive; where it need not be alone, one file of a few."""
    with _open_zip(zipped) as archive:
        entry = _require_entry(archive, name, must_be_alone=must_be_alone)
        with archive.open(entry) as file:
            unpacked = file.read(_LARGEST_FILE + 1)
    if len(unpacked) > _LARGEST_FILE:
        raise _refuse_archive(f"it unpacks to more than {_LARGEST_FILE // 1024**2} MiB")
    return unpacked


def _require_entry(archive: zipfile.ZipFile, name: str, *, must_be_alone: bool) -> zipfile.ZipInfo:
    entries = archive.infolist()
    if len(entries) > _MOST_ENTRIES:
        raise _refuse_archive(f"it holds more than {_MOST_ENTRIES} files")
    matching = [entry for entry in entries if entry.filename == name]
    if len(matching) != 1 or (must_be_alone and len(entries) != 1):
        raise _refuse_archive(f"it does not hold {name} alone, once")
    entry = matching[0]
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if entry.is_dir() or kind not in {0, stat.S_IFREG}:
        raise _refuse_archive(f"its {name} is no regular file")
    if entry.compress_type not in _METHODS:
        raise _refuse_archive("it is packed in a way that the runner's upload does not use")
    if entry.file_size > _LARGEST_FILE:
        raise _refuse_archive(f"it unpacks to more than {_LARGEST_FILE // 1024**2} MiB")
    return entry


def _read_artifact(entry: object) -> Artifact:
    return Artifact(
        id=read_number(at(entry, "id"), "the artifact's id"),
        name=text(at(entry, "name")),
        size=read_number(at(entry, "size_in_bytes"), "the artifact's size"),
        digest=text(at(entry, "digest")),
        expired=at(entry, "expired") is True,
        created=text(at(entry, "created_at")),
    )


def _download_archive(client: GitHub, path: str) -> bytes:
    """The archive: GitHub sends to a store elsewhere, which must not be given the token."""
    from requests import Session  # noqa: PLC0415 - comes with PyGithub

    connection = client.connection
    token = {"Authorization": f"Bearer {connection.token}"} if connection.token else {}
    with Session() as session:
        session.auth = _skip_auth
        ask = partial(session.get, timeout=connection.timeout, stream=True, allow_redirects=False)
        with ask(connection.api_url + path, headers={**token, "User-Agent": "prjury"}) as answer:
            if answer.status_code not in _REDIRECTS:
                return _read_content(answer)
            where = _check_address(answer.headers.get("Location", ""))
        with ask(where) as answer:
            return _read_content(answer)


def _read_content(answer: Response) -> bytes:
    from github import GithubException  # noqa: PLC0415 - heavy, hence late

    if not answer.ok or answer.status_code in _REDIRECTS:
        words = "the artifact has expired" if answer.status_code == _GONE else "no archive"
        raise GithubException(answer.status_code, {"message": words}, dict(answer.headers))
    return _read_capped(answer)


def _skip_auth(request: PreparedRequest) -> PreparedRequest:
    """Keeps the session from looking for a password of that host in a file."""
    return request


def _check_address(where: str) -> str:
    parts = urlsplit(where)
    plain = parts.scheme == "http" and parts.hostname in LOOPBACK
    if not (parts.scheme == "https" or plain) or not parts.hostname:
        raise ValueError("the archive is said to be at an address that is no https://")
    return where


def _read_capped(answer: Response) -> bytes:
    content = bytearray()
    for chunk in answer.iter_content(_CHUNK):
        content += chunk
        if len(content) > _LARGEST_ZIP:
            raise _refuse_archive(f"it is larger than {_LARGEST_ZIP // 1024**2} MiB")
    return bytes(content)


def _refuse_archive(why: str) -> CannotJudgeError:
    return CannotJudgeError(
        "the build's evidence is refused",
        why=why,
        remedy="Upload the file that `prjury build` has written, alone, as `build-evidence`",
        reason="evidence_invalid",
    )
