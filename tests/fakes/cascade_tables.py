"""The truth tables of the cascade and of the gate, made by letting them decide."""

from __future__ import annotations

from typing import Any

from fakes.tables import SAYS, grouped, markdown, several, word
from prjury.jury.cascade import CascadedJury, Tier, TierPolicy, Verdict
from prjury.jury.gate import GatePolicy, gate, hold_to_content, hold_to_coverage
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Jury
from prjury.jury.voting import ConsensusVoting, ErrorPolicy, MajorityVoting, VotingStrategy
from strategies import Says

REJECT, ACCEPT, FINAL = TierPolicy
PASS, FAIL, ABSTAIN, ERROR = Status


def _jury(
    bench: str,
    voting: VotingStrategy | None = None,
    kind: JudgeType = JudgeType.DETERMINISTIC,
) -> Jury[Any]:
    """Judges that say these letters; by default they vote as the tiers of a policy file do."""
    judges = [Says(f"judge {n}", SAYS[letter], kind) for n, letter in enumerate(bench, start=1)]
    voting = voting or ConsensusVoting(on_error=ErrorPolicy.PROPAGATE)
    return Jury(judges, voting, parallel=False)


def _tier(
    bench: str, policy: TierPolicy, voting: VotingStrategy | None = None, **options: Any
) -> Tier[Any]:
    return Tier("first", _jury(bench, voting), policy, **options)


def _cascade(first: Tier[Any], last: str = "P") -> Verdict:
    return CascadedJury([first, Tier("last", _jury(last), FINAL)]).vote(None)


def _end(verdict: Verdict) -> str:
    return ("goes on, " if verdict.attempts[-1].ran else "stops, ") + word(verdict.status)


def tiers() -> str:
    def ends(bench: str) -> list[str]:
        return [
            _end(_cascade(_tier(bench, REJECT))),
            _end(_cascade(_tier(bench, ACCEPT))),
            word(CascadedJury([_tier(bench, FINAL)]).vote(None).status),
        ]

    head = ["First tier's ballots", "`REJECT_ON_ANY_FAIL`", "`ACCEPT_ON_ALL_PASS`", "`FINAL_TIER`"]
    return markdown(head, grouped(several("PFANE", 2), ends))


def options() -> str:
    def ends(bench: str) -> list[str]:
        return [
            _end(_cascade(_tier(bench, REJECT))),
            _end(_cascade(_tier(bench, REJECT, continue_on_reject=True))),
            _end(_cascade(_tier(bench, REJECT, on_error="continue"))),
            _end(_cascade(_tier(bench, REJECT, advisory=True))),
        ]

    head = ["First tier's ballots", "plain", "`continue_on_reject=True`", '`on_error="continue"`']
    return markdown([*head, "`advisory=True`"], grouped(several("PFANE", 2), ends))


def later() -> str:
    """What a first tier (rows) that lets go on and a final tier (columns) add up to."""
    rows = []
    for first in "PNAEF":
        tier = _tier(first, REJECT, continue_on_reject=True, on_error="continue")
        rows.append([f"`{first}`", *(word(_cascade(tier, last).status) for last in "PNAEF")])
    return markdown(["First \\ final", *(f"`{letter}`" for letter in "PNAEF")], rows)


def escalated() -> str:
    """What an accepting tier of programs or models that did not accept leaves of a final PASS."""
    kinds = {"programs": JudgeType.DETERMINISTIC, "models": JudgeType.LLM_POWERED}
    rows = []
    for told, kind in kinds.items():
        for bench in ("PF", "PA", "PE"):
            first = Tier("first", _jury(bench, kind=kind), ACCEPT)
            ends = [
                CascadedJury([first, Tier("last", _jury("P", kind=decides), FINAL)]).vote(None)
                for decides in kinds.values()
            ]
            rows.append([f"{told} `{bench}`", *(word(verdict.status) for verdict in ends)])
    return markdown(["Accepting tier", *(f"{told} decide" for told in kinds)], rows)


def lenient() -> str:
    """A rejecting tier whose vote is more lenient than its policy."""
    head = ["Ballots", "Voting", "The vote", "The tier", "The verdict, if the final tier passes"]
    rows = []
    for bench, voting, told in (
        ("PPF", MajorityVoting(), "majority"),
        ("PPE", MajorityVoting(on_error=ErrorPolicy.IGNORE), "majority, `IGNORE`"),
        ("PPA", MajorityVoting(), "majority"),
        ("PPN", MajorityVoting(), "majority"),
    ):
        verdict = _cascade(_tier(bench, REJECT, voting))
        first = verdict.attempts[0]
        assert first.verdict
        assert first.status
        said = word(first.verdict.aggregated.status)
        rows.append([f"`{bench}`", told, said, word(first.status), _end(verdict)])
    return markdown(head, rows)


