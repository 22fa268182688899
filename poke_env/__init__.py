"""Environments for Sid Sackson's card game Poke: PettingZoo AEC and Gymnasium.

Importing the package registers `sackson/poke-v0` with PettingZoo and `sackson/Poke-v0` with
Gymnasium.
"""

from __future__ import annotations

import gymnasium
import pettingzoo

__version__ = "0.1.0"

pettingzoo.register("aec", "sackson/poke-v0", "poke_env.poke_v0:env")
gymnasium.register("sackson/Poke-v0", "poke_env.poke_v0:single_env")
