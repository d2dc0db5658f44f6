"""No policy opens the gate over a proven failure of a criterion that must pass."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fakes.llm import FAILING, FOUR, SMALL, answer, context, ports, reply
from prjury.app.registry import Unwanted, seat_judges
from prjury.jury.gate import Gate, GatePolicy, gate
from prjury.jury.judgment import Status
from prjury.models.panel import ScriptedModel
from prjury.policy.load import parse_policy

shares = st.floats(0, 1)
errors = st.sampled_from(["treat_as_fail", "treat_as_abstain", "ignore", "propagate"])
votings = st.one_of(
    st.fixed_dictionaries({"majority": st.just({"tie": "pass"})}),
    st.fixed_dictionaries({"consensus": st.fixed_dictionaries({"on_error": errors})}),
    *(
        st.fixed_dictionaries({name: st.fixed_dictionaries({"threshold": shares})})
        for name in ("average", "weighted_average", "median")
    ),
)
asked = st.fixed_dictionaries(dict.fromkeys(FOUR, st.sampled_from(["pass", "fail", "abstain"])))
weights = st.floats(0.1, 9)


def policy(tier: dict[str, Any], must: list[str], threshold: float, own: list[float]) -> str:
    quality = {"quality": {"must": must, "threshold": threshold}, "weight": own[0]}
    kind = {"name": "kind", "text": "Be kind.", "criteria": {"fine": "Is it fine?"}}
    others = [{"prompt": {**kind, "name": f"kind-{n}"}, "weight": w} for n, w in enumerate(own[1:])]
    seated = {"name": "opinion", "advisory": False, "judges": [quality, *others], **tier}
    last = {"name": "last", "policy": "final_tier", "advisory": False, "judges": [others[0]]}
    rejects = tier["policy"] == "reject_on_any_fail"
    return json.dumps({"version": 1, "tiers": [seated, last] if rejects else [seated]})


@given(
    st.sampled_from(["final_tier", "reject_on_any_fail"]),
    votings,
    asked,
    st.sets(st.sampled_from(FOUR)),
    shares,
    st.lists(weights, min_size=2, max_size=4),
)
def test_the_gate_is_never_open_over_a_must_that_failed(
    kind: str,
    voting: dict[str, Any],
    said: dict[str, str],
    must: set[str],
    threshold: float,
    own: list[float],
) -> None:
    answers = {name: FAILING if word == "fail" else answer(word) for name, word in said.items()}

    text = policy({"policy": kind, "voting": voting}, sorted(must), threshold, own)
    kinds = [{"prompt": f"kind-{n}", "text": reply(["fine"])} for n in range(len(own) - 1)]
    script = [{"prompt": "quality", "text": reply(**answers)}, *kinds, *kinds]
    config = parse_policy(text, "file:x", shown_name="x").config
    seating = seat_judges(config, ports(ScriptedModel(script)), Unwanted({}))
    verdict = seating.cascade.vote(context(SMALL))
    outcome = gate(verdict, GatePolicy())
    if any(said[name] == "fail" for name in must):
        assert (verdict.status, outcome) == (Status.FAIL, Gate.FAILURE)
    assert outcome is not Gate.SUCCESS or any(
        judgment.status is Status.PASS
        for attempt in verdict.attempts
        if attempt.verdict
        for judgment in attempt.verdict.individual
    )
