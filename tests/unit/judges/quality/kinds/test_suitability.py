from __future__ import annotations

from fakes.llm import SMALL, alone, always, answer, changed, context, ports, quote, reply
from prjury.judges.quality.kinds import SUITABILITY
from prjury.judges.quality.kinds import make_suitability as make
from prjury.jury.judgment import Status
from prjury.policy.tiers import SuitabilityOptions

FAILS = answer("fail", [quote()])


def test_it_has_a_threshold_of_its_own() -> None:
    model = always(reply(SUITABILITY.criteria, fixes=FAILS, settled=FAILS))
    assert alone(make(SuitabilityOptions(), ports(model))).judge(context(SMALL)).status is (
        Status.FAIL
    )
    lenient = SuitabilityOptions(threshold=0.5)
    assert alone(make(lenient, ports(model))).judge(context(SMALL)).status is Status.PASS
    one = always(reply(SUITABILITY.criteria, fixes=FAILS, settled=answer("abstain")))
    assert alone(make(SuitabilityOptions(), ports(one))).judge(context(SMALL)).status is Status.PASS


def test_documentation_is_not_its_business() -> None:
    made = alone(make(SuitabilityOptions(), ports(always(reply(SUITABILITY.criteria)))))
    assert made.judge(context(changed("README.md", "+x"))).label == "not_applicable"
