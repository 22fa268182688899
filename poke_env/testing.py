"""Conformance checks that anybody can run on an environment of ours, wrapped or bare.

>>> from poke_env import poke_v0, testing
>>> testing.check(poke_v0.env(match="deal", rules="tiny"), matches=2)
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from poke_env import observation
from poke_env.aec import CardGameEnv, IllegalActionError
from poke_env.cards import card_number, format_cards
from poke_env.games.base import score_of
from poke_env.single import SingleAgentEnv


class ConformanceError(AssertionError):
    """An environment does not keep a promise; the message says which and where."""


class Turn(NamedTuple):
    """A decision of a random match: the environment stands before it."""

    env: CardGameEnv
    agent: str
    observed: dict[str, npt.NDArray[Any]]
    action: int
    text: str


def check(env: Any, *, matches: int = 10, seed: int = 0) -> None:
    """Run every check below that fits on copies of `env`, in its own configuration.

    Args:
        env: an AEC environment, bare or wrapped, or the Gymnasium environment.
        matches: random matches that each check plays.
        seed: of the decks and of the random play.

    Raises:
        ConformanceError: at the first promise that is not kept.
    """
    base = env.unwrapped
    if isinstance(base, SingleAgentEnv):
        check_learner(env, matches=matches, seed=seed)
        base = base.aec
    if not isinstance(base, CardGameEnv):
        raise ValueError(f"env must be an environment of poke_env, got {env!r}")
    for one in (
        check_mask_is_legality,
        check_mask_is_zero_off_turn,
        check_observation_in_space,
        check_hidden_cards_do_not_show,
        check_rewards_match_score_sheet,
        check_determinism,
        check_clone_fidelity,
    ):
        one(base, matches=matches, seed=seed)


def random_turns(
    env: CardGameEnv, rng: np.random.Generator, options: dict[str, Any] | None = None
) -> Iterator[Turn]:
    """Play one match with uniformly random legal actions, pausing before each."""
    env.reset(options=options)
    while not _over(env):
        agent = env.agent_selection
        observed = env.observe(agent)
        action = int(rng.choice(np.flatnonzero(observed["action_mask"])))
        yield Turn(env, agent, observed, action, env.action_to_text(action))
        env.step(action)


def _over(env: CardGameEnv) -> bool:
    return any(env.terminations.values()) or any(env.truncations.values())


def _copy(env: CardGameEnv, seed: int) -> tuple[CardGameEnv, np.random.Generator]:
    """A quiet copy with its stream at `seed`, and a generator for random play."""
    twin = env.clone()
    twin.render_mode = None
    twin.reset(seed=seed)
    return twin, np.random.default_rng(seed)


def _demand(kept: bool, promise: str, turn: Turn | None = None) -> None:
    if not kept:
        where = "" if turn is None else f" ({turn.agent} before {turn.text!r})"
        raise ConformanceError(promise + where)


def check_mask_is_legality(env: CardGameEnv, *, matches: int = 10, seed: int = 0) -> None:
    """The mask marks exactly the actions that `step` accepts; the others change nothing."""
    env, rng = _copy(env, seed)
    for _ in range(matches):
        for turn in random_turns(env, rng):
            mask = turn.observed["action_mask"]
            _demand(bool(mask.any()), "a player to move has no legal action", turn)
            before = env.get_state()
            for action in range(len(mask)):
                trial = env.clone()
                try:
                    trial.step(action)
                except IllegalActionError:
                    _demand(not mask[action], f"action {action} is masked legal but refused", turn)
                    _demand(trial.get_state() == before, "a refused action left a trace", turn)
                else:
                    _demand(bool(mask[action]), f"action {action} is masked but accepted", turn)


def check_mask_is_zero_off_turn(env: CardGameEnv, *, matches: int = 10, seed: int = 0) -> None:
    """Masks of players who are not to move, and of all when the match is over, are zero."""
    env, rng = _copy(env, seed)
    for _ in range(matches):
        for turn in random_turns(env, rng):
            for agent in env.agents:
                mask = env.observe(agent)["action_mask"]
                mirror = env.infos[agent]["action_mask"]
                _demand(np.array_equal(mask, mirror), "info does not mirror the mask", turn)
                _demand(bool(mask.any()) == (agent == turn.agent), "mask off turn", turn)
        for agent in env.agents:
            _demand(not env.observe(agent)["action_mask"].any(), "mask after the match")


def check_observation_in_space(env: CardGameEnv, *, matches: int = 10, seed: int = 0) -> None:
    """Every observation of every player lies in its space, which stays the same object."""
    env, rng = _copy(env, seed)
    spaces = {agent: env.observation_space(agent) for agent in env.possible_agents}
    for _ in range(matches):
        for turn in random_turns(env, rng):
            for agent, space in spaces.items():
                _demand(space is env.observation_space(agent), "space was rebuilt", turn)
                _demand(space.contains(env.observe(agent)), "observation outside its space", turn)
        for agent, space in spaces.items():
            _demand(space.contains(env.observe(agent)), "last observation outside its space")


def check_hidden_cards_do_not_show(env: CardGameEnv, *, matches: int = 10, seed: int = 0) -> None:
    """No observation or mask changes when the cards its player has not seen are permuted.

    A random deal is played again up to a random decision with the unseen cards renamed, the
    opponents making the same moves with the renamed cards. Worlds in which one of those moves
    would be illegal, or something else would be forced, are impossible and are passed over.
    """
    env, rng = _copy(env, seed)
    compared = 0
    for _ in range(20 * matches):
        if compared >= matches:
            return
        compared += _compare_worlds(env, rng)
    _demand(compared > 0, "no world with other hidden cards was possible")


def _compare_worlds(env: CardGameEnv, rng: np.random.Generator) -> bool:
    """Compare one decision in two worlds; False if the other world is impossible."""
    history: list[Turn] = []
    stop = int(rng.integers(1, 14))
    for turn in random_turns(env, rng):
        history.append(turn)
        if len(history) == stop or len(env.score_sheet.deals) > 0:
            break
    last = history[-1]
    if env.score_sheet.deals:
        return False
    observer = env.possible_agents[int(rng.integers(len(env.possible_agents)))]
    observed = env.observe(observer)
    seen = env.game.decode(observation.split(env.game, observed))["seen"]
    deck = env.deck
    hidden = [card for card in deck if card not in seen]
    renamed = dict(zip(hidden, rng.permutation(hidden).tolist(), strict=True))
    beginning = {"dealer": env.score_sheet.dealer, "score": score_of(env.score_sheet)}
    same, other = env.clone(), env.clone()
    same.reset(options={"deck": deck, **beginning})
    other.reset(options={"deck": [renamed.get(card, card) for card in deck], **beginning})
    before = [env.settings.template["state"][0]] * 2
    for made in (None, *history[:-1]):
        if made is not None:
            before = [same.record, other.record]
            same.step(made.action)
            try:
                other.step(other.text_to_action(_rename(made.text, renamed)))
            except ValueError:
                return False
        forced, differently = (
            env.game.forced(earlier, world.record)
            for earlier, world in zip(before, (same, other), strict=True)
        )
        if [_rename(text, renamed) for text in forced] != list(differently):
            return False
    _demand(other.agent_selection == last.agent, "hidden cards decide who is to move", last)
    twin = other.observe(observer)
    for name, array in observed.items():
        _demand(np.array_equal(array, twin[name]), f"hidden cards show in the {name}", last)
    return True


def _rename(text: str, renamed: dict[int, int]) -> str:
    """The text of an action with its cards renamed."""
    words = []
    for word in text.split():
        try:
            card = card_number(word)
        except ValueError:
            words.append(word)
        else:
            words.append(format_cards([renamed.get(card, card)]))
    return " ".join(words)


def check_rewards_match_score_sheet(env: CardGameEnv, *, matches: int = 10, seed: int = 0) -> None:
    """Rewards, fetched by `last` or read after each step, add up to what the pad says.

    They are paid when a deal ends, as they are won where the game pays within deals, and `"win"`
    when the match ends.
    """
    env, rng = _copy(env, seed)
    within = env.game.pays_within_deals and env.settings.reward != "win"
    for _ in range(matches):
        fetched = dict.fromkeys(env.possible_agents, 0.0)
        paid = dict.fromkeys(env.possible_agents, 0.0)
        beginning = None
        finished = 0
        for turn in random_turns(env, rng):
            beginning = _equity(env) if beginning is None else beginning
            fetched[turn.agent] += env.last()[1]
            ended = env.settings.reward != "win" and len(env.finished) > finished
            finished = len(env.finished)
            for agent, reward in env.rewards.items():
                paid[agent] += reward
                _demand(within or ended or reward == 0.0, "something is paid too early", turn)
        for agent, reward in env.rewards.items():
            paid[agent] += reward
            fetched[agent] += env._cumulative_rewards[agent]
        expected = _expected_rewards(env, cast(Any, beginning))
        for seat, agent in enumerate(env.possible_agents):
            for name, sums in (("last()", fetched), ("rewards", paid)):
                _demand(
                    bool(np.isclose(sums[agent], expected[seat])),
                    f"{name} of {agent} adds up to {sums[agent]}, the pad to {expected[seat]}",
                )


def _equity(env: CardGameEnv) -> npt.NDArray[np.float64]:
    """What each seat expects of the rest of the rubber, where the rewards depend on it, else 0."""
    expected = np.zeros(len(env.possible_agents))
    if env.settings.reward == "equity":
        env.game.equity(env.record, env.settings.equity, expected)
    return expected


def _expected_rewards(
    env: CardGameEnv, beginning: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """What the pad says that each seat got; `beginning` is the `_equity` of the first deal."""
    counts = env.match == "deal" and env.settings.reward != "equity"
    below_value = env.settings.below_value if counts else None
    points = np.sum([deal.points(below_value or 0.0) for deal in env.score_sheet.deals], axis=0)
    if env.settings.reward == "equity":
        points += _equity(env) - beginning
    if env.settings.reward in ("points", "equity"):
        return cast(npt.NDArray[np.float64], points * env.settings.reward_scale)
    if any(env.truncations.values()):
        return np.zeros_like(points)
    outcome = np.zeros_like(points)
    env.game.result(env.record, points, outcome)
    return cast(npt.NDArray[np.float64], outcome * env.settings.reward_scale)


def check_determinism(env: CardGameEnv, *, matches: int = 10, seed: int = 0) -> None:
    """The same seed and actions give the same observations, rewards and states."""
    first, rng = _copy(env, seed)
    second, _ = _copy(env, seed)
    for _ in range(matches):
        second.reset()
        for turn in random_turns(first, rng):
            for name, array in second.observe(turn.agent).items():
                same = np.array_equal(array, turn.observed[name])
                _demand(same, f"the same seed gives another {name}", turn)
            second.step(turn.action)
        _demand(first.get_state() == second.get_state(), "the same seed ends in another state")


def check_clone_fidelity(env: CardGameEnv, *, matches: int = 10, seed: int = 0) -> None:
    """Clones, restored states and deep copies go on as the original, into the next match."""
    env, rng = _copy(env, seed)
    for _ in range(matches):
        copies: list[CardGameEnv] = []
        pause = int(rng.integers(1, 12))
        for count, turn in enumerate(random_turns(env, rng), start=1):
            if count == pause:
                restored, _ = _copy(env, seed + 1)
                restored.set_state(env.get_state())
                copies = [env.clone(), restored, copy.deepcopy(env)]
            for twin in copies:
                _demand(twin.agent_selection == turn.agent, "a copy has another player", turn)
                twin.step(turn.action)
        state = env.get_state()
        for twin in copies:
            _demand(twin.get_state() == state, "a copy ended in another state")
        env.reset()
        for twin in copies:
            twin.reset()
            _demand(twin.get_state() == env.get_state(), "a copy deals another next match")


def check_learner(env: Any, *, matches: int = 10, seed: int = 0) -> None:
    """The Gymnasium environment: masks, spaces, and all reward reaches the learner."""
    base = env.unwrapped
    rng = np.random.default_rng(seed)
    for match in range(matches):
        observed, info = env.reset(seed=seed if match == 0 else None)
        beginning = _equity(base.aec)
        total, over = 0.0, False
        while not over:
            mask = base.action_masks()
            # A match may be over before the learner is asked: any action then fetches what it paid.
            asked = not _over(base.aec)
            _demand(bool(mask.any()) == asked, "the learner has no legal action")
            _demand(np.array_equal(mask, info["action_mask"]), "info does not mirror the mask")
            _demand(base.observation_space.contains(observed), "observation outside its space")
            action = int(rng.choice(np.flatnonzero(mask))) if asked else 0
            observed, reward, terminated, truncated, info = env.step(action)
            total += reward
            over = terminated or truncated
        expected = _expected_rewards(base.aec, beginning)[info["seat"]]
        _demand(
            bool(np.isclose(total, expected)),
            f"the learner got {total}, the pad says {expected}",
        )
        _demand(not base.action_masks().any(), "mask after the match")
