"""The PettingZoo AEC adapter, written once for every game.

`CardGameEnv` is a bare environment: an illegal action raises `IllegalActionError` and changes
nothing. `Referee` is the one wrapper around it: it enforces the order of calls and turns an
illegal action into a forfeit.
"""

from __future__ import annotations

import copy
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
from poke_env._checks import as_integer, shown
from poke_env._records import record_dtype
from poke_env.games.base import Game
from poke_env.options import parse_options
from poke_env.settings import Settings, checksum

Observation = dict[str, npt.NDArray[Any]]

RENDER_MODES = ("human", "ansi", "rgb_array")

_SET_BY_RESET = frozenset(
    {"agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations",
     "infos", "_shown", "_over", "num_agents", "score_sheet", "record", "deck",
     "finished"}
)  # fmt: skip


class IllegalActionError(ValueError):
    """An action that is not legal now, lies outside the space, or is no integer."""


class NotResetError(AttributeError, gymnasium.error.ResetNeeded):
    """Something was asked of an environment before `reset()`."""


class CardGameEnv(AECEnv[str, Observation, int | None]):
    """A match of a card game as a bare AEC environment.

    Args:
        match, reward, rules, **settings: as for `poke_env.settings.Settings`.
        render_mode: None, `"ansi"` (text), `"rgb_array"` (uint8 (H, W, 3)) or `"human"` (printed
            to the terminal at every step).
        render_view: whose hands `render` shows: None (the player to move), an agent or `"all"`.

    Raises:
        ValueError: naming the argument, the value and what is allowed.
    """

    game: ClassVar[Game]
    metadata: dict[str, Any]

    def __init__(
        self,
        match: str | None = None,
        reward: str = "points",
        rules: Any = "standard",
        render_mode: str | None = None,
        *,
        render_view: str | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        game = self.game
        self.metadata = {
            "name": f"{game.name}_v{game.version}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 1,
        }
        self.settings = Settings(game, match, reward, rules, **settings)
        self.possible_agents = [f"player_{seat}" for seat in range(self.settings.players)]
        if render_mode is not None:
            game.one_of("render_mode", render_mode, RENDER_MODES)
        self.render_mode = render_mode
        if render_view is not None:
            game.one_of("render_view", render_view, ("all", *self.possible_agents))
        self.render_view = render_view
        self._rows = self.settings.template.copy()
        self._observations = np.zeros((1, observation.length(game)), np.float32)
        self._masks = np.zeros((1, self.settings.num_actions), np.int8)
        self._no_actions = np.zeros(self.settings.num_actions, np.int8)
        self._no_actions.flags.writeable = False
        self._decks = np.zeros((1, 0, len(self.settings.pack)), np.int8)
        self._seeded = False
        self._observation_spaces: dict[str, spaces.Space[Any]] = {}
        self._action_spaces: dict[str, spaces.Space[Any]] = {}
        self._bind()

    @property
    def match(self) -> str:
        """The unit of play that ends the episode."""
        return str(self.settings.match)

    @property
    def rules(self) -> Any:
        """The game's `Rules`."""
        return self.settings.rules

    def _bind(self) -> None:
        """Views into the row, which copies of the environment have to take anew."""
        self._bytes = self._rows.view(np.uint8)
        self._states = self._rows["state"]
        self._position = self._states.view(np.uint8)
        self._reward = self._rows["reward"][0]
        self._observation = self._observations[0]
        self._mask = self._masks[0]
        self._equity = self.settings.equity
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
                    "action_mask": spaces.Box(0, 1, (self.settings.num_actions,), np.int8),
                }
            )
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """`Discrete(A)`; always the same object for an agent."""
        if agent not in self._action_spaces:
            self._seat(agent)
            self._action_spaces[agent] = spaces.Discrete(self.settings.num_actions)
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
                (one for each coming deal), `dealer` (a seat, from 0), `score` (a score to start
                from), `skip` (how many matches of the stream are left out).

        Raises:
            ValueError: naming the field; the match goes on as it was.
        """
        seed = streams.check_seed(seed)
        chosen = parse_options(self.settings, options)
        stream = self._rows["stream"].copy()
        if seed is not None or not self._seeded:
            stream["key"][0] = streams.seed_words(seed)
            stream["match"] = 0
        else:
            stream["match"] += 1
        stream["match"] += chosen.skip
        self._seeded = True
        self._rows[:] = self.settings.template
        self._rows["stream"] = stream
        engine.begin(self._rows, self.settings.starts)
        self._decks = chosen.place(self._rows, self.settings)
        self._finished: list[bytes] = []
        self._over = False
        self._forfeited = -1
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._deal()
        self._select(self.possible_agents[self._player[0]])
        if self.render_mode == "human":
            self.render()

    def _deal(self) -> None:
        engine.deal(
            self._rows,
            self._decks,
            self.settings.pack,
            self.settings.equity,
            self._observations,
            self._masks,
        )

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
        eventful = engine.step(self._rows, self._equity, self._observations, self._masks)
        if self._cumulative_rewards[agent]:
            self._cumulative_rewards[agent] = 0.0
        if self._paid:
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self._paid = False
        if eventful:
            self._settle(self._events[0])
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

    def _settle(self, events: int) -> None:
        self._pay(self._reward[: len(self.possible_agents)].tolist())
        if not events & engine.DEAL_ENDED:
            return
        self._finished.append(self._position.tobytes())
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
        engine.forfeit(self._rows)
        self._pay(self._reward[: len(self.possible_agents)].tolist())
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
        engine.observe(self._states, np.array([self._seat(agent)], np.int8), seen)
        return {"observation": seen[0], "action_mask": self._no_actions.copy()}

    @property
    def record(self) -> np.void:
        """The position now, a read-only record of the game's state; its bytes are its key."""
        self.agent_selection  # noqa: B018  raises before reset
        return cast(np.void, np.frombuffer(self._position.tobytes(), self.game.state)[0])

    @property
    def deck(self) -> list[int]:
        """The order of the pack in the deal going on, as card numbers."""
        self.agent_selection  # noqa: B018  raises before reset
        return cast(list[int], self._rows["deck"][0, : len(self.settings.pack)].tolist())

    @property
    def score_sheet(self) -> Any:
        """The pad: running score and all finished deals, by player."""
        return self.game.score_sheet(self.record, self.finished)

    @property
    def finished(self) -> list[np.void]:
        """The positions in which the deals so far ended, read-only records."""
        self.agent_selection  # noqa: B018  raises before reset
        return [np.frombuffer(end, self.game.state)[0] for end in self._finished]

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
        return 0 <= action < len(self._no_actions) and self._legality[action] != 0

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

        seats = range(self.settings.players) if view == "all" else [self._seat(view)]
        return render.show(self.game.table(self.record, frozenset(seats)), mode)

    def close(self) -> None:
        """Nothing is held open; closing twice is fine."""

    # --- save, restore, copy ----------------------------------------------------------------------

    def get_state(self) -> bytes:
        """The whole match: position, decks, stream, finished deals, rewards not yet fetched."""
        book = np.zeros(1, _book_dtype(self.settings.players))
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
        parts = [
            self.settings.identity,
            book.tobytes(),
            self._rows.tobytes(),
            self._decks.tobytes(),
        ]
        state = b"".join(parts + self._finished)
        return state + checksum(state)

    def set_state(self, state: bytes) -> None:
        """Go on from what `get_state` gave.

        Raises:
            ValueError: if it is damaged or comes from other rules, match, reward or version; the
                match goes on as it was.
        """
        book_dtype = _book_dtype(self.settings.players)
        state = self.settings.checked_state(state, book_dtype.itemsize)
        offset = len(self.settings.identity)
        book = np.frombuffer(state, book_dtype, 1, offset)[0]
        offset += book_dtype.itemsize
        rows_end = offset + self._rows.nbytes
        decks_end = rows_end + int(book["decks"]) * len(self.settings.pack)
        end = decks_end + int(book["finished"]) * self.game.state.itemsize
        if end != len(state):
            raise ValueError(f"state is damaged: it has {len(state)} bytes, but tells of {end}")
        self._bytes[:] = np.frombuffer(state, np.uint8, rows_end - offset, offset)
        self._rows["settings"] = self.settings.template["settings"]
        decks = np.frombuffer(state[rows_end:decks_end], np.int8)
        self._decks = decks.reshape(1, -1, len(self.settings.pack)).copy()
        size = self.game.state.itemsize
        self._finished = [state[at : at + size] for at in range(decks_end, end, size)]
        self._seeded = True
        self._restore(book)

    def _restore(self, book: np.void) -> None:
        seats = [seat for seat in range(self.settings.players) if book["present"][seat]]
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
        views = {"_bytes", "_states", "_position", "_reward", "_observation", "_mask", "_equity",
                 "_action", "_player", "_events", "_legality"}  # fmt: skip
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()


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


class Referee(BaseWrapper[str, Observation, int | None]):
    """Enforces the order of calls and ends a match in which an illegal action was made.

    The offender gets `-illegal_penalty`, and the others share exactly that; all `terminations` are
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
