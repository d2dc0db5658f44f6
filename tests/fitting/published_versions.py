"""Asks Maven which versions published parents and BOMs manage; writes what the program ships.

    python tests/fitting/find_published.py

Each row is one effective POM. A version stands for its minor line. Maven has to reach a registry.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

from defusedxml import ElementTree

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "src/prjury/manifests/published.json"
NAMESPACE = "{http://maven.apache.org/POM/4.0.0}"

PARENT = (
    "<parent><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version><relativePath/>"
    "</parent><artifactId>x</artifactId>"
)
BOM = (
    "<groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencyManagement>"
    "<dependencies><dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}"
    "</version><type>pom</type><scope>import</scope></dependency></dependencies>"
    "</dependencyManagement>"
)
ROWS = {
    ("org.springframework.cloud", "spring-cloud-build"): (
        PARENT,
        ("3.1.9", "4.0.6", "4.1.5", "4.2.3", "4.3.0", "5.0.0"),
    ),
    ("io.quarkus", "quarkus-bom"): (
        BOM,
        ("2.16.12.Final", "3.8.6", "3.15.3", "3.20.0", "3.28.0"),
    ),
    ("io.micronaut.platform", "micronaut-platform"): (BOM, ("4.0.0", "4.5.0", "4.8.0", "4.9.0")),
    ("io.micronaut.platform", "micronaut-parent"): (PARENT, ("4.0.0", "4.5.0", "4.8.0", "4.9.0")),
}
#: The artifacts that rules ask about.
MANAGED = (
    "org.springframework.boot:spring-boot",
    "org.springframework:spring-core",
    "org.springframework.security:spring-security-core",
    "com.fasterxml.jackson.core:jackson-databind",
    "tools.jackson.core:jackson-databind",
    "org.junit.jupiter:junit-jupiter-api",
    "org.hibernate.orm:hibernate-core",
    "jakarta.persistence:jakarta.persistence-api",
    "jakarta.servlet:jakarta.servlet-api",
    "org.testcontainers:testcontainers",
)


def main() -> None:
    table: dict[str, dict[str, dict[str, str]]] = {}
    for (group, artifact), (form, versions) in ROWS.items():
        lines = table.setdefault(f"{group}:{artifact}", {})
        for version in versions:
            lines[".".join(version.split(".")[:2])] = managed(form.format(group, artifact, version))
    # Micronaut manages Spring for those who bring it along, which says nothing of a project.
    for name in (name for name in table if name.startswith("io.micronaut")):
        for managed_ones in table[name].values():
            for key in [key for key in managed_ones if key.startswith("org.springframework")]:
                del managed_ones[key]
    # The platform's BOM has the versions of the core's.
    table["io.quarkus.platform:quarkus-bom"] = table["io.quarkus:quarkus-bom"]
    TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")


def managed(body: str) -> dict[str, str]:
    """The versions in the effective POM of a project with this body."""
    with tempfile.TemporaryDirectory() as directory:
        pom = Path(directory, "pom.xml")
        pom.write_text(
            f'<project xmlns="{NAMESPACE[1:-1]}"><modelVersion>4.0.0</modelVersion>{body}</project>'
        )
        effective = ["mvn", "-q", "-B", "help:effective-pom", "-Doutput=effective.xml"]
        subprocess.run(effective, cwd=directory, check=True)
        root = ElementTree.fromstring(Path(directory, "effective.xml").read_text())
    found: dict[str, str] = {}
    for dependency in root.iter(f"{NAMESPACE}dependency"):
        group, artifact, version = (
            dependency.findtext(f"{NAMESPACE}{name}") or ""
            for name in ("groupId", "artifactId", "version")
        )
        if f"{group}:{artifact}" in MANAGED and version:
            found[f"{group}:{artifact}"] = version
    return found


if __name__ == "__main__":
    main()
