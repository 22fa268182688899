"""Settings shared by all tests."""

from __future__ import annotations

import pytest
from hypothesis import settings

from helpers import Make
from poke_env import poke_v0

# The first example of a property may compile: no time limit for an example.
settings.register_profile("project", deadline=None, print_blob=True)
settings.load_profile("project")


@pytest.fixture(params=["raw_env", "env"])
def make(request: pytest.FixtureRequest) -> Make:
    """What makes an AEC environment: the bare one, then the one for play."""
    return getattr(poke_v0, request.param)
