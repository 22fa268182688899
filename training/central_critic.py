"""A policy for MaskablePPO whose critic sees every hand.

The critic judges during training alone, so it may know what the players do not: with all cards on
the table it foretells returns far better, and the actor's gradients are the less noisy for it
(centralised training with decentralised execution: Lowe and others, 2017; Yu and others, 2022). The
actor, which is what is exported, sees its own observation and nothing else.
"""

from __future__ import annotations

from typing import Any

import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor


class CentralCriticPolicy(MaskableActorCriticPolicy):
    """Actor and critic for `training.vec_env.BatchVecEnv` with `everybody`.

    Args:
        own: how many numbers, from the first, are the learner's own observation.
    """

    def __init__(self, *args: Any, own: int, **kwargs: Any) -> None:
        self.own = own
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = _Extractor(
            self.own, self.features_dim, self.net_arch, self.activation_fn, self.device
        )

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | {"own": self.own}


class _Extractor(MlpExtractor):
    """Two networks of their own: for the first `own` numbers, and for all of them."""

    def __init__(self, own: int, everything: int, *architecture: Any) -> None:
        super().__init__(everything, *architecture)
        self.policy_net = MlpExtractor(own, *architecture).policy_net
        self.own = own

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """What the actor makes of observations (B, own and more)."""
        return super().forward_actor(features[:, : self.own])
