"""Learning from a teacher: what would he do in the learner's place?

The learner plays, and afterwards the teacher says what he would have done at each of its decisions
(dataset aggregation: Ross, Gordon and Bagnell, 2011). So positions are those into which the learner
itself gets, good and bad, and nothing has to be stored but the rollout that is collected anyway.
Meanwhile the critic learns what the learner's play brings, and is ready when self-play begins.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from torch.nn import functional

from poke_env.agent import Agent
from poke_env.row_player import as_actions


def imitate(model: MaskablePPO, teacher: Agent, own: int, chance: np.random.Generator) -> None:
    """Update a policy from a rollout that it has just collected, towards what the teacher does.

    Args:
        model: the learner; its batch size, epochs, learning rate, weight of the value loss and
            limit of gradients are those of its other updates.
        teacher: asked once for every decision.
        own: how many numbers of an observation, from the first, the learner itself sees.
        chance: for the teacher's keys.

    Raises:
        ValueError: if the teacher does not answer once for each decision, or does not answer with
            a legal action; the learner stays as it was.
    """
    buffer = model.rollout_buffer
    if not isinstance(buffer, MaskableRolloutBuffer):
        raise TypeError(f"the rollout must hold action masks, got {type(buffer).__name__}")
    seen = buffer.observations.reshape(-1, buffer.observations.shape[-1])[:, :own]
    masks = buffer.action_masks.reshape(len(seen), -1).astype(np.int8)
    # A match may be over before the learner is asked; then nobody can tell what to do.
    asked = np.flatnonzero(masks.any(axis=1))
    keys = chance.integers(2**64, size=len(asked), dtype=np.uint64)
    answers = as_actions(teacher.act_batch(seen[asked], masks[asked], keys), len(asked))
    _refuse_illegal(answers, masks[asked])
    buffer.actions.reshape(-1)[asked] = answers
    policy = model.policy
    policy.set_training_mode(True)
    model._update_learning_rate(policy.optimizer)
    curves: dict[str, list[float]] = {"imitation_loss": [], "agreement": [], "value_loss": []}
    for _ in range(model.n_epochs):
        for part in buffer.get(model.batch_size):
            actions = part.actions.long().flatten()
            values, likelihood, _ = policy.evaluate_actions(
                part.observations, actions, part.action_masks
            )
            imitation = -likelihood.mean()
            value = functional.mse_loss(part.returns, values.flatten())
            policy.optimizer.zero_grad()
            (imitation + model.vf_coef * value).backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), model.max_grad_norm)
            policy.optimizer.step()
            curves["imitation_loss"].append(imitation.item())
            curves["agreement"].append(likelihood.exp().mean().item())
            curves["value_loss"].append(value.item())
    for name, found in curves.items():
        model.logger.record(f"train/{name}", float(np.mean(found)))


def _refuse_illegal(answers: npt.NDArray[np.int64], masks: npt.NDArray[np.int8]) -> None:
    inside = (answers >= 0) & (answers < masks.shape[1])
    legal = inside & (masks[np.arange(len(answers)), np.where(inside, answers, 0)] == 1)
    if not legal.all():
        first = int(np.argmin(legal))
        allowed = np.flatnonzero(masks[first]).tolist()
        raise ValueError(
            f"the teacher answered with action {answers[first]}, which is illegal; legal: {allowed}"
        )
