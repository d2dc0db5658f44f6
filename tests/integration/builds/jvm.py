"""Fixture projects for Maven and Gradle: the same Java in three modules."""

from __future__ import annotations

from fakes.history import script
from integration.builds.sample import Breakage, Sample, Tree, text

CENTRAL = "https://repo.maven.apache.org/maven2/junit/junit/maven-metadata.xml"
#: What the wrapper would download, were it not one that calls the installed Maven.
_MAVEN = (
    "https://repo.maven.apache.org/maven2/org/apache/maven/apache-maven/3.8.7/"
    "apache-maven-3.8.7-bin.zip"
)

_PRICE = text("""
    package shop.core;

    public final class Price {
        public static int twice(int cents) {
            return 2 * cents;
        }
    }
""")
_PRICE_TEST = text("""
    package shop.core;

    import static org.junit.Assert.assertEquals;

    import org.junit.Test;

    public class PriceTest {
        @Test
        public void doubles() {
            assertEquals(4, Price.twice(2));
        }
    }
""")
_TILL = text("""
    package shop.app;

    import shop.core.Price;

    public final class Till {
        public static String name() {
            return "till" + Price.twice(0);
        }
    }
""")
_TILL_TEST = text("""
    package shop.app;

    import static org.junit.Assert.assertEquals;

    import org.junit.Test;

    public class TillTest {
        @Test
        public void isNamed() {
            assertEquals("till0", Till.name());
        }
    }
""")
_CLOCK_TEST = text("""
    package shop.other;

    import static org.junit.Assert.assertTrue;

    import org.junit.Test;

    public class ClockTest {
        @Test
        public void ticks() {
            assertTrue(new Clock().ticks());
        }
    }
""")
_LUCK_TEST = text("""
    package shop.core;

    import static org.junit.Assert.assertTrue;

    import java.nio.file.Files;
    import java.nio.file.Path;
    import java.nio.file.Paths;
    import org.junit.Test;

    public class LuckTest {
        @Test
        public void worksTheSecondTime() throws Exception {
            Path mark = Paths.get("luck");
            boolean known = Files.exists(mark);
            Files.write(mark, new byte[0]);
            assertTrue("first time", known);
        }
    }
""")
_HALT_TEST = text("""
    package shop.core;

    import org.junit.Test;

    public class HaltTest {
        @Test
        public void ends() {
            Runtime.getRuntime().halt(3);
        }
    }
""")


def _clock(*, ticks: bool) -> str:
    return text(f"""
        package shop.other;

        final class Clock {{
            boolean ticks() {{
                return {str(ticks).lower()};
            }}
        }}
    """)


_MAIN, _TEST = "src/main/java/shop", "src/test/java/shop"
_SOURCES: Tree = {
    f"core/{_MAIN}/core/Price.java": _PRICE,
    f"core/{_TEST}/core/PriceTest.java": _PRICE_TEST,
    f"app/{_MAIN}/app/Till.java": _TILL,
    f"app/{_TEST}/app/TillTest.java": _TILL_TEST,
    f"other/{_MAIN}/other/Clock.java": _clock(ticks=True),
    f"other/{_TEST}/other/ClockTest.java": _CLOCK_TEST,
}
_HARMLESS: Tree = {f"core/{_MAIN}/core/Note.java": "package shop.core;\n\nclass Note {}\n"}
_BROKEN = Breakage(
    {f"core/{_MAIN}/core/Price.java": _PRICE.replace("cents;", "nowhere;")},
    f"core/{_MAIN}/core/Price.java:5",
    "cannot find symbol (symbol: variable nowhere)",
)
_FAILING = Breakage(
    {f"core/{_MAIN}/core/Price.java": _PRICE.replace("2 *", "3 *")},
    f"core/{_TEST}/core/PriceTest.java:10",
    "expected:<4> but was:<6>",
)
_WORSE = Breakage(
    {f"app/{_MAIN}/app/Till.java": _TILL.replace('"till"', '"drawer"')},
    f"app/{_TEST}/app/TillTest.java:10",
    "expected:<[till]0> but was:<[drawer]0>",
)
_ASIDE: Tree = {f"other/{_MAIN}/other/Clock.java": _clock(ticks=False)}
_LUCK: Tree = {f"core/{_TEST}/core/LuckTest.java": _LUCK_TEST}
_DEADLY: Tree = {f"core/{_TEST}/core/HaltTest.java": _HALT_TEST}

