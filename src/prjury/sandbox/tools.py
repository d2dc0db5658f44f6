"""What to install when a program is missing."""

from __future__ import annotations

_ADVICE = {
    "mvn": "install Apache Maven, or commit the Maven wrapper (`mvn wrapper:wrapper`)",
    "gradle": "install Gradle, or commit the Gradle wrapper (`gradle wrapper`)",
    "java": "install a JDK and set JAVA_HOME",
    "npm": "install Node.js, which brings npm",
    "node": "install Node.js",
    "pnpm": "install pnpm (`corepack enable pnpm`)",
    "yarn": "install Yarn (`corepack enable yarn`)",
    "bun": "install Bun",
    "python3": "install Python 3",
    "uv": "install uv (`pip install uv`)",
    "tox": "install tox (`pip install tox`)",
    "pytest": "install pytest (`pip install pytest`)",
    "cargo": "install Rust (rustup)",
    "go": "install Go",
    "make": "install make",
}


def advice(program: str) -> str:
    """What to do about a missing program, as the end of a sentence."""
    other = "or name another `command` for the build judge in .github/prjury.yml"
    return f"{_ADVICE.get(program, f'install `{program}`')}, {other}"
