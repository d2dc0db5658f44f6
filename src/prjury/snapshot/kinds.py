"""What a file is for, by its name and mode. The head's own attributes are never asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from prjury.snapshot.model import FileKind, FileStatus, PullRequest

#: Lock files, and the command that writes each anew.
LOCK_FILES: Mapping[str, str] = {
    "package-lock.json": "npm install --package-lock-only",
    "npm-shrinkwrap.json": "npm install --package-lock-only",
    "pnpm-lock.yaml": "pnpm install --lockfile-only",
    "yarn.lock": "yarn install",
    "bun.lock": "bun install --lockfile-only",
    "bun.lockb": "bun install --lockfile-only",
    "cargo.lock": "cargo update --workspace",
    "poetry.lock": "poetry lock",
    "uv.lock": "uv lock",
    "pdm.lock": "pdm lock --update-reuse",
    "pipfile.lock": "pipenv lock",
    "composer.lock": "composer update --lock",
    "gemfile.lock": "bundle lock",
    "go.sum": "go mod tidy",
    "gradle.lockfile": "gradle dependencies --write-locks",
    "packages.lock.json": "dotnet restore --force-evaluate",
    "flake.lock": "nix flake lock",
    "mix.lock": "mix deps.get",
    "pubspec.lock": "dart pub get",
    "podfile.lock": "pod install",
}
_CONFIG_NAMES = frozenset(
    "pom.xml build.gradle settings.gradle build.gradle.kts settings.gradle.kts package.json "
    "pyproject.toml setup.cfg tox.ini cargo.toml go.mod go.work makefile dockerfile jenkinsfile "
    ".gitignore .gitattributes .gitmodules .editorconfig .env .npmrc codeowners".split()
)
_CONFIG_SUFFIXES = frozenset(
    ".yml .yaml .toml .ini .cfg .conf .properties .json .xml .gradle .env .lock .tf .tfvars "
    ".csproj .props .targets .cmake".split()
)
_DOCS_SUFFIXES = frozenset(".md .markdown .adoc .asciidoc .rst".split())
#: Text that is documentation only in its place, or under a telling name; elsewhere it is data.
_PROSE_SUFFIXES = frozenset(".txt .org .mdx .tex".split())
_DOCS_NAMES = frozenset(
    "license licence notice authors changelog changes news history readme contributing".split()
)
#: Text files by their suffix that a build or a program reads.
_WORKING_TEXT = re.compile(
    r"(^|[/._-])(requirements|constraints)([._-][^/]*)?\.txt$|(^|/)requirements/[^/]+\.txt$"
    r"|(^|/)CMakeLists\.txt$|(^|/)resources/.*\.txt$"
)
#: Media, archives, fonts, documents and data that no text ever comes as.
_MEDIA_SUFFIXES = frozenset(
    ".png .jpg .jpeg .gif .webp .ico .bmp .psd .tif .tiff .avif .heic .icns .pdf .docx .xlsx .pptx "
    ".odt .zip .gz .tgz .bz2 .xz .7z .jar .war .tar .rar .zst .lz4 .deb .rpm .apk .dmg .msi "
    ".woff .woff2 .ttf .otf .eot .mp3 .mp4 .mov .avi .webm .wav .ogg .flac .swf .onnx .parquet "
    ".npy .npz .h5 .hdf5 .fits .safetensors .gguf .tflite .wasm .sqlite .pyc".split()
)
#: Names that scripts and other text may bear as well: binary only where git finds the content so.
_OFTEN_BINARY_SUFFIXES = frozenset(
    ".class .so .dylib .dll .exe .o .a .pt .bin .db .keystore .jks .p12 .node .pkl .pickle .lib "
    ".pdb .rlib .mo".split()
)
_BINARY_SUFFIXES = _MEDIA_SUFFIXES | _OFTEN_BINARY_SUFFIXES
#: Pictures, fonts, documents, sound, films and tables: binary content that nothing executes.
_INERT_SUFFIXES = frozenset(
    ".png .jpg .jpeg .gif .webp .ico .bmp .psd .tif .tiff .avif .heic .icns .woff .woff2 .ttf .otf "
    ".eot .pdf .docx .xlsx .pptx .odt .mp3 .mp4 .mov .avi .webm .wav .ogg .flac .parquet .npy "
    ".npz .h5 .hdf5 .fits .safetensors .gguf .tflite .onnx .sqlite .db .mo".split()
)
_CHANGELOG = re.compile(r"(changelog|changes|news|history|release[-_ ]?notes)([-_.]|$)")
#: A folder `vendor` inside the project's own code may well be a package of that name.
_VENDORED = re.compile(
    r"^(vendor|third_party)/|(^|/)(node_modules|bower_components|\.yarn/releases)/"
)
_NOT_IN_SRC = r"^(?:(?!src/)[^/]+/)*"
_GENERATED = re.compile(
    r"(\.min\.(js|css)|\.pb\.(go|cc|h|swift|dart)|\.g\.(dart|cs)|\.designer\.(cs|vb)"
    r"|\.generated\.(cs|[jt]sx?|dart|swift|go)|_pb2(_grpc)?\.pyi?|\.snap|\.js\.map|\.css\.map)$"
    r"|(^|/)__generated__/"
    rf"|{_NOT_IN_SRC}(target|build)/(.*/)?generated-sources/",
    re.IGNORECASE,
)
#: Where Markdown is more often read by the program, such as a prompt or a page's content.
_DATA_PLACE = re.compile(
    r"(^|/)(src|lib|app|resources|prompts?|templates?|data|testdata|fixtures?|content)/",
    re.IGNORECASE,
)
_MARKDOWN_SUFFIXES = frozenset({".md", ".markdown"})
_EXECUTABLE_MODE = "100755"
_DOCS_PLACE = re.compile(rf"{_NOT_IN_SRC}docs?/", re.IGNORECASE)
_TEST = re.compile(
    r"(^|/)(tests?|__tests__|spec|specs|testing|src/(test|it|integration[-_]?test|testFixtures))/"
    r"|(^|/)(test_[^/]*|conftest)\.py$|_test\.(py|go|rs|cc|cpp)$|\.bats$|(^|/)t/[^.]*\.t$"
    r"|(^|/)([^/]*[_-])?(unit)?tests?\.(c|cc|cpp|cxx|m|sh|bash|lua|rb|pl|exs)$|_spec\.(rb|lua)$"
    r"|(Tests?|IT|TestCase|Spec)\.(java|kt|kts|groovy|scala|cs)$|\.(test|spec)\.[cm]?[jt]sx?$"
)

REGULAR_MODES = frozenset({"100644", "100755"})
SYMLINK_MODE = "120000"
SUBMODULE_MODE = "160000"


def kind_of(path: str, mode: str | None = None, *, binary: bool = False) -> FileKind:
    """The kind of a file by its path and git's mode; git finds binary content."""
    special = {SYMLINK_MODE: FileKind.SYMLINK, SUBMODULE_MODE: FileKind.SUBMODULE}.get(mode or "")
    if special:
        return special
    kind = _kind_by_name(path)
    if kind is FileKind.DOCS and mode == _EXECUTABLE_MODE:
        return FileKind.SOURCE  # a program called `news`
    return FileKind.BINARY if binary and not holds_text(path) else kind


