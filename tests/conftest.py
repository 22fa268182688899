"""Settings shared by all tests."""

from __future__ import annotations

from hypothesis import settings

# The first example of a property may compile: no time limit for an example.
settings.register_profile("project", deadline=None, print_blob=True)
settings.load_profile("project")
