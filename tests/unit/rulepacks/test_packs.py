"""The packs that ship: every rule finds what it must, and nothing that only looks like it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from prjury.judges.patterns.pack_tests import find_untested_fixes_and_outcomes, run_tests
from prjury.resources import rule_packs
from prjury.rulepacks.load import list_heads, load, load_shipped
from prjury.rulepacks.rule import Pack, PatternRule
from unit.judges.patterns.bench import adding, found

PACKS = sorted(list_heads())

#: Packages of OpenJDK 17 under javax; below each of them nothing moved.
JDK = """
accessibility annotation.processing crypto crypto.interfaces crypto.spec imageio imageio.event
imageio.metadata imageio.plugins.bmp imageio.plugins.jpeg imageio.plugins.tiff imageio.spi
imageio.stream lang.model lang.model.element lang.model.type lang.model.util management
management.loading management.modelmbean management.monitor management.openmbean management.relation
management.remote management.remote.rmi management.timer naming naming.directory naming.event
naming.ldap naming.ldap.spi naming.spi net net.ssl print print.attribute print.attribute.standard
print.event rmi.ssl script security.auth security.auth.callback security.auth.kerberos
security.auth.login security.auth.spi security.auth.x500 security.cert security.sasl smartcardio
sound.midi sound.midi.spi sound.sampled sound.sampled.spi sql sql.rowset sql.rowset.serial
sql.rowset.spi swing swing.border swing.colorchooser swing.event swing.filechooser swing.plaf
swing.plaf.basic swing.plaf.metal swing.plaf.multi swing.plaf.nimbus swing.plaf.synth swing.table
swing.text swing.text.html swing.text.html.parser swing.text.rtf swing.tree swing.undo tools
transaction.xa xml xml.catalog xml.crypto xml.crypto.dom xml.crypto.dsig xml.crypto.dsig.dom
xml.crypto.dsig.keyinfo xml.crypto.dsig.spec xml.datatype xml.namespace xml.parsers xml.stream
xml.stream.events xml.stream.util xml.transform xml.transform.dom xml.transform.sax
xml.transform.stax xml.transform.stream xml.validation xml.xpath
""".split()

#: JSR-305 and specifications that stayed where they were.
NEVER_MOVED = """
annotation.Nullable annotation.Nonnull annotation.CheckForNull annotation.concurrent.GuardedBy
annotation.ParametersAreNonnullByDefault annotation.meta.TypeQualifier cache.Cache money.Monetary
measure.Unit jdo.Query jcr.Node portlet.Portlet media.Player vecmath.Vector3d usb.UsbDevice
""".split()

MOVED = """
activation annotation.security annotation.sql batch decorator ejb el enterprise faces inject
interceptor jms json jws mail persistence resource security.auth.message security.enterprise
security.jacc servlet servlet.http servlet.jsp transaction validation websocket ws.rs xml.bind
xml.soap xml.ws
""".split()


@pytest.fixture(scope="module", params=PACKS)
def pack(request: pytest.FixtureRequest) -> Pack:
    """The pack with its tests; loading it checks that every rule compiles and has its cases."""
    return load(rule_packs() / f"{request.param}.yml").pack


@pytest.mark.slow
def test_every_case_comes_out_as_the_pack_says_and_none_is_missing(pack: Pack) -> None:
    tested = run_tests(pack)
    assert list(map(str, (*tested.failures, *find_untested_fixes_and_outcomes(tested)))) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["jackson-3", "numpy-2", "go"])
def test_a_case_that_is_wrong_is_told(name: str) -> None:
    """The runner itself works: what must be found is not found to be clean, and so on."""
    pack = load(rule_packs() / f"{name}.yml").pack
    swapped = replace(pack, rules=[_swapped(rule) for rule in pack.rules])
    failures = run_tests(swapped).failures
    wrong = [failure.path for failure in failures if failure.language != "versions"]
    assert (
        len(wrong)
        == len(set(wrong))
        == sum(
            len(cases.valid) + len(cases.invalid)
            for rule in pack.rules
            for cases in rule.tests.code.values()
        )
    )


def _swapped(rule: PatternRule) -> PatternRule:
    """The rule with its failing cases for passing ones, and the other way round."""
    code = {
        language: replace(
            cases, valid=[example.code for example in cases.examples], invalid=list(cases.valid)
        )
        for language, cases in rule.tests.code.items()
    }
    return replace(rule, tests=replace(rule.tests, code=code))


@pytest.mark.slow
def test_a_shipped_pack_is_the_same_with_and_without_its_tests(pack: Pack) -> None:
    quick = load_shipped(pack.id)
    assert [rule.id for rule in quick.rules] == [rule.id for rule in pack.rules]


def javax(names: list[str], kotlin: bool) -> str:
    """Imports, wildcards and qualified uses of each name."""
    end = "" if kotlin else ";"
    imports = [f"import javax.{name}.X{end}" for name in names]
    wildcards = [f"import javax.{name}.*{end}" for name in names]
    if kotlin:
        uses = [f"  val a{i}: javax.{name}.X? = null" for i, name in enumerate(names)]
    else:
        uses = [f"  javax.{name}.X a{i};" for i, name in enumerate(names)]
    return "\n".join([*imports, *wildcards, "class A {", *uses, "}\n"])


@pytest.mark.parametrize("kotlin", [False, True])
def test_the_jdks_packages_never_moved(kotlin: bool) -> None:
    path = "A.kt" if kotlin else "A.java"
    assert found(adding(javax(JDK, kotlin), path=path)) == []


@pytest.mark.parametrize("kotlin", [False, True])
def test_what_moved_is_found_in_every_way_of_writing_it(kotlin: bool) -> None:
    judgment = adding(javax(MOVED, kotlin), path="A.kt" if kotlin else "A.java")
    lines = [line for name, _, line in found(judgment) if name.startswith("jakarta/")]
    count = len(MOVED)
    expected = [*range(1, 2 * count + 1), *range(2 * count + 2, 3 * count + 2)]
    assert sorted(line for line in lines if line) == expected


@pytest.mark.parametrize("name", NEVER_MOVED)
def test_what_never_moved_is_left_alone(name: str) -> None:
    code = f"import javax.{name};\nimport static javax.{name}.X;\nclass A {{ javax.{name} a; }}\n"
    assert found(adding(code)) == []


def test_sql_beside_persistence() -> None:
    code = "import javax.sql.DataSource;\nimport javax.persistence.Entity;\n"
    assert found(adding(code)) == [("jakarta/persistence", "error", 2)]


def test_rules_of_code_say_which_words_a_line_needs() -> None:
    """A rule without clues would have every file of its languages read and parsed."""
    rules = [rule for name in list_heads() for rule in load_shipped(name).rules]
    without = {rule.id for rule in rules if not rule.clues and "properties" not in rule.languages}
    assert without == {"loopvar", "static-mut-refs"}
