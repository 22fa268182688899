"""Players by name, by model file and by a factory of one's own."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import gymnasium
import pytest
from lots import LOTS

import agents
import poke_env
from agents.heuristic import HeuristicAgent
from agents.human import HumanAgent
from agents.network import NetworkAgent
from helpers import run_python
from poke_env import games
from poke_env.agent import RandomAgent
from poke_env.observation import length
from training.duplicate import play

NAMES = (
    "random", "greedy", "heuristic", "never_double", "always_double",
    "pimc", "alphamu", "equilibrium_search", "equilibrium", "equilibrium_fixed",
)  # fmt: skip


def test_names_are_the_players_that_need_nothing() -> None:
    assert agents.names() == NAMES
    for name in agents.names():
        assert type(agents.load(name, seed=3)) is type(agents.make(name))


COUSINS = ("pokex", "poque", "poangpoker")


@pytest.mark.parametrize("game", COUSINS)
def test_every_game_has_its_own_players(game: str) -> None:
    assert agents.names(game) == ("random", "greedy", "heuristic")
    assert agents.names(games.named(game)) == agents.names(game)
    for name in agents.names(game):
        made = agents.make(name, game=game)
        assert type(agents.load(name, game=game)) is type(made)
        assert (type(made) is type(agents.make(name))) == (name == "random")
        if name != "random":
            assert made.observation_size == length(games.named(game))  # type: ignore[attr-defined]


def test_one_of_the_lists_of_games_lacks_a_game() -> None:
    doors = [name for name in gymnasium.registry if name.startswith("sackson/")]
    listed = [name.removeprefix("sackson/").partition("-")[0].lower() for name in doors]
    assert listed == list(games._NAMES) == list(agents._OWN) == ["poke", *COUSINS]
    for name in listed:
        assert poke_env.door(name).__name__ == f"poke_env.{name}_v{games.named(name).version}"


def test_players_of_one_idea_have_other_names_in_another_game() -> None:
    for idea, name in (("greedy", "GreedyAgent"), ("heuristic", "HeuristicAgent")):
        assert [type(agents.make(idea, game=game)).__name__ for game in agents._OWN] == [name] * 4


@pytest.mark.parametrize("game", COUSINS)
def test_players_of_a_cousin_import_those_of_another_game(game: str) -> None:
    modules = [*Path(agents.__file__).parent.glob(f"{game}*.py")]
    assert len(modules) > 1
    for module in modules:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith(
                ("agents.", "poke_env.games.")
            ):
                name = str(node.module).rpartition(".")[2]
                assert name == "reading" or name.startswith(game), f"{module.name}: {name}"


def test_arguments_behind_dashes_are_those_of_the_games_player() -> None:
    player = agents.load("heuristic-true-8", game="pokex")
    assert (player.sacrifice, player.samples) == (True, 8)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"^agent 'heuristic-true-8' has too many arguments"):
        agents.load("heuristic-true-8", game="poque")


@pytest.mark.parametrize("game", COUSINS)
def test_a_wrong_name_is_answered_with_the_names_of_the_game(game: str) -> None:
    every = "random, greedy, heuristic, apprentice, network"
    with pytest.raises(ValueError, match=f"must be one of {every}, got"):
        agents.make("pimc", game=game)
    with pytest.raises(ValueError, match=r"a name \(random, greedy, heuristic\) with .* 'pimc-4'"):
        agents.load("pimc-4", game=game)


@pytest.mark.parametrize("game", ["bridge", "", None, 3, ["poke"]])
def test_unknown_games(game: object) -> None:
    for ask in (agents.names, lambda game: agents.load("random", game=game)):
        with pytest.raises(
            ValueError, match=r"^game must be one of 'poke', 'pokex', 'poque', 'poa"
        ):
            ask(game)  # type: ignore[operator]


def test_a_game_made_elsewhere_has_players_of_every_game() -> None:
    assert agents.names(LOTS) == ("random",)
    assert isinstance(agents.load("random", game=LOTS), RandomAgent)


def test_the_ablations_are_the_heuristic_with_one_decision_fixed() -> None:
    doubling = {}
    for name in ("heuristic", "never_double", "always_double"):
        agent = agents.make(name)
        assert isinstance(agent, HeuristicAgent)
        doubling[name] = agent.doubling
    assert doubling == {"heuristic": "free", "never_double": "never", "always_double": "always"}


@pytest.mark.parametrize(
    "spec, name, arguments",
    [
        ("pimc-16", "pimc", {"samples": 16}),
        ("pimc-64-never_double", "pimc", {"samples": 64, "draws": "never_double"}),
        ("pimc-8-greedy-false", "pimc", {"samples": 8, "draws": "greedy", "infer": False}),
        ("alphamu-8-random-true-false", "alphamu", {
            "samples": 8, "draws": "random", "infer": True, "must_beat": False}),
        ("heuristic-never", "heuristic", {"doubling": "never"}),
    ],
)  # fmt: skip
def test_arguments_follow_a_name_behind_dashes(
    spec: str, name: str, arguments: dict[str, object]
) -> None:
    def settings(agent: object) -> dict[str, object]:
        return {key: value for key, value in vars(agent).items() if not key.startswith("_")}

    loaded, made = agents.load(spec, seed=3), agents.make(name, **arguments)
    assert type(loaded) is type(made)
    assert settings(loaded) == settings(made)
    assert settings(loaded).items() >= arguments.items()


def test_a_person_can_be_made() -> None:
    assert isinstance(agents.make("human"), HumanAgent)


@pytest.mark.parametrize("name", ["clever", "Random", "", None, 3, ["random"]])
def test_unknown_names(name: object) -> None:
    with pytest.raises(ValueError, match=r"^agent must be one of random, greedy, .* got "):
        agents.make(name)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name, arguments, message",
    [
        ("greedy", {"depth": 3}, "agent 'greedy' takes no argument depth; allowed are seed"),
        ("never_double", {"doubling": "free"}, "takes no argument doubling; allowed are seed"),
        ("heuristic", {"doubling": "often"}, "doubling must be one of free, never, always"),
        ("network", {}, "agent 'network' needs the argument path"),
        ("random", {"seed": -1}, "seed must be None or an integer of at least 0, got -1"),
    ],
)
def test_wrong_arguments(name: str, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agents.make(name, **arguments)  # type: ignore[arg-type]


FACTORIES = """
    from poke_env.agent import RandomAgent

    class Mine(RandomAgent):
        def __init__(self, seed=0):
            self.seed = seed
            super().__init__(seed)

    def without_seed():
        return Mine(99)

    def with_anything(**arguments):
        return Mine(arguments["seed"])

    def nothing():
        return None

    def the_class():
        return Mine

    def broken(seed):
        raise RuntimeError("no luck\\ntoday")

    NUMBER = 3
