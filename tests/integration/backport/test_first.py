from __future__ import annotations
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping
from fakes.history import History
from integration.backport.bench import Bench, Story, lines
from integration.backport.test_there import There, Then, seq, pick, revert
THREE = {"a.py": lines({3: "three"})}
Z = {"z.py": "z = 1\n"}
def merged_pr(h):
    pass
class Merged:
    """prerequisite is merge commit on main, of two commits"""
    def __init__(self, conflicting_each=False): pass
    def tell(self, h):
        h.commit({"a.py": lines(), "b.py": lines()}, "start"); h.branch("1.x")
        h.switch("topic", create=True); h.commit({"a.py": lines({2: "zwei"})}, "one"); h.commit({"a.py": lines({2: "zwei", 3: "drei"})}, "two")
        h.switch("main"); h.commit(Z, "z"); h.merge("topic", message="Merge pull request #5 from x/topic")
        h.switch("change", create=True); h.commit({"a.py": lines({2: "zwei", 3: "three"})}, "Fix the count")
        h.switch("1.x"); h.commit({"q.py": "q = 1\n"}, "On the branch"); h.switch("main")
HELP = "def helper():\n    return 1\n"
def without(*gone, **k):
    return "".join(l for l in lines(k.get("c")).splitlines(True) if l.strip() not in gone)
class EvilMerge:
    def __init__(self, content): self.content = content
    def tell(self, h):
        h.commit({"a.py": lines(), "b.py": lines()}, "start"); h.branch("1.x")
        h.switch("change", create=True); h.switch("main"); h.commit(Z, "z")
        h.switch("change"); h.merge("main", files=self.content, message="Fix it while merging")
        h.switch("main")
class PrMergesMainTwice:
    def tell(self, h):
        h.commit({"a.py": lines(), "b.py": lines()}, "start"); h.branch("1.x")
        h.switch("change", create=True); h.commit({"a.py": lines({3: "three"})}, "one")
        h.switch("main"); h.commit(Z, "z"); h.switch("change"); h.merge("main")
        h.commit({"b.py": lines({30: "b"})}, "two")
        h.switch("main"); h.commit({"z.py": "z = 2\n"}, "z"); h.switch("change"); h.merge("main")
        h.commit({"b.py": lines({30: "b", 20: "bb"})}, "three")
        h.switch("1.x"); h.commit({"own.py": "o = 1\n"}, "own"); h.switch("main")
RB = {"policy": "merge: rebase", "labels": ("backport 1.x",)}
L = {"labels": ("backport 1.x",)}
def forty():
    out=[]; cur={}
    for n in range(1,41):
        cur[n]=f"new{n}"; out.append(({"a.py": lines(dict(cur))}, f"Step {n}"))
    return out
