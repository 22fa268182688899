"""Settings shared by all tests."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import settings

import poke_env
from helpers import TABLES, Make
from poke_env import poke_v0

# The first example of a property may compile: no time limit for an example.
settings.register_profile("project", deadline=None, print_blob=True)
settings.load_profile("project")


@pytest.fixture(params=["raw_env", "env"])
def make(request: pytest.FixtureRequest) -> Make:
    """What makes an AEC environment: the bare one, then the one for play."""
    return getattr(poke_v0, request.param)


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest) -> str:
    """The name of a table in any of the games, see `TABLES`."""
    return request.param


@pytest.fixture(params=["raw_env", "env"])
def sit(request: pytest.FixtureRequest, table: str) -> Make:
    """What makes the environment of a table, the bare one, then the one for play.

    Settings that are given come before those of the table.
    """
    game, settings = TABLES[table]
    return partial(getattr(poke_env.door(game), request.param), **settings)
