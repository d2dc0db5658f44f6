"""A model's server whose certificate nobody vouches for."""

from __future__ import annotations

from pathlib import Path

import pytest

from prjury.deadline import Deadline
from prjury.models.choose import ModelChoice
from prjury.models.panel import HostedModel
from prjury.ports.messages import ModelError, Prompt
from runner.git_server import serving


@pytest.mark.slow
@pytest.mark.needs("openssl")
def test_a_certificate_of_nobody_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path, tmp_path / "certificates") as server:
        model = HostedModel(ModelChoice("openai", "local", "sk-canary", server.url))
        with pytest.raises(ModelError) as error:
            model.ask(Prompt("be fair", "{}", {}, "quality/1"), Deadline.after(20))
        assert error.value.reason == "unreachable"
        assert server.requests == []
