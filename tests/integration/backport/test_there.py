from __future__ import annotations
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping
from fakes.history import History
from integration.backport.bench import Bench, Story, lines

THREE = {"a.py": lines({3: "three"})}
TWO_STEPS = ({"a.py": lines({3: "three"})}, {"a.py": lines({3: "three"}), "b.py": lines({5: "five"})})

def pick(h, sha="change", *opts):
    h.git("switch", "-q", "1.x"); h.git("cherry-pick", *opts, sha)
@dataclass(frozen=True)
class There:
    story: Any
    asked: Mapping[str, Any] = field(default_factory=dict)

class Then:
    def __init__(self, story, then): self.s, self.then = story, then
    def tell(self, h):
        self.s.tell(h); h.switch("1.x"); self.then(h); h.switch("main")

def seq(*fns):
    def f(h):
        for x in fns: x(h)
    return f
other = lambda h: h.commit({"a.py": h.git("show", "1.x:a.py").replace("yield 20", "yield twenty")+"\n"}, "More")
after = lambda h: h.commit({"a.py": lines({3: "three", 4: "four", 20: "twenty"})}, "Later: next to it")
def revert(h, what="HEAD"):
    h.git("switch","-q","1.x"); h.git("revert","--no-edit",what)
def trailer(text):
    return lambda h: h.commit({"a.py": lines({3: "three, adapted"})}, text.format(sha=h.sha("change")))
S = Story(change=[THREE])
M = Story(change=list(TWO_STEPS))
THERE = {
 "same patch, pick not empty": There(Then(S, seq(lambda h: pick(h), after))),
 "same patch among more": There(Then(S, lambda h: h.commit({"a.py": lines({3:"three"}), "z.py": "z\n"}, "Mixed"))),
 "same patch then later change of line": There(Then(S, seq(lambda h: pick(h), lambda h: h.commit({"a.py": lines({3: "better"})}, "Better")))),
 "trailer": There(Then(S, trailer("Adapted\n\n(cherry picked from commit {sha})"))),
 "trailer of abbreviated": There(Then(S, lambda h: trailer("Adapted\n\n(cherry picked from commit %s)" % h.sha("change")[:10])(h))),
 "backport number": There(Then(S, trailer("Adapted\n\nBackport #7")), {"number": 7}),
 "number in title": There(Then(S, trailer("[1.x] Fix the count (#7) (#12)")), {"number": 7}),
 "other number": There(Then(S, trailer("[1.x] Fix the count (#71)")), {"number": 7}),
 "empty": There(Story(change=[THREE], branch=[{"a.py": lines({3:"three", 20:"zwanzig"}), "z":"z"}])),
 "each commit": There(Then(M, lambda h: (pick(h, "change~1"), other(h), pick(h, "change")))),
 "one of two": There(Then(M, lambda h: pick(h, "change~1"))),
 "itself by merge": There(Then(S, lambda h: h.merge("change"))),
 "itself then reverted": There(Then(S, lambda h: (h.merge("change"), revert(h, "change")))),
 "merged then merge reverted": There(Then(S, lambda h: (h.commit({"q":"q"},"Own"), h.merge("change"), h.git("switch","-q","1.x"), h.git("revert","--no-edit","-m","1","HEAD")))),
 "picked, reverted": There(Then(S, lambda h: (pick(h), revert(h)))),
 "picked -x, reverted": There(Then(S, lambda h: (pick(h, "change", "-x"), revert(h)))),
 "picked, reverted, reverted": There(Then(S, lambda h: (pick(h), revert(h), revert(h)))),
 "picked, reverted, reverted, reverted": There(Then(S, lambda h: (pick(h), revert(h), revert(h), revert(h)))),
 "picked, reverted, picked again": There(Then(S, lambda h: (pick(h), revert(h), pick(h)))),
 "picked -x, reverted, picked -x again": There(Then(S, lambda h: (pick(h,"change","-x"), revert(h), pick(h,"change","-x")))),
 "each commit, the first reverted": There(Then(M, lambda h: (pick(h, "change~1"), pick(h, "change"), revert(h, "HEAD~1")))),
 "each -x, PR of two": There(Then(M, lambda h: (pick(h, "change~1", "-x"), h.commit({"b.py": lines({4:"vier", 5:"five"})}, "Fix\n\n(cherry picked from commit %s)" % h.sha("change"))))),
 "only last -x, PR of two": There(Then(M, lambda h: (h.commit({"b.py": lines({4:"vier", 5:"five"})}, "Fix\n\n(cherry picked from commit %s)" % h.sha("change"))))),
}
