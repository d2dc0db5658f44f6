"""The truth tables of the cascade and of the gate, made by letting them decide."""

from __future__ import annotations

from typing import Any

from fakes.tables import SAYS, grouped, markdown, several, word
from prjury.jury.cascade import CascadedJury, Tier
from prjury.jury.gate import GatePolicy, err_below_coverage_floor, gate, lower_unread_pass
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Status
from prjury.jury.jury import Jury
from prjury.jury.verdicts import TierPolicy, Verdict
from prjury.jury.voting import ConsensusVoting, ErrorPolicy, VotingStrategy
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
    unread = err_below_coverage_floor(_cascade(_tier("P", REJECT)), 90, 100, 0.95)
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
    swapped = lower_unread_pass(_cascade(_tier("P", REJECT)), ["lib/a.jar"])
    changed = "a program, an archive or a submodule changes"
    rows.append([changed, "ABSTAIN `unread_content`", _conclusion(swapped), "–"])
    said = "ABSTAIN `nobody_voted`"
    rows.append(["nobody voted PASS", said, _conclusion(unvoted), _conclusion(advice)])
    return markdown(head, rows)
