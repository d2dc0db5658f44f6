"""Build files of Maven, made of a few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prjury.judges.builds.source_tree import parent_of

GROUP = "shop"


def coordinates(artifact: str, more: str = "", *, group: str = GROUP) -> str:
    return f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId>{more}"


def dependencies(*artifacts: str) -> str:
    version = "<version>${project.version}</version>"
    named = "".join(f"<dependency>{coordinates(name, version)}</dependency>" for name in artifacts)
    return f"<dependencies>{named}</dependencies>" if named else ""


def modules(*names: str) -> str:
    return f"<modules>{''.join(f'<module>{name}</module>' for name in names)}</modules>"


def profile(name: str, content: str, activation: str = "") -> str:
    switch = f"<activation>{activation}</activation>" if activation else ""
    return f"<profiles><profile><id>{name}</id>{switch}{content}</profile></profiles>"


def project(content: str) -> str:
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0">'
        f"<modelVersion>4.0.0</modelVersion>{content}</project>\n"
    )


def parent_pom(artifact: str, *names: str, more: str = "") -> str:
    """A build file without a parent, that has modules."""
    own = coordinates(artifact, "<version>1</version><packaging>pom</packaging>")
    return project(f"{own}{modules(*names) if names else ''}{more}")


def pom(
    artifact: str,
    needs: Sequence[str] = (),
    *,
    parent: str = "root",
    path: str | None = None,
    more: str = "",
) -> str:
    """A build file with a parent.

    Args:
        path: where the parent is; None for the directory above.
    """
    place = "" if path is None else f"<relativePath>{path}</relativePath>"
    above = f"<parent>{coordinates(parent, f'<version>1</version>{place}')}</parent>"
    return project(f"{above}<artifactId>{artifact}</artifactId>{dependencies(*needs)}{more}")


def without(files: Mapping[str, str], directory: str) -> dict[str, str]:
    return {
        path: text
        for path, text in files.items()
        if not f"{parent_of(path)}/".startswith(f"{directory}/")
    }


#: Six modules: ``leaf`` needs ``mid`` and ``tools``, ``mid`` needs ``core``, ``y`` needs ``x``.
SHOP: Mapping[str, str] = {
    "pom.xml": parent_pom("root", "core", "mid", "leaf", "tools", "group"),
    "core/pom.xml": pom("core"),
    "mid/pom.xml": pom("mid", ["core"]),
    "leaf/pom.xml": pom("leaf", ["mid", "tools"]),
    "tools/pom.xml": pom("tools"),
    "group/pom.xml": pom("group", more=f"<packaging>pom</packaging>{modules('x', 'y')}"),
    "group/x/pom.xml": pom("x", parent="group"),
    "group/y/pom.xml": pom("y", ["x"], parent="group"),
}


def pom_with_tests(*plugins: str) -> str:
    """The build file of a project that tests with JUnit 5, and builds with further plugins."""
    own = coordinates("shop", "<version>1</version>")
    version = "<version>5.10.2</version><scope>test</scope>"
    junit = coordinates("junit-jupiter", version, group="org.junit.jupiter")
    surefire = "<artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version>"
    return project(
        f"{own}<properties><maven.compiler.source>11</maven.compiler.source>"
        "<maven.compiler.target>11</maven.compiler.target><project.build.sourceEncoding>UTF-8"
        "</project.build.sourceEncoding></properties>"
        f"<dependencies><dependency>{junit}</dependency></dependencies><build><plugins>"
        f"{''.join(f'<plugin>{plugin}</plugin>' for plugin in (surefire, *plugins))}"
        "</plugins></build>"
    )
