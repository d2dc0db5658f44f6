from __future__ import annotations

from hypothesis import HealthCheck, settings

# The machine may be busy with builds: how long an example takes says nothing.
settings.register_profile("court", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("court")
