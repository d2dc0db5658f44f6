"""Reads which languages the images of a ``Dockerfile`` bring."""

from __future__ import annotations

import re

import re2

from prjury.manifests.manifest import Coordinate, Manifest, Role, runtime
from prjury.manifests.syntax import text_of

#: An argument's default, or the image of a stage.
_LINE = re2.compile(
    r"""(?im)^[ \t]*(?:ARG[ \t]+(\w+)=["']?([\w.+-]+)|FROM[ \t]+(?:--platform=\S+[ \t]+)?(\S+))"""
)
_ARGUMENT = re2.compile(r"\$(?:\{(\w+)(?::-([^}]*))?\}|(\w+))")
#: The official images; what others call ``python:1`` may be a version of theirs.
_IMAGE = re2.compile(
    r"(?:(?:docker\.io/|public\.ecr\.aws/docker/)?(?:library/)?)"
    r"(python|node|golang|rust|eclipse-temurin|amazoncorretto|openjdk):v?(\d+(?:\.\d+)*)"
)
_JAVA = ("eclipse-temurin", "amazoncorretto", "openjdk")


def read_dockerfile_runtimes(content: bytes) -> Manifest:
    """Read the runtimes that a ``Dockerfile`` names, each with the line of its stage."""
    text, values, stages = text_of(content), dict[str, str](), list[Coordinate]()

    def find_value(match: re.Match[str]) -> str:
        return values.get(match[1] or match[3]) or match[2] or ""

    for line in _LINE.finditer(text):
        if line[1]:
            values[line[1]] = line[2]
        elif image := _IMAGE.match(_ARGUMENT.sub(find_value, line[3])):
            name = {"golang": "go"}.get(image[1], "java" if image[1] in _JAVA else image[1])
            version = f"=={image[2]}.*" if name == "python" else image[2]
            number = text.count("\n", 0, line.start(3)) + 1
            stages.append(runtime(name, version, (number,), role=Role.LOCKED))
    return Manifest(coordinates=tuple(stages))