_PARENT = text("""
    <project xmlns="http://maven.apache.org/POM/4.0.0">
      <modelVersion>4.0.0</modelVersion>
      <groupId>shop</groupId>
      <artifactId>shop</artifactId>
      <version>1</version>
      <packaging>pom</packaging>
      <modules>
        <module>core</module>
        <module>app</module>
        <module>other</module>
      </modules>
      <properties>
        <maven.compiler.source>11</maven.compiler.source>
        <maven.compiler.target>11</maven.compiler.target>
        <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
      </properties>
      <dependencies>
        <dependency>
          <groupId>junit</groupId>
          <artifactId>junit</artifactId>
          <version>4.13.2</version>
          <scope>test</scope>
        </dependency>
      </dependencies>
      <build>
        <plugins>
          <plugin>
            <artifactId>maven-compiler-plugin</artifactId>
            <version>3.13.0</version>
          </plugin>
          <plugin>
            <artifactId>maven-surefire-plugin</artifactId>
            <version>3.2.5</version>
          </plugin>
        </plugins>
      </build>
    </project>
""")


def _module(name: str, needed: str = "") -> str:
    dependency = f"""
      <dependencies>
        <dependency>
          <groupId>shop</groupId>
          <artifactId>{needed}</artifactId>
          <version>${{project.version}}</version>
        </dependency>
      </dependencies>
    """
    return text(f"""
    <project xmlns="http://maven.apache.org/POM/4.0.0">
      <modelVersion>4.0.0</modelVersion>
      <parent>
        <groupId>shop</groupId>
        <artifactId>shop</artifactId>
        <version>1</version>
      </parent>
      <artifactId>{name}</artifactId>
      {dependency.strip() if needed else ""}
    </project>
    """)


MAVEN = Sample(
    name="maven",
    system="maven",
    needs=("mvn", "javac"),
    registry=CENTRAL,
    tree={
        "pom.xml": _PARENT,
        "core/pom.xml": _module("core"),
        "app/pom.xml": _module("app", "core"),
        "other/pom.xml": _module("other"),
        "mvnw": script('#!/bin/sh\nexec mvn "$@"\n'),
        ".mvn/wrapper/maven-wrapper.properties": f"distributionUrl={_MAVEN}\n",
        **_SOURCES,
    },
    harmless=_HARMLESS,
    broken=_BROKEN,
    failing=_FAILING,
    worse=_WORSE,
    aside=_ASIDE,
    luck=_LUCK,
    deadly=_DEADLY,
    modules=("core",),
)

GRADLE = Sample(
    name="gradle",
    system="gradle",
    needs=("gradle", "javac"),
    registry=CENTRAL,
    tree={
        "settings.gradle": "include 'core', 'app', 'other'\n",
        "build.gradle": text("""
            subprojects {
                apply plugin: 'java'
                repositories {
                    maven { url = 'https://repo.maven.apache.org/maven2' }
                }
                dependencies {
                    testImplementation 'junit:junit:4.13.2'
                }
            }
        """),
        "core/build.gradle": "",
        "app/build.gradle": "dependencies { implementation project(':core') }\n",
        "other/build.gradle": "",
        **_SOURCES,
    },
    harmless=_HARMLESS,
    broken=_BROKEN,
    failing=_FAILING,
    worse=_WORSE,
    luck=_LUCK,
    deadly=_DEADLY,
)