def confidence() -> str:
    head = ["Confidences of two passes", "`min_confidence=None`", "`min_confidence=0.8`"]
    rows = []
    for sure in ((0.9, 0.8), (0.9, 0.7), (0.9, None)):
        judges = [Says("judge", Judgment.passed("fine", confidence=one)) for one in sure]
        jury = Jury(judges, ConsensusVoting(), parallel=False)
        least = [Tier("first", jury, ACCEPT, min_confidence=limit) for limit in (None, 0.8)]
        told = ", ".join("none" if one is None else f"{one}" for one in sure)
        rows.append([told, *(_end(_cascade(tier)) for tier in least)])
    return markdown(head, rows)


# The gate.


def _conclusion(verdict: Verdict, policy: GatePolicy | None = None) -> str:
    decided = gate(verdict, policy)
    return f"{decided.value}, exit {decided.exit_code:d}"


def _advised(advice: str) -> Verdict:
    """A gate that passes, and a final tier that only advises."""
    passing = Tier("gate", _jury("P"), REJECT)
    return CascadedJury([passing, Tier("advice", _jury(advice), FINAL, advisory=True)]).vote(None)


def merge_gate() -> str:
    """What happened to one judge, and what the gate makes of it."""
    head = ["What happened", "Recorded as", "Blocking tier", "Advisory tier"]
    strict = GatePolicy(not_configured="block")
    nobody = CascadedJury([Tier("first", None), Tier("last", _jury("P"), FINAL)]).vote(None)
    unvoted = CascadedJury([Tier("last", _jury("NK"), FINAL)]).vote(None)
    advice = CascadedJury([Tier("last", _jury("P"), FINAL, advisory=True)]).vote(None)
    unread = hold_to_coverage(_cascade(_tier("P", REJECT)), 90, 100, 0.95)
    rows = [
        ["the judge was not asked for", "no seat, named under `skipped`", _conclusion(nobody), "–"]
    ]
    for happened, recorded, bench in (
        ("it passed", "PASS", "P"),
        ("the matter is none of its business", "ABSTAIN `not_applicable`", "N"),
        ("it has no provider or no key", "ABSTAIN `not_configured`", "K"),
        ("it failed, or the build timed out or flooded the log", "FAIL", "F"),
        (
            "it could not tell: refusal, budget, invalid reply, too large",
            "ABSTAIN, other label",
            "A",
        ),
        ("it crashed or hung; a tool, report or sandbox is missing", "ERROR", "E"),
    ):
        blocking = _conclusion(_cascade(_tier(bench, REJECT)))
        rows.append([happened, recorded, blocking, _conclusion(_advised(bench))])
    blocked = _conclusion(_cascade(_tier("K", REJECT)), strict)
    said = "ABSTAIN `not_configured`"
    rows.append(
        [
            "no key, and `gate.not_configured: block`",
            said,
            blocked,
            _conclusion(_advised("K"), strict),
        ]
    )
    rows.append(
        ["fewer lines read than the coverage floor asks", "ERROR", _conclusion(unread), "–"]
    )
    swapped = hold_to_content(_cascade(_tier("P", REJECT)), ["lib/a.jar"])
    changed = "a program, an archive or a submodule changes"
    rows.append([changed, "ABSTAIN `unread_content`", _conclusion(swapped), "–"])
    said = "ABSTAIN `nobody_voted`"
    rows.append(["nobody voted PASS", said, _conclusion(unvoted), _conclusion(advice)])
    return markdown(head, rows)


def block_on() -> str:
    """What each choice of ``block_on`` does to a verdict that says..."""
    benches = ("PFE", "PF", "PE", "PA", "PN", "P", "F", "N")
    rows = []
    for closing in ((FAIL, ERROR, ABSTAIN), (FAIL, ERROR), (FAIL,), (ERROR,), ()):
        policy = GatePolicy(block_on=frozenset(closing))
        ends = [gate(_cascade(_tier(bench, REJECT), "N"), policy).value for bench in benches]
        told = ", ".join(status.value for status in closing)
        rows.append([f"`[{told}]`", *ends])
    return markdown(["`gate.block_on`", *(f"`{bench}`" for bench in benches)], rows)
