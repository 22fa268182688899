"""The PettingZoo AEC adapter, written once for every game.

`CardGameEnv` is a bare environment: an illegal action raises `IllegalActionError` and changes
nothing. `Referee` is the one wrapper around it: it enforces the order of calls and turns an
illegal action into a forfeit.
"""

from __future__ import annotations

import copy
import hashlib
import math
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar, cast

import gymnasium.error
import gymnasium.logger
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper

from poke_env import engine, observation, streams
from poke_env._checks import as_integer, check_integer, shown
from poke_env._records import record_dtype
from poke_env.games.base import MATCHES, Game
from poke_env.options import ResetOptions, parse_options

Observation = dict[str, npt.NDArray[Any]]

RENDER_MODES = ("human", "ansi", "rgb_array")

_SET_BY_RESET = frozenset(
    {"agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations",
     "infos", "_shown", "_over", "num_agents", "score_sheet", "record", "deck"}
)  # fmt: skip


class IllegalActionError(ValueError):
    """An action that is not legal now, lies outside the space, or is no integer."""


class NotResetError(AttributeError, gymnasium.error.ResetNeeded):
    """Something was asked of an environment before `reset()`."""


class CardGameEnv(AECEnv[str, Observation, int | None]):
    """A match of a card game as a bare AEC environment.

    Args:
        match: unit of play that ends the episode, one of the game's matches.
        reward: `"points"` (zero-sum, paid after each deal) or `"win"` (1, -1 or 0 at the end; a
            match that is cut by `max_deals` pays 0).
        rules: a preset's name or the game's `Rules`.
        render_mode: None, `"ansi"` (text), `"rgb_array"` (uint8 (H, W, 3)) or `"human"` (printed
            to the terminal at every step).
        max_deals: a longer match is truncated after so many deals; None is no limit.
        below_value: what a point below the line counts where the deal is the match.
        reward_scale: every reward is multiplied by it, forfeits included.
        illegal_penalty: what a forfeit costs; by default 1000 times `reward_scale`, 1 with "win".
        render_view: whose hands `render` shows: None (the player to move), an agent or `"all"`.

    Raises:
        ValueError: naming the argument, the value and what is allowed.
    """

    game: ClassVar[Game]
    metadata: dict[str, Any]

    def __init__(
        self,
        match: str = "rubber",
        reward: str = "points",
        rules: Any = "standard",
        render_mode: str | None = None,
        *,
        max_deals: int | None = None,
        below_value: float = 50.0,
        reward_scale: float = 1.0,
        illegal_penalty: float | None = None,
        render_view: str | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        game = self.game
        self.metadata = {
            "name": f"{game.name}_v{game.version}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 1,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(game.seats)]
        self.match = match
        self.reward = reward
        self.rules = game.rules_named(rules)
        self.max_deals = check_integer("max_deals", max_deals, 1, 2**31 - 1, or_none=True)
        self.below_value = _check_number("below_value", below_value)
        self.reward_scale = _check_number("reward_scale", reward_scale, above=0.0)
        if illegal_penalty is None:
            illegal_penalty = 1.0 if reward == "win" else 1000.0 * self.reward_scale
        self.illegal_penalty = _check_number("illegal_penalty", illegal_penalty, least=0.0)
        if render_mode is not None:
            game.one_of("render_mode", render_mode, RENDER_MODES)
        self.render_mode = render_mode
        if render_view is not None:
            game.one_of("render_view", render_view, ("all", *self.possible_agents))
        self.render_view = render_view

        row = np.zeros(1, engine.row_dtype(game))
        self.rules.write(row["state"]["rules"][0])
        game.one_of("match", match, game.matches)
        row["state"]["match"] = MATCHES.index(match)
        row["state"]["winner"] = -1
        row["settings"]["reward"] = game.one_of("reward", reward, game.rewards)
        row["settings"]["max_deals"] = self.max_deals or 0
        row["settings"]["below_value"] = self.below_value
        row["settings"]["reward_scale"] = self.reward_scale
        self._template = row
        self._rows = row.copy()
        self._pack = np.array(game.pack(self.rules), np.int8)
        self._num_actions = game.num_actions(self.rules)
        self._observations = np.zeros((1, observation.length(game)), np.float32)
        self._masks = np.zeros((1, self._num_actions), np.int8)
        self._no_actions = np.zeros(self._num_actions, np.int8)
        self._no_actions.flags.writeable = False
        self._decks = np.zeros((1, 0, len(self._pack)), np.int8)
        self._identity = _identity(game, self)
        self._seeded = False
        self._observation_spaces: dict[str, spaces.Space[Any]] = {}
        self._action_spaces: dict[str, spaces.Space[Any]] = {}
        self._bind()

    def _bind(self) -> None:
        """Views into the row, which copies of the environment have to take anew."""
        self._bytes = self._rows.view(np.uint8)
        self._position = self._rows["state"].view(np.uint8)
        self._reward = self._rows["reward"][0]
        self._observation = self._observations[0]
        self._mask = self._masks[0]
        # One number is read and written faster through a memoryview than through an array.
        self._action = memoryview(cast(Any, self._rows["action"]))
        self._player = memoryview(cast(Any, self._rows["player"]))
        self._events = memoryview(cast(Any, self._rows["events"]))
        self._legality = memoryview(cast(Any, self._mask))

    def __getattr__(self, name: str) -> Any:
        if name in _SET_BY_RESET:
            what = "the match" if name.startswith("_") else name
            raise NotResetError(f"{what} is not there yet: call reset() first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # --- spaces -----------------------------------------------------------------------------------

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Dict of `observation` (float32 (F,)) and `action_mask` (int8 (A,)); always the same."""
        if agent not in self._observation_spaces:
            low, high = observation.bounds(self.game)
            self._seat(agent)
            self._observation_spaces[agent] = spaces.Dict(
                {
                    "observation": spaces.Box(low, high, dtype=np.float32),
                    "action_mask": spaces.Box(0, 1, (self._num_actions,), np.int8),
                }
            )
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """`Discrete(A)`; always the same object for an agent."""
        if agent not in self._action_spaces:
            self._seat(agent)
            self._action_spaces[agent] = spaces.Discrete(self._num_actions)
        return self._action_spaces[agent]

    def _seat(self, agent: str) -> int:
        if agent not in self.possible_agents:
            raise ValueError(
                f"agent must be one of {', '.join(self.possible_agents)}, got {agent!r}"
            )
        return self.possible_agents.index(agent)

    # --- the match --------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match.

        Args:
            seed: a number restarts the stream of decks, None goes on with it.
            options: `deck` (a full deck order or its beginning, for the first deal) or `decks`
                (one for each coming deal), `dealer` (0 or 1), `score` (a score to start from).

        Raises:
            ValueError: naming the field; the match goes on as it was.
        """
        seed = streams.check_seed(seed)
        chosen = parse_options(self.game, self.rules, self._template[0]["state"], options)
        stream = self._rows["stream"].copy()
        if seed is not None or not self._seeded:
            stream["key"][0] = streams.seed_words(seed)
            stream["match"] = 0
        else:
            stream["match"] += 1
        self._seeded = True
        self._begin(stream, chosen)

    def _begin(self, stream: npt.NDArray[np.void], chosen: ResetOptions) -> None:
        self._rows[:] = self._template
        self._rows["stream"] = stream
        if chosen.score is not None:
            self.game.place_score(self._rows[0]["state"], chosen.score)
        self._decks = self._complete(stream[0], chosen.decks)
        self._finished: list[bytes] = []
        self._over = False
        self._forfeited = -1
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._deal(chosen.dealer)
        self._select(self.possible_agents[self._player[0]])
        if self.render_mode == "human":
            self.render()

    def _complete(self, stream: np.void, decks: tuple[tuple[int, ...], ...]) -> Any:
        """Deck orders int8 (1, K, C) from their beginnings; the rest comes from the stream."""
        size = len(self._pack)
        orders = np.empty((1, len(decks), size), np.int8)
        for index, beginning in enumerate(decks):
            order = self._pack.copy()
            streams.shuffle_deck(stream, index + 1, order, size)
            rest = [card for card in order if card not in beginning]
            orders[0, index] = [*beginning, *rest]
        return orders

    def _deal(self, dealer: int = -1) -> None:
        engine.deal(self._rows, self._decks, self._pack, dealer, self._observations, self._masks)

    def _select(self, agent: str) -> None:
        """Give the turn to `agent`, whose observation and mask stand in the buffers."""
        self.agent_selection = agent
        self._shown: str | None = agent
        self.infos = {other: {"action_mask": self._no_actions} for other in self.possible_agents}
        self.infos[agent]["action_mask"] = self._mask.copy()

    def step(self, action: int | None) -> None:
        """Carry out the action of `agent_selection`; `None` removes a seat whose match is over.

        Raises:
            IllegalActionError: the action is illegal; nothing has changed.
            ValueError: an action for a seat whose match is over; nothing has changed.
            NotResetError: before `reset`.
        """
        agent = self.agent_selection
        if self._over:
            self._leave(action)
            return
        number = as_integer(action)
        if number is None or not self._allows(number):
            raise self._illegal(action)
        self._action[0] = number
        eventful = engine.step(self._rows, self._observations, self._masks)
        if self._cumulative_rewards[agent]:
            self._cumulative_rewards[agent] = 0.0
        if self._paid:
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self._paid = False
        if eventful:
            self._finish_deal(self._events[0])
        if not self._over:
            selected = self.possible_agents[self._player[0]]
            self.agent_selection = selected
            self._shown = selected
            infos = self.infos
            if selected is not agent:
                infos[agent] = {"action_mask": self._no_actions}
            infos[selected] = {"action_mask": self._mask.copy()}
        if self.render_mode == "human":
            self.render()

    _paid = False
    """Whether `rewards` holds anything but zeros."""

    def _finish_deal(self, events: int) -> None:
        self._finished.append(self._position.tobytes())
        self._pay(self._reward.tolist())
        if events & (engine.TERMINATED | engine.TRUNCATED):
            self._end(truncated=not events & engine.TERMINATED)
        else:
            self._deal()

    def _pay(self, rewards: list[float]) -> None:
        self.rewards = dict(zip(self.possible_agents, rewards, strict=True))
        self._paid = True
        for agent, reward in self.rewards.items():
            self._cumulative_rewards[agent] += reward

    def _end(self, *, truncated: bool) -> None:
        self._over = True
        self._shown = None
        self.terminations = dict.fromkeys(self.agents, not truncated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self.infos = {agent: {"action_mask": self._no_actions} for agent in self.agents}
        self.agent_selection = self.agents[0]

    def _leave(self, action: Any) -> None:
        """Remove the selected seat of a match that is over; without seats left, do nothing."""
        if action is not None:
            raise ValueError(f"the match is over, so the only action is None, got {shown(action)}")
        if not self.agents:
            return
        agent = self.agents.pop(self.agents.index(self.agent_selection))
        for values in (self.rewards, self._cumulative_rewards, self.terminations,
                       self.truncations, self.infos):  # fmt: skip
            del values[agent]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._paid = False
        if self.agents:
            self.agent_selection = self.agents[0]

    def forfeit(self) -> None:
        """End the match against the player to move, who pays `illegal_penalty` to the others."""
        if self._over:
            raise ValueError("the match is over already: there is nothing to forfeit")
        seat = self._seat(self.agent_selection)
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._forfeited = seat
        gain = self.illegal_penalty / (self.game.seats - 1)
        rewards = [gain] * self.game.seats
        rewards[seat] = -self.illegal_penalty
        self._pay(rewards)
        self._end(truncated=False)
        self._mark_forfeit()

    def _mark_forfeit(self) -> None:
        if self._forfeited >= 0:
            for info in self.infos.values():
                info["illegal_action"] = True
                info["forfeited_by"] = self.possible_agents[self._forfeited]

    def _illegal(self, action: Any) -> IllegalActionError:
        legal = np.flatnonzero(self._mask).tolist()
        return IllegalActionError(
            f"action {shown(action)} is illegal for {self.agent_selection}; legal are {legal}"
        )

    # --- what can be seen -------------------------------------------------------------------------

    def observe(self, agent: str) -> Observation:
        """What `agent` may know, and the mask of its legal actions (all zero off its turn).

        Returns:
            `{"observation": float32 (F,), "action_mask": int8 (A,)}`, arrays of one's own.
        """
        if agent == self._shown:
            return {"observation": self._observation.copy(), "action_mask": self._mask.copy()}
        seen = np.empty_like(self._observations)
        engine.observe(self._rows, self._seat(agent), seen)
        return {"observation": seen[0], "action_mask": np.zeros(self._num_actions, np.int8)}

    @property
    def record(self) -> np.void:
        """The position now, a read-only record of the game's state; its bytes are its key."""
        self.agent_selection  # noqa: B018  raises before reset
        return cast(np.void, np.frombuffer(self._position.tobytes(), self.game.state)[0])

    @property
    def deck(self) -> list[int]:
        """The order of the pack in the deal going on, as card numbers."""
        self.agent_selection  # noqa: B018  raises before reset
        return cast(list[int], self._rows["deck"][0, : len(self._pack)].tolist())

    @property
    def score_sheet(self) -> Any:
        """The pad: running score and all finished deals, by player."""
        dtype = self.game.state
        return self.game.score_sheet(
            self.record, [np.frombuffer(end, dtype)[0] for end in self._finished]
        )

    def action_to_text(self, action: int) -> str:
        """What a legal action of the player to move says, such as "lead Ks Kh"."""
        return self.game.action_text(self.record, self._legal(action))

    def text_to_action(self, text: str) -> int:
        """The action of the player to move that a text stands for.

        Raises:
            ValueError: if the text is not understood or the action not legal now.
        """
        if self._over:
            raise self._illegal(text)
        return self._legal(self.game.parse_action(self.record, text))

    def _legal(self, action: Any) -> int:
        number = as_integer(action)
        if self._over or number is None or not self._allows(number):
            raise self._illegal(action)
        return number

    def _allows(self, action: int) -> bool:
        return 0 <= action < self._num_actions and self._legality[action] != 0

    def render(self) -> Any:
        """Show the table to the player to move, or as `render_view` says.

        Returns:
            Text (`"ansi"`), uint8 (H, W, 3) (`"rgb_array"`), or None.
        """
        player = self.agent_selection
        if self.render_mode is None:
            gymnasium.logger.warn(
                "render() was called, but this environment was made without a render_mode; "
                f"choose one of {', '.join(RENDER_MODES)}"
            )
            return None
        return self.picture(self.render_mode, self.render_view or player)

    def picture(self, mode: str, view: str) -> Any:
        """The table in a render mode, with the hands that `view` (an agent or `"all"`) may see."""
        from poke_env import render

        seats = range(self.game.seats) if view == "all" else [self._seat(view)]
        return render.show(self.game.table(self.record, frozenset(seats)), mode)

    def close(self) -> None:
        """Nothing is held open; closing twice is fine."""

    # --- save, restore, copy ----------------------------------------------------------------------

    def get_state(self) -> bytes:
        """The whole match: position, decks, stream, finished deals, rewards not yet fetched."""
        book = np.zeros(1, _book_dtype(self.game.seats))
        book["selected"] = self._seat(self.agent_selection)
        book["forfeited"] = self._forfeited
        book["over"] = self._over
        book["truncated"] = self._over and any(self.truncations.values())
        book["finished"] = len(self._finished)
        book["decks"] = self._decks.shape[1]
        for seat, agent in enumerate(self.possible_agents):
            if agent in self.rewards:
                book["present"][0, seat] = True
                book["rewards"][0, seat] = self.rewards[agent]
                book["cumulative"][0, seat] = self._cumulative_rewards[agent]
        parts = [self._identity, book.tobytes(), self._rows.tobytes(), self._decks.tobytes()]
        state = b"".join(parts + self._finished)
        return state + _checksum(state)

    def set_state(self, state: bytes) -> None:
        """Go on from what `get_state` gave.

        Raises:
            ValueError: if it is damaged or comes from other rules, match, reward or version; the
                match goes on as it was.
        """
        identity = self._identity
        book_dtype = _book_dtype(self.game.seats)
        least = len(identity) + book_dtype.itemsize + _CHECKSUM_SIZE
        if not isinstance(cast(Any, state), bytes) or len(state) < least:
            raise ValueError("state must be bytes that get_state returned")
        for index, name in enumerate(_IDENTITY):
            part = slice(8 * index, 8 * index + 8)
            if state[part] != identity[part]:
                raise ValueError(f"state comes from an environment of other {name}")
        state, checksum = state[:-_CHECKSUM_SIZE], state[-_CHECKSUM_SIZE:]
        if checksum != _checksum(state):
            raise ValueError("state is damaged: its checksum does not fit")
        offset = len(identity)
        book = np.frombuffer(state, book_dtype, 1, offset)[0]
        offset += book_dtype.itemsize
        rows_end = offset + self._rows.nbytes
        decks_end = rows_end + int(book["decks"]) * len(self._pack)
        end = decks_end + int(book["finished"]) * self.game.state.itemsize
        if end != len(state):
            raise ValueError(f"state is damaged: it has {len(state)} bytes, but tells of {end}")
        self._bytes[:] = np.frombuffer(state, np.uint8, rows_end - offset, offset)
        self._decks = (
            np.frombuffer(state[rows_end:decks_end], np.int8).reshape(1, -1, len(self._pack)).copy()
        )
        size = self.game.state.itemsize
        self._finished = [state[at : at + size] for at in range(decks_end, end, size)]
        self._seeded = True
        self._restore(book)

    def _restore(self, book: np.void) -> None:
        seats = [seat for seat in range(self.game.seats) if book["present"][seat]]
        self.agents = [self.possible_agents[seat] for seat in seats]
        names = dict(zip(self.agents, seats, strict=True))
        self.rewards = {agent: float(book["rewards"][seat]) for agent, seat in names.items()}
        self._paid = any(self.rewards.values())
        self._cumulative_rewards = {
            agent: float(book["cumulative"][seat]) for agent, seat in names.items()
        }
        self._forfeited = int(book["forfeited"])
        self._over = bool(book["over"])
        selected = self.possible_agents[int(book["selected"])]
        if self._over:
            if self.agents:
                self._end(truncated=bool(book["truncated"]))
            else:
                self.terminations, self.truncations, self.infos = {}, {}, {}
            self.agent_selection = selected
            self._shown = None
            self._mark_forfeit()
        else:
            self.terminations = dict.fromkeys(self.agents, False)
            self.truncations = dict.fromkeys(self.agents, False)
            engine.show(self._rows, self._observations, self._masks)
            self._select(selected)

    def clone(self) -> CardGameEnv:
        """An independent bare environment in the same state, stream included."""
        twin = copy.copy(self)
        twin._rows = np.empty_like(self._rows)
        twin._observations = self._observations.copy()
        twin._masks = self._masks.copy()
        twin._observation_spaces = {}
        twin._action_spaces = {}
        twin._bind()
        twin._bytes[:] = self._bytes
        if "agents" in self.__dict__:
            twin._finished = self._finished[:]
            twin.agents = self.agents[:]
            twin.rewards = dict(self.rewards)
            twin._cumulative_rewards = dict(self._cumulative_rewards)
            twin.terminations = dict(self.terminations)
            twin.truncations = dict(self.truncations)
            twin.infos = {
                agent: {**info, "action_mask": info["action_mask"].copy()}
                for agent, info in self.infos.items()
            }
        return twin

    def __getstate__(self) -> dict[str, Any]:
        views = {"_bytes", "_position", "_reward", "_observation", "_mask", "_action", "_player",
                 "_events", "_legality"}  # fmt: skip
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()


_IDENTITY = ("version", "rules", "match", "reward settings")


def _identity(game: Game, env: CardGameEnv) -> bytes:
    """Eight bytes for each thing that two environments must share to exchange states."""
    parts = (
        (game.name, game.version, str(game.state)),
        env.rules.as_dict(),
        env.match,
        (env.reward, env.below_value, env.reward_scale, env.max_deals),
    )
    return b"".join(hashlib.blake2b(repr(part).encode(), digest_size=8).digest() for part in parts)


_CHECKSUM_SIZE = 8


def _checksum(state: bytes) -> bytes:
    return hashlib.blake2b(state, digest_size=_CHECKSUM_SIZE).digest()


@cache
def _book_dtype(seats: int) -> np.dtype[np.void]:
    """What an environment knows beside its row."""
    return record_dtype(
        ("rewards", np.float64, (seats,)),
        ("cumulative", np.float64, (seats,)),
        ("finished", np.int32),
        ("decks", np.int32),
        ("present", np.bool_, (seats,)),
        ("selected", np.int8),
        ("forfeited", np.int8),
        ("over", np.bool_),
        ("truncated", np.bool_),
    )


def _check_number(
    name: str, value: Any, *, least: float = -math.inf, above: float = -math.inf
) -> float:
    if (
        isinstance(value, (int, float, np.integer, np.floating))
        and not isinstance(value, bool)
        and -sys.float_info.max <= value <= sys.float_info.max
        and value >= least
        and value > above
    ):
        return float(value)
    limit = ""
    if least > -math.inf:
        limit = f" of at least {least:g}"
    if above > -math.inf:
        limit = f" above {above:g}"
    raise ValueError(f"{name} must be a finite number{limit}, got {value!r}")


class Referee(BaseWrapper[str, Observation, int | None]):
    """Enforces the order of calls and ends a match in which an illegal action was made.

    The offender gets `-illegal_penalty` and the other exactly the opposite; all `terminations` are
    True, `truncations` False, and every `info` holds `illegal_action` True and `forfeited_by`.
    """

    def __init__(self, env: CardGameEnv) -> None:
        super().__init__(env)
        self._stepped = False

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """See `CardGameEnv.reset`."""
        self.env.reset(seed, options)
        self._stepped = True

    def step(self, action: int | None) -> None:
        """Carry out the action; an illegal one forfeits the match."""
        self._stepped = True
        try:
            self.env.step(action)
        except IllegalActionError:
            self.env.forfeit()  # type: ignore[attr-defined]

    def last(self, observe: bool = True) -> Any:
        """Observation, reward since its last turn, termination, truncation, info of the player."""
        return self.env.last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:  # type: ignore[override]
        """Yield the player to move until the match is over; every turn must call `step`."""
        self.env.agent_selection  # noqa: B018  raises before reset
        self._stepped = True
        return self._turns(max_iter)

    def _turns(self, max_iter: int) -> Iterator[str]:
        env = self.env
        while env.agents and max_iter > 0:
            if not self._stepped:
                raise gymnasium.error.Error(
                    "agent_iter went on without step() or reset(): act on every turn"
                )
            self._stepped = False
            max_iter -= 1
            yield env.agent_selection

    def __str__(self) -> str:
        return str(self.env)