def holds_text(path: str) -> bool:
    """Return whether a file of this name should hold text; binary content would hide code."""
    name = PurePosixPath(path.lower()).name
    suffix = PurePosixPath(name).suffix
    if not suffix:
        return name in _CONFIG_NAMES or name in _DOCS_NAMES
    return suffix not in _BINARY_SUFFIXES


def is_inert(path: str) -> bool:
    """Return whether binary content of this name is a picture, a font, a document or data."""
    return PurePosixPath(path.lower()).suffix in _INERT_SUFFIXES


def is_changelog(path: str) -> bool:
    """Return whether the file is a changelog."""
    name = PurePosixPath(path).name.lower()
    return _CHANGELOG.match(name) is not None and kind_of(path) is FileKind.DOCS


def has_suffix(path: str) -> bool:
    """Return whether the name shows what is in the file; one without a suffix may be a script."""
    return bool(PurePosixPath(path).suffix)


@lru_cache(maxsize=100_000)  # many judges ask about the same files
def _kind_by_name(path: str) -> FileKind:
    name = PurePosixPath(path).name.lower()
    suffix = PurePosixPath(name).suffix
    if name in LOCK_FILES:
        return FileKind.LOCK
    if _VENDORED.search(path):
        return FileKind.VENDORED
    if _GENERATED.search(path):
        return FileKind.GENERATED
    if suffix in _MEDIA_SUFFIXES:
        return FileKind.BINARY
    return _find_text_kind(path, name, suffix)


def _find_text_kind(path: str, name: str, suffix: str) -> FileKind:
    if _TEST.search(path):
        return FileKind.TEST
    if _WORKING_TEXT.search(path):
        return FileKind.CONFIG
    if _is_docs(path, name, suffix):
        return FileKind.DOCS
    if name in _CONFIG_NAMES or suffix in _CONFIG_SUFFIXES or path.startswith(".github/"):
        return FileKind.CONFIG
    return FileKind.SOURCE


def _is_docs(path: str, name: str, suffix: str) -> bool:
    is_docs = name.removesuffix(suffix) in _DOCS_NAMES
    if suffix in _MARKDOWN_SUFFIXES and not is_docs and not _DOCS_PLACE.match(path):
        return _DATA_PLACE.search(path) is None
    placed = is_docs or _DOCS_PLACE.match(path) is not None
    is_prose = suffix in _PROSE_SUFFIXES and placed
    return suffix in _DOCS_SUFFIXES or name in _DOCS_NAMES or is_prose


def edits_only_docs(pull: PullRequest) -> bool:
    """Return true if only documentation changes; a file that goes away may be missed."""
    return bool(pull.files) and all(
        file.kind is FileKind.DOCS
        and file.status is not FileStatus.DELETED
        and (file.old_path is None or kind_of(file.old_path) is FileKind.DOCS)
        for file in pull.files
    )