"""


@pytest.fixture
def my_players(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_players.py").write_text(textwrap.dedent(FACTORIES))
    (tmp_path / "my_mistake.py").write_text("import a_library_that_is_not_there\n")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("my_players")
@pytest.mark.parametrize("factory, seed", [("Mine", 5), ("without_seed", 99), ("with_anything", 5)])
def test_own_factories(factory: str, seed: int) -> None:
    agent = agents.load(f"my_players:{factory}", seed=5)
    assert agent.seed == seed  # type: ignore[attr-defined]


def test_factories_of_installed_packages() -> None:
    assert isinstance(agents.load("poke_env.agent:RandomAgent"), RandomAgent)


@pytest.mark.usefixtures("my_players")
@pytest.mark.parametrize(
    "spec, message",
    [
        ("clever", r"^agent must be a name \(random, .*, a model file .* or pack.* got 'clever'$"),
        ("nobody.safetensors", r"^model file 'nobody.safetensors' does not exist$"),
        ("no_such_module:Mine", r"module 'no_such_module' cannot be imported \(ModuleNotFound"),
        ("my_mistake:Mine", r"module 'my_mistake' cannot be imported .*a_library_that_is_not_the"),
        ("my_players:Yours", r"has no class or function 'Yours'; it has RandomAgent, Mine, with"),
        ("my_players:NUMBER", r"has no class or function 'NUMBER'"),
        ("my_players:", r"has no class or function ''"),
        (":Mine", r"module '' cannot be imported"),
        ("my_players:nothing", r"a player must have act\(observation, key\).*got None"),
        ("my_players:the_class", r"a player must have act\(observation, key\).*got <class"),
        ("my_players:broken", r"its factory failed \(RuntimeError: no luck today\)$"),
        ("network", r"^agent 'network' needs the argument path$"),
        ("network-3", r"^agent must be a name .* got 'network-3'$"),
        ("greedy-3", r"^agent 'greedy-3' has too many arguments behind dashes; greedy takes none$"),
        ("never_double-free", r"has too many arguments behind dashes; never_double takes none$"),
        ("pimc-x", r"^samples must be an integer from 1 to 100000, got 'x'$"),
        ("pimc-", r"^samples must be an integer from 1 to 100000, got ''$"),
        ("pimc-1-2", r"^draws must be one of heuristic, .*, got 2$"),
    ],
)  # fmt: skip
def test_what_cannot_be_loaded(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agents.load(spec)


def test_a_player_is_imported_when_it_is_asked_for() -> None:
    loaded = run_python(
        "-c",
        "import sys, agents; print(*(name for name in sys.modules if name.startswith('agents.')))",
    )
    assert loaded.strip() == ""


@pytest.mark.parametrize(
    "game, most",
    [("poke", 1_000_000), ("pokex", 1_050_000), ("poque", 1_000_000), ("poangpoker", 1_000_000)],
)
def test_the_apprentice_is_small_and_says_how_it_was_made(game: str, most: int) -> None:
    apprentice = agents.load("apprentice", game=game)
    assert isinstance(apprentice, NetworkAgent)
    assert apprentice.description["game"] == game
    training = apprentice.description["training"]
    assert training["command"].startswith("python -m training.maskable_ppo")
    assert {"seed", "steps", "versions"} <= set(training)
    assert training["curve"][-1]["step"] == training["steps"]
    files = list((Path(agents.__file__).parent / "models").glob(f"{game}_apprentice.*"))
    assert len(files) == 2
    assert sum(file.stat().st_size for file in files) <= most


@pytest.mark.slow
@pytest.mark.parametrize("match, pairs", [("deal", 8000), ("rubber", 1000)])
def test_the_apprentice_beats_the_heuristic_player(match: str, pairs: int) -> None:
    duel = play(agents.make("apprentice"), agents.make("heuristic"), pairs, seed=5, match=match)
    assert duel.interval()[0] > 0
