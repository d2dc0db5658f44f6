"""Reading a pom.xml: what it declares, and what it must not do to us."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.manifests.manifest import ManifestError, Role
from prjury.manifests.maven import read_pom

POM = b"""<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <parent>
    <groupId>g</groupId>
    <artifactId>p</artifactId>
    <version>1</version>
  </parent>
  <artifactId>a</artifactId>
  <properties><x.version> 2 </x.version></properties>
  <dependencyManagement><dependencies>
    <dependency><groupId>b</groupId><artifactId>bom</artifactId><version>${x.version}</version>
      <type>pom</type><scope>import</scope></dependency>
    <dependency><groupId>m</groupId><artifactId>m</artifactId></dependency>
  </dependencies></dependencyManagement>
  <dependencies>
    <dependency>
      <groupId>d</groupId>
      <artifactId>d</artifactId>
      <exclusions><exclusion><groupId>no</groupId><artifactId>no</artifactId></exclusion></exclusions>
    </dependency>
  </dependencies>
  <build><plugins><plugin><artifactId>plug</artifactId>
    <dependencies><dependency><groupId>no</groupId><artifactId>no</artifactId></dependency></dependencies>
    <executions><execution><configuration><deep><key>v</key></deep></configuration></execution></executions>
  </plugin></plugins></build>
  <profiles><profile><dependencies>
    <dependency><groupId>pr</groupId><artifactId>pr</artifactId></dependency>
  </dependencies></profile></profiles>
</project>
"""


def test_what_it_declares() -> None:
    manifest = read_pom(POM)
    told = {(c.role, str(c), c.version) for c in manifest.coordinates}
    assert told == {
        (Role.PARENT, "g:p", "1"),
        (Role.BOM, "b:bom", "${x.version}"),
        (Role.MANAGED, "m:m", None),
        (Role.DEPENDENCY, "d:d", None),
        (Role.DEPENDENCY, "pr:pr", None),
        (Role.PLUGIN, "org.apache.maven.plugins:plug", None),
    }
    assert (manifest.name, manifest.group, manifest.version) == ("a", "g", "1")
    assert manifest.properties == {"x.version": "2"}
    assert manifest.parent_path == "../pom.xml"
    [setting] = manifest.settings
    assert (setting.key, setting.value) == ("deep.key", "v")


def test_an_empty_relative_path_is_nowhere() -> None:
    text = b"<project><parent><groupId>g</groupId><relativePath/></parent></project>"
    assert read_pom(text).parent_path is None


DOCTYPE = "it has a DTD or entities, which are refused"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not XML: .*"),
        (b"<project>", "not XML: .*"),
        (b"<project>&nbsp;</project>", "not XML: .*"),
        (b"<html/>", "it has no <project>"),
        (b"\xff\xfe", "not XML: .*"),
        (b"<project>\x00</project>", "not XML: .*"),
        (b'<?xml version="1.0" encoding="no-such"?><project/>', "not XML: .*"),
        (b'<!DOCTYPE p [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><project>&b;</project>', DOCTYPE),
        (b'<!DOCTYPE p SYSTEM "file:///etc/passwd"><project/>', DOCTYPE),
        (b"<project>" + b"<a>" * 101 + b"</a>" * 101, "nested deeper than 60 levels"),
        (b"<project>" + b"<a>" * 9**5 + b"</a>" * 9**5, "nested deeper than 60 levels"),
    ],
)
def test_hostile_and_broken_files_are_refused(content: bytes, why: str) -> None:
    with pytest.raises(ManifestError, match=f"^{why}$"):
        read_pom(content)


def test_the_deepest_that_is_read_and_a_project_without_a_namespace() -> None:
    inner = b"<a>" * 57 + b"</a>" * 57
    name = b"<artifactId>a</artifactId><modules><module>x</module></modules>"
    pom = read_pom(b"<project>" + name + b"<properties>" + inner + b"</properties></project>")
    assert (pom.name, pom.members) == ("a", ("x",))


def test_a_megabyte_of_entities_takes_no_time() -> None:
    content = b"<project><name>" + b"&amp;" * 200_000 + b"</name></project>"
    started = time.process_time()
    assert read_pom(content).name == ""
    assert time.process_time() - started < 5


@given(st.binary(max_size=200))
def test_any_bytes_are_a_manifest_or_an_error(content: bytes) -> None:
    read: object
    try:
        read = read_pom(b"<project>" + content + b"</project>").parent
    except ManifestError as error:
        read = str(error)
    assert read != ""
