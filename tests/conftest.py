"""What all tests share: how Hypothesis searches.

On a developer's machine it looks for new cases each time. In CI it tries the same ones, and half as
many, so that a run is red because of the change and nothing else. How long an example takes says
nothing: the machine may be busy with builds.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_PATIENT = [HealthCheck.too_slow]

settings.register_profile("search", deadline=None, suppress_health_check=_PATIENT)
settings.register_profile(
    "same", deadline=None, suppress_health_check=_PATIENT, derandomize=True, max_examples=50
)
settings.load_profile("same" if os.environ.get("CI") else "search")
