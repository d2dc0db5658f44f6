from __future__ import annotations
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping
from fakes.history import History, script
from integration.backport.bench import Bench, Story, lines
from integration.backport.test_there import There, Then, seq, pick, revert
THREE = {"a.py": lines({3: "three"})}
L = {"labels": ("backport 1.x",)}
Z = {"z.py": "z = 1\n"}
def pom(spring, java="17", more=""):
    return f"""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>{spring}</version></parent>
<groupId>x</groupId><artifactId>shop</artifactId><version>1</version>
<properties><java.version>{java}</java.version></properties>
<dependencies><dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-web</artifactId></dependency>{more}</dependencies></project>
"""
def java(imp, body="return 1;"):
    return "package shop;\n\nimport java.util.List;\n" + imp + "\npublic class Cart {\n" + "".join(f"    // {n}\n" for n in range(20)) + f"    int count() {{\n        {body}\n    }}\n}}\n"
J = "src/main/java/shop/Cart.java"
def crlf(c=None): return lines(c, end="\r\n")
CORE = "def total(items, rate):\n    return sum(items) * rate\n\n\ndef count(items):\n    return len(items)\n"
class Bad:
    def tell(self, h):
        pass
REST = {
 "clean": There(Story(change=[THREE], branch=[{"a.py": lines({30:"x"})}]), L),
 "clean, not asked": Story(change=[THREE], branch=[{"a.py": lines({30:"x"})}]),
 "default yes": There(Story(change=[THREE], branch=[{"a.py": lines({30:"x"})}]), {"policy": "default: yes"}),
 "locked by name": There(Story(change=[THREE]), {"policy": "locked: ['1.x']"}),
 "locked by glob": There(Story(change=[THREE]), {"policy": "locked: ['1.*']"}),
 "goes there": There(Story(change=[THREE]), {"base": "1.x"}),
 "at the tip of main": There(Then(Story(change=[THREE], main=[Z]), lambda h: h.branch("1.x", "main")), L),
 "renamed on the branch": There(Story(change=[THREE], branch=[{"a.py": None, "core/a.py": lines({30: "x"})}]), L),
 "renamed on the branch, conflict": There(Story(change=[THREE], branch=[{"a.py": None, "core/a.py": lines({3: "x"})}]), L),
 "renamed on the branch, needs one": There(Story(main=[({"a.py": lines({3: "drei"})}, "P1")], change=[THREE], branch=[{"a.py": None, "core/a.py": lines({30: "x"})}]), L),
 "some missing": There(Story(change=[{**THREE, "b.py": lines({5:"five"})}], branch=[{"a.py": None}]), L),
 "all missing": There(Story(change=[THREE], branch=[{"a.py": None}]), L),
 "all missing, and one added": There(Story(change=[{**THREE, "new.py": "n = 1\n"}], branch=[{"a.py": None}]), L),
 "file came later to main": There(Story(main=[{"late.py": lines()}], change=[{"late.py": lines({3:"x"})}]), L),
 "patch bump": There(Story(start={"requirements.txt": "flask==2.1.0\nsix==1.0\n"}, change=[{"requirements.txt": "flask==2.1.1\nsix==1.0\n"}]), {}),
 "patch bump from another": There(Story(start={"requirements.txt": "flask==2.0.0\nsix==1.0\n"}, main=[{"requirements.txt": "flask==2.1.0\nsix==1.0\n"}], change=[{"requirements.txt": "flask==2.1.1\nsix==1.0\n"}]), {}),
 "major bump": There(Story(start={"requirements.txt": "flask==2.1.0\nsix==1.0\n"}, change=[{"requirements.txt": "flask==3.0.0\nsix==1.0\n"}]), {}),
 "major bump, asked": There(Story(start={"requirements.txt": "flask==2.1.0\nsix==1.0\n"}, change=[{"requirements.txt": "flask==3.0.0\nsix==1.0\n"}]), L),
 "already newer": There(Story(start={"requirements.txt": "flask==2.1.0\nsix==1.0\n"}, branch=[{"requirements.txt": "flask==2.1.4\nsix==1.0\n"}], change=[{"requirements.txt": "flask==2.1.1\nsix==1.0\n"}]), {}),
 "migration": There(Story(start={"shop/migrations/0001_first.py": "x = 1\n", "a.py": lines()}, change=[{**THREE, "shop/migrations/0002_more.py": "y = 1\n"}]), {}),
 "migration, asked": There(Story(start={"shop/migrations/0001_first.py": "x = 1\n", "a.py": lines()}, change=[{**THREE, "shop/migrations/0002_more.py": "y = 1\n"}]), L),
 "api removed": There(Story(start={"core.py": CORE}, change=[{"core.py": CORE.partition("\n\n\n")[0] + "\n"}]), {}),
 "api removed, asked": There(Story(start={"core.py": CORE}, change=[{"core.py": CORE.partition("\n\n\n")[0] + "\n"}]), L),
 "api added": There(Story(start={"core.py": CORE}, change=[{"core.py": CORE + "\n\ndef more(items):\n    return items\n"}]), L),
 "docs": There(Story(start={"docs/a.md": "a\n\nb\n", "README.md": "r\n"}, change=[({"docs/a.md": "a\n\nbb\n"}, "Mend a typo in the docs")]), {}),
 "crlf clean": There(Story(start={"a.py": crlf()}, branch=[{"a.py": crlf({30:"x"})}], change=[{"a.py": crlf({3:"three"})}]), L),
 "crlf conflict": There(Story(start={"a.py": crlf()}, branch=[{"a.py": crlf({3:"x"})}], change=[{"a.py": crlf({3:"three"})}]), L),
 "crlf on main only": There(Story(start={"a.py": lines()}, main=[({"a.py": crlf()}, "Line ends")], change=[{"a.py": crlf({3:"three"})}]), L),
 "odd names": There(Story(start={"a b.py": lines(), "new\nline.txt": lines(), b"\xff\xfe.txt": lines(), "-dash": lines(), "it's $(x)": lines()}, branch=[Z], change=[{"a b.py": lines({3:"x"}), "new\nline.txt": lines({3:"x"}), b"\xff\xfe.txt": lines({3:"x"}), "-dash": lines({3:"x"}), "it's $(x)": lines({3:"x"})}]), L),
 "odd names, conflict": There(Story(start={"a b.py": lines(), "new\nline.txt": lines(), b"\xff\xfe.txt": lines(), "-dash": lines(), "it's $(x)": lines()}, branch=[{"a b.py": lines({3:"y"}), "new\nline.txt": lines({3:"y"}), b"\xff\xfe.txt": lines({3:"y"}), "-dash": lines({3:"y"}), "it's $(x)": lines({3:"y"})}], change=[{"a b.py": lines({3:"x"}), "new\nline.txt": lines({3:"x"}), b"\xff\xfe.txt": lines({3:"x"}), "-dash": lines({3:"x"}), "it's $(x)": lines({3:"x"})}]), L),
 "odd names, needs one": There(Story(start={"a b.py": lines(), "new\nline.txt": lines(), b"\xff\xfe.txt": lines(), "-dash": lines()}, main=[{"a b.py": lines({3:"y"}), "new\nline.txt": lines({3:"y"}), b"\xff\xfe.txt": lines({3:"y"}), "-dash": lines({3:"y"})}], change=[{"a b.py": lines({3:"x"}), "new\nline.txt": lines({3:"x"}), b"\xff\xfe.txt": lines({3:"x"}), "-dash": lines({3:"x"})}]), L),
 "odd title": There(Story(change=[(THREE, "it's \"$(touch CANARY)\" `touch CANARY` \\ \x1b[31m!"), ({"a.py": lines({3:"x"})}, "b")]), L | {"title": "it's \"$(touch CANARY)\" `touch CANARY` \\ \x1b[31m! -n\n\n x"}),
 "dash title": There(Story(change=[THREE, ({"a.py": lines({3:"x"})}, "b")]), L | {"title": "--allow-empty"}),
 "hash title": There(Story(change=[THREE, ({"a.py": lines({3:"x"})}, "b")]), L | {"title": "#7 is fixed"}),
 "huge": There(Story(start={"big.txt": lines(count=120_000)}, branch=[{"big.txt": lines({60_000:"x"}, 120_000)}], change=[{"big.txt": lines({3: "x"}, 120_000)}]), L),
 "huge conflict": There(Story(start={"big.txt": lines(count=120_000)}, branch=[{"big.txt": lines({3:"y"}, 120_000)}], change=[{"big.txt": lines({3: "x"}, 120_000)}]), L),
 "empty commit": There(Story(change=[{}]), L),
 "empty commit, rebase": There(Story(change=[{}]), L | {"policy": "merge: rebase"}),
 "empty among others, rebase": There(Story(change=[{}, THREE, {}]), L | {"policy": "merge: rebase"}),
 "jackson: right on main wrong on branch": There(Story(start={"pom.xml": pom("2.7.0"), J: java("")}, main=[{"pom.xml": pom("3.2.0")}], change=[{J: java("import jakarta.servlet.Filter;\n", "Filter f = null;\n        return 2;")}]), L),
 "javax: wrong on main right on the branch": There(Story(start={"pom.xml": pom("2.7.0"), J: java("")}, main=[{"pom.xml": pom("3.2.0")}], change=[{J: java("import javax.servlet.Filter;\n", "Filter f = null;\n        return 2;")}]), L),
 "body trailer": There(Story(change=[THREE]), {"body": "Fixes it.\n\nBackport-to: 1.x\n"}),
 "commit trailer": There(Story(change=[(THREE, "Fix the count\n\nbackport-TO: 1.x\n")]), {}),
 "odd label": There(Story(change=[THREE]), {"labels": ("Needs BACKPORT to 1.X",)}),
 "label of another": There(Story(change=[THREE]), {"labels": ("backport 2.x",)}),
 "no-backport": There(Story(change=[THREE]), {"labels": ("No-Backport",)}),
 "override": There(Story(change=[{"a.py": None}]), {"labels": ("ok 1.x",), "policy": "override: 'ok {branch}'"}),
}
