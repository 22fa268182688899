"""Players by game and name. They see observations, never an environment.

`make` builds a player, `names` lists those that need no argument, and `load` understands what
stands on a command line: a name, a model file, or a factory of one's own. Arguments follow a name
behind dashes, in their order: `pimc-16` is `make("pimc", samples=16)`, and `pimc-64-never_double`
is `make("pimc", samples=64, draws="never_double")`. A name may stand for another player in every
game: `make("greedy", game="poque")`. The game is Poke where nothing is said.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from poke_env import games
from poke_env.agent import Agent, as_agent
from poke_env.games.base import Game

__all__ = ["DEFAULT_GAME", "load", "make", "names"]


class _Entry(NamedTuple):
    """Where a player's class stands, and the arguments that make it the player of this name."""

    target: str
    preset: Mapping[str, Any] = {}
    listed: bool = True


_MODELS = Path(__file__).parent / "models"
"""Trained networks that come along; each says how it was made."""


def _apprentice(game: str) -> _Entry:
    path = _MODELS / f"{game}_apprentice.safetensors"
    return _Entry("agents.network:NetworkAgent", {"path": path, "game": game}, listed=False)


_OWN = {
    "poke": {
        "greedy": _Entry("agents.greedy:GreedyAgent"),
        "heuristic": _Entry("agents.heuristic:HeuristicAgent"),
        "never_double": _Entry("agents.heuristic:HeuristicAgent", {"doubling": "never"}),
        "always_double": _Entry("agents.heuristic:HeuristicAgent", {"doubling": "always"}),
        "blind_heuristic": _Entry("agents.blind:BlindAgent", {"player": "heuristic"}, listed=False),
        "pimc": _Entry("agents.pimc:PimcAgent", {"depth": 1}),
        "alphamu": _Entry("agents.pimc:PimcAgent", {"depth": 2}),
        "equilibrium_search": _Entry(
            "agents.pimc:PimcAgent", {"draws": "equilibrium", "worth": "equity", "depth": 2}
        ),
        "equilibrium": _Entry("agents.equilibrium:EquilibriumAgent"),
        "equilibrium_fixed": _Entry("agents.blind:BlindAgent", {"player": "equilibrium"}),
        "apprentice": _apprentice("poke"),
        "human": _Entry("agents.human:HumanAgent", listed=False),
    },
    "pokex": {
        "greedy": _Entry("agents.pokex:GreedyAgent"),
        "heuristic": _Entry("agents.pokex:HeuristicAgent"),
        "apprentice": _apprentice("pokex"),
    },
    "poque": {
        "greedy": _Entry("agents.poque:GreedyAgent"),
        "heuristic": _Entry("agents.poque:HeuristicAgent"),
        "apprentice": _apprentice("poque"),
    },
    "poangpoker": {
        "greedy": _Entry("agents.poangpoker:GreedyAgent"),
        "heuristic": _Entry("agents.poangpoker:HeuristicAgent"),
        "apprentice": _apprentice("poangpoker"),
    },
}
"""By game: the players that it has beside those of every game. Those not listed need an argument or
a person, play by the standard rules alone, or serve one measurement. Modules are imported when
asked."""

DEFAULT_GAME = "poke"

_MODEL_SUFFIX = ".safetensors"


def _entries(game: str | Game) -> Mapping[str, _Entry]:
    """Every player of a game."""
    name = games.named(game).name
    return {
        "random": _Entry("poke_env.agent:RandomAgent"),
        **_OWN.get(name, {}),
        "network": _Entry("agents.network:NetworkAgent", {"game": name}, listed=False),
    }


def names(game: str | Game = DEFAULT_GAME) -> tuple[str, ...]:
    """The players of a game that need no argument, in families, from the weakest idea to the best.

    Raises:
        ValueError: for an unknown game.
    """
    return tuple(name for name, entry in _entries(game).items() if entry.listed)