FIRST = {
 "order D13": Story(main=[({"a.py": lines({3: "drei"})}, "P1"), ({"a.py": without("yield 4", c={3: "drei"})}, "P2")], change=[{"a.py": without("yield 4", c={3: "three"})}]),
 "rebase clean": There(Story(change=[THREE, {"a.py": lines({3:"three",20:"x"})}]), RB),
 "rebase one without effect": There(Story(change=[THREE, {"a.py": lines({3:"three",20:"x"})}, {"b.py": "b\n"}], branch=[{"a.py": lines({20:"x"}), "q":"q"}]), RB),
 "rebase conflict in middle": There(Story(change=[({"a.py": lines({30:"x"})},"1"),({"a.py": lines({30:"x", 3:"drei"})},"2"),({"a.py": lines({30:"x"})},"3"),({"a.py": lines({30:"x",20:"y"})},"4")], branch=[{"a.py": lines({3:"own"})}]), RB),
 "squash the same": There(Story(change=[({"a.py": lines({30:"x"})},"1"),({"a.py": lines({30:"x", 3:"drei"})},"2"),({"a.py": lines({30:"x"})},"3"),({"a.py": lines({30:"x",20:"y"})},"4")], branch=[{"a.py": lines({3:"own"})}]), L),
 "merge the same": There(Story(change=[({"a.py": lines({30:"x"})},"1"),({"a.py": lines({30:"x", 3:"drei"})},"2"),({"a.py": lines({30:"x"})},"3"),({"a.py": lines({30:"x",20:"y"})},"4")], branch=[{"a.py": lines({3:"own"})}]), L | {"policy": "merge: merge"}),
 "rebase with prerequisite": There(Story(main=[({"a.py": lines({3: "drei"})}, "P1")], change=[{"a.py": lines({3:"drei",20:"x"})}, {"a.py": lines({3:"three",20:"x"})}]), RB),
 "rebase with prerequisite that has a part": There(Story(main=[({"a.py": lines({3: "drei"})}, "P1"),({"a.py": lines({3: "drei",20:"x"})}, "P2")], change=[{"a.py": lines({3:"trois",20:"x"})}, {"a.py": lines({3:"three",20:"x"})}]), RB),
 "evil merge alone": There(EvilMerge({"a.py": lines({3:"x"})}), L),
 "evil merge alone, rebase": There(EvilMerge({"a.py": lines({3:"x"})}), RB),
 "empty merge": There(EvilMerge({}), L),
 "merges inside": There(PrMergesMainTwice(), L),
 "merges inside, rebase": There(PrMergesMainTwice(), RB),
 "forty": There(Story(change=forty()), L),
 "forty, rebase": There(Story(change=forty()), RB),
 "forty, conflict": There(Story(change=forty(), branch=[{"a.py": lines({12: "own"})}]), RB),
 "and its revert": There(Story(change=[THREE, {"a.py": lines()}]), RB),

 "one": Story(main=[Z, ({"a.py": lines({3: "drei"})}, "Say drei"), {"z.py": "z = 2\n"}], change=[THREE]),
 "two, each alone does not help": Story(main=[({"a.py": lines({3: "drei"})}, "P1"), ({"a.py": lines({3: "drei", 20: "zwanzig"})}, "P2")], change=[{"a.py": lines({3: "three", 20: "twenty"})}]),
 "two, and two others that are not": Story(main=[({"a.py": lines({3: "drei"})}, "P1"),({"a.py": lines({3: "drei", 30: "x"})}, "no"), ({"a.py": lines({3: "drei", 30: "x", 20: "zwanzig"})}, "P2"), ({"a.py": lines({3: "drei", 30: "x", 20: "zwanzig", 38: "y"})}, "no")], change=[{"a.py": lines({3: "three", 30: "x", 20: "twenty", 38: "y"})}]),
 "one needs the other": Story(main=[({"a.py": lines({3: "drei"})}, "P1"), ({"a.py": lines({3: "trois"})}, "P2")], change=[THREE]),
 "three in a row": Story(main=[({"a.py": lines({3: "drei"})}, "P1"), ({"a.py": lines({3: "trois"})}, "P2"), ({"a.py": lines({3: "tres"})}, "P3")], change=[THREE]),
 "one needs another in another file": Story(main=[({"b.py": lines({7: "sieben"})}, "P1"), ({"a.py": lines({3: "drei"}), "b.py": lines({7: "sept"})}, "P2")], change=[THREE]),
 "seven of which the oldest": Story(main=[({"a.py": lines({3: "drei"})}, "The one"), *(({"a.py": lines({3: "drei", **{12+4*k: "x" for k in range(n)}})}, f"No {n}") for n in range(1,8))], change=[{"a.py": lines({3: "three", **{12+4*k: "x" for k in range(7)}})}]),
 "merge": Merged(),
 "none: the branch has its own": Story(main=[Z], branch=[{"a.py": lines({3: "drei"})}], change=[THREE]),
 "none: own and other": Story(main=[({"a.py": lines({20: "x"})}, "other")], branch=[{"a.py": lines({3: "drei"})}], change=[{"a.py": lines({3: "three", 20: "x"})}]),
 "symbol": There(Story(main=[Z, ({"util.py": HELP}, "Add a helper"), {"z.py": "z = 2\n"}], change=[{"a.py": "from util import helper\n\n\n" + lines({3: "helper()"})}]), {"labels": ("backport 1.x",)}),
 "symbol in an older file": There(Story(start={"a.py": lines(), "util.py": "X = 1\n"}, main=[Z, ({"util.py": "X = 1\n\n\n" + HELP}, "Add a helper"), {"z.py": "z = 2\n"}], change=[{"a.py": "from util import helper\n\n\n" + lines({3: "helper()"})}])),
 "symbol and conflict": There(Story(start={"a.py": lines(), "util.py": "X = 1\n"}, main=[({"util.py": "X = 1\n\n\n" + HELP}, "Add a helper"), ({"a.py": lines({3: "drei"})}, "Say drei")], change=[{"a.py": "from util import helper\n\n\n" + lines({3: "helper()"})}])),
 "symbol whose unit cannot be picked": There(Story(start={"a.py": lines(), "util.py": "X = 1\n"}, branch=[{"b.py": "b = 2\n", "util.py": "X = 2\n"}], main=[({"util.py": "X = 3\n\n\n" + HELP}, "Add a helper")], change=[{"a.py": "from util import helper\n\n\n" + lines({3: "helper()"})}])),
 "two symbols": There(Story(start={"a.py": lines(), "util.py": "X = 1\n"}, main=[({"util.py": "X = 1\n\n\n" + HELP}, "Add a helper"), ({"more.py": "def second():\n    return 2\n"}, "Add second")], change=[{"a.py": "from more import second\nfrom util import helper\n\n\n" + lines({3: "helper() + second()"})}])),
}