def make(
    name: str, seed: int | None = 0, *, game: str | Game = DEFAULT_GAME, **arguments: Any
) -> Agent:
    """Build the player called `name`.

    Args:
        name: one of `names(game)`, `"apprentice"` (a trained network, for the standard rules),
            `"network"` (which needs `path=`), or in Poke `"blind_heuristic"` or `"human"` (in every
            game `training.play` seats a person).
        seed: of the player's own stream, used where the caller passes no keys.
        game: that it is to play.
        arguments: further arguments of the player.

    Raises:
        ValueError: if the name, the game or an argument is unknown or wrong; it names what is
            allowed.
    """
    entries = _entries(game)
    if name not in tuple(entries):  # a tuple also takes what cannot be a key
        raise ValueError(f"agent must be one of {', '.join(entries)}, got {name!r}")
    entry = entries[name]
    factory = _factory(entry)
    _check_arguments(name, factory, arguments, entry.preset)
    agent: Agent = factory(seed=seed, **entry.preset, **arguments)
    return agent


def _factory(entry: _Entry) -> Any:
    module, _, attribute = entry.target.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _check_arguments(
    name: str, factory: Any, arguments: Mapping[str, Any], preset: Mapping[str, Any]
) -> None:
    parameters = inspect.signature(factory).parameters
    allowed = _arguments(factory, preset)
    unknown = [argument for argument in arguments if argument not in allowed]
    if unknown:
        raise ValueError(
            f"agent {name!r} takes no argument {', '.join(unknown)}; "
            f"allowed are {', '.join(['seed', *allowed])}"
        )
    for parameter in allowed:
        if parameters[parameter].default is inspect.Parameter.empty and parameter not in arguments:
            raise ValueError(f"agent {name!r} needs the argument {parameter}")


def _arguments(factory: Any, preset: Mapping[str, Any]) -> list[str]:
    """The arguments that can be given, besides the seed."""
    return [name for name in inspect.signature(factory).parameters if name not in {"seed", *preset}]


def load(spec: str, seed: int | None = 0, *, game: str | Game = DEFAULT_GAME) -> Agent:
    """Build the player that a command line names.

    Args:
        spec: a name (see `make`), with arguments behind dashes if need be: `true`, `false` and
            numbers are what they look like, all else is text. Or the path of a model file
            (`*.safetensors`), or `package.module:factory` for one's own: a class or function that
            returns a player and is called with `seed=` if it accepts it. Only name code that you
            trust.
        seed: of the player's own stream.
        game: that it is to play.

    Raises:
        ValueError: in one sentence, what is wrong and what is allowed.
    """
    if spec.endswith(_MODEL_SUFFIX):
        if not Path(spec).is_file():
            raise ValueError(f"model file {spec!r} does not exist")
        return make("network", seed, game=game, path=spec)
    if ":" in spec:
        return _load_factory(spec, seed)
    name, *values = spec.split("-")
    entries, listed = _entries(game), names(game)
    if name not in entries or (values and name not in listed):
        raise ValueError(
            f"agent must be a name ({', '.join(listed)}) with arguments behind dashes if need be, "
            f"a model file (*{_MODEL_SUFFIX}) or package.module:factory, got {spec!r}"
        )
    entry = entries[name]
    arguments = _arguments(_factory(entry), entry.preset)
    if len(values) > len(arguments):
        raise ValueError(
            f"agent {spec!r} has too many arguments behind dashes; {name} takes "
            f"{', '.join(arguments) or 'none'}"
        )
    given = dict(zip(arguments, map(_value, values), strict=False))
    return make(name, seed, game=game, **given)


def _value(text: str) -> bool | int | str:
    """An argument on a command line."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdecimal() else text


def _load_factory(spec: str, seed: int | None) -> Agent:
    module_name, _, attribute = spec.partition(":")
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"agent {spec!r}: module {module_name!r} cannot be imported ({_one_line(error)})"
        ) from error
    factory = getattr(module, attribute, None)
    if not callable(factory):
        offered = [
            name for name, value in vars(module).items() if callable(value) and name[0] != "_"
        ]
        raise ValueError(
            f"agent {spec!r}: module {module_name!r} has no class or function {attribute!r}; "
            f"it has {', '.join(offered) or 'none'}"
        )
    try:
        agent = factory(seed=seed) if _accepts_seed(factory) else factory()
    except (Exception, SystemExit) as error:
        raise ValueError(f"agent {spec!r}: its factory failed ({_one_line(error)})") from error
    try:
        return as_agent(agent)
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: {error}") from None


def _accepts_seed(factory: Any) -> bool:
    try:
        parameters = inspect.signature(factory).parameters
    except ValueError:  # built-in callables may have no signature
        return False
    return "seed" in parameters or any(
        parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()
    )


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
