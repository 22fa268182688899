"""Observations, masks and spaces: shape and type, what they hold, and that they are one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

import poke_env
from helpers import (
    CONFIGURATIONS,
    HOUSE_RULES,
    PLAYERS,
    RULES,
    TABLES,
    Make,
    equal_trees,
    everything,
    is_over,
    legal_actions,
    name_of,
    play,
    random_action,
    turns,
)
from poke_env import observation, poke_v0
from poke_env.games.poke import MAX_HAND, POKE, VIEW

# --- masks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", RULES)
def test_mask_cannot_be_sampled_with(make: Make, preset: str) -> None:
    env = make(match="game", rules=RULES[preset])
    assert env.action_space("player_0") == spaces.Discrete(2**env.unwrapped.rules.hand_size)
    sample_masks(env, 1_000)


def test_mask_of_a_table_cannot_be_sampled_with(sit: Make) -> None:
    sample_masks(sit(), 300)


def sample_masks(env: Any, steps: int) -> None:
    """Play by `sample(mask)`, which asks for int8 where `contains` would take bools as well."""
    env.reset(seed=0)
    for agent in env.possible_agents:
        env.action_space(agent).seed(0)
    for _ in range(steps):
        if is_over(env):
            env.reset()
        agent = env.agent_selection
        mask = env.observe(agent)["action_mask"]
        assert mask.dtype == np.int8
        assert mask.shape == (env.action_space(agent).n,)
        assert set(mask.tolist()) <= {0, 1}
        action = env.action_space(agent).sample(mask)
        assert mask[action] == 1
        env.step(action)
        assert not is_over(env) or "illegal_action" not in env.infos[agent]


def test_mask_is_all_zero_for_a_player_to_move(sit: Make) -> None:
    """And it is all zero for everybody else and after the end; `info` mirrors it."""
    rng = np.random.default_rng(0)
    env = sit()
    env.reset(seed=0)
    for _ in range(1_500):
        if is_over(env):
            for agent in env.agents:
                assert not env.observe(agent)["action_mask"].any()
                assert not env.infos[agent]["action_mask"].any()
            env.reset()
        agent = env.agent_selection
        others = set(env.agents) - {agent}
        mask = env.observe(agent)["action_mask"]
        assert mask.any()
        assert np.array_equal(env.infos[agent]["action_mask"], mask)
        assert env.infos[agent]["action_mask"].dtype == np.int8
        assert not any(env.infos[other]["action_mask"].any() for other in others)
        env.step(int(rng.choice(mask.nonzero()[0])))
        assert (
            is_over(env)
            or env.agent_selection == agent
            or not (env.observe(agent)["action_mask"].any())
        )


# --- spaces ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=name_of)
def test_observation_leaves_its_space(configuration: dict[str, Any]) -> None:
    watch_spaces(configuration, steps=400)


def test_observation_of_a_table_leaves_its_space(table: str) -> None:
    game, settings = TABLES[table]
    watch_spaces(settings, steps=300, door=poke_env.door(game))


@pytest.mark.slow
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=name_of)
def test_observation_leaves_its_space_in_thousands_of_steps(configuration: dict[str, Any]) -> None:
    watch_spaces(configuration, steps=10_000)


def watch_spaces(configuration: dict[str, Any], steps: int, door: Any = poke_v0) -> None:
    env = door.env(**configuration)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    of = {agent: env.observation_space(agent) for agent in env.possible_agents}
    for _ in range(steps):
        for agent, space in of.items():
            observed = env.observe(agent)
            assert list(observed) == ["observation", "action_mask"]
            assert observed["observation"].dtype == np.float32
            assert space.contains(observed)
        if is_over(env):
            env.reset()
        else:
            env.step(random_action(env, rng))


@pytest.mark.parametrize(
    "rules, score",
    [
        (HOUSE_RULES, {"above": (1_000_000, 0), "below": (10_000, 10_000), "games": (1, 1)}),
        (
            poke_v0.Rules(
                non_dealer_values=(64, 64, 64),
                dealer_values=(64, 64, 64, 64),
                target=200,
                max_discard=5,
                poker_points=(10_000,) * 10,
                poker_tie="both",
                sweep_points=10_000,
                game_points=10_000,
                rubber_points=(10_000, 10_000),
                reveal_discards=True,
            ),
            {"above": (32_000, 255), "below": (199, 198), "games": (1, 0)},
        ),
    ],
)
def test_extreme_score_leaves_the_space_or_is_cut_too_early(
    rules: poke_v0.Rules, score: dict[str, tuple[int, int]]
) -> None:
    """Coded exactly up to 32,767 above and 255 below, saturating there."""
    for match in ("deal", "game", "rubber"):
        env = poke_v0.raw_env(match=match, rules=rules)
        rng = np.random.default_rng(0)
        for number in range(5):
            env.reset(seed=number, options={"score": score})
            for _ in turns(env, rng):
                sheet = env.score_sheet
                for player, agent in enumerate(PLAYERS):
                    observed = env.observe(agent)
                    assert env.observation_space(agent).contains(observed)
                    seen = poke_v0.decode(observed)
                    for name, most in (("below", 255), ("above", 32_767), ("games", 2)):
                        mine, other = getattr(sheet, name)[player], getattr(sheet, name)[1 - player]
                        assert seen[name] == (min(mine, most), min(other, most))


def test_every_score_is_coded_exactly() -> None:
    place = observation.slices(POKE)
    for name, most in (("below", 255), ("above", 32_767)):
        env = poke_v0.raw_env()
        points = range(0, most + 1, 1 if most < 1000 else 101)
        for number in (*points, most - 1, most):
            score = {name: (number, number)}
            env.reset(options={"score": score})
            flat = env.observe("player_0")["observation"]
            assert poke_v0.decode(flat)[name] == (number, number)
            assert flat[place[name]].max() <= VIEW[list(place).index(name)].high


def test_space_is_rebuilt_or_changed_by_play(sit: Make) -> None:
    env = sit()
    before = {
        agent: (env.observation_space(agent), env.action_space(agent))
        for agent in env.possible_agents
    }
    pictures = {agent: (repr(a), repr(b)) for agent, (a, b) in before.items()}
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(10):
        play(env, rng)
        env.reset()
        for agent, (seen, acts) in before.items():
            assert env.observation_space(agent) is seen
            assert env.action_space(agent) is acts
            assert (repr(seen), repr(acts)) == pictures[agent]
    fresh = sit()
    for agent, (seen, acts) in before.items():
        assert fresh.observation_space(agent) == seen
        assert fresh.action_space(agent) == acts


def test_seeding_one_seats_space_moves_the_others(sit: Make) -> None:
    env = sit()
    for kind in ("action_space", "observation_space"):
        first, second = (getattr(env, kind)(agent) for agent in env.possible_agents[:2])
        assert first is not second
        second.seed(1)
        expected = [second.sample() for _ in range(20)]
        second.seed(1)
        first.seed(7)
        first.sample()
        assert equal_trees([second.sample() for _ in range(20)], expected)
    twin = env.unwrapped.clone()
    assert twin.action_space("player_0") is not env.action_space("player_0")


def test_observation_space_has_room_for_hidden_numbers(make: Make) -> None:
    box = make().observation_space("player_0")
    assert isinstance(box, spaces.Dict)
    assert box["observation"].dtype == np.float32
    assert box["observation"].shape == (observation.length(POKE),)
    assert observation.length(POKE) <= 300
    assert box["action_mask"] == spaces.Box(0, 1, (32,), np.int8)


# --- arrays are one's own -------------------------------------------------------------------------


def test_observation_is_overwritten_by_a_later_step(sit: Make) -> None:
    env = sit()
    rng = np.random.default_rng(1)
    env.reset(seed=1)
    kept: list[tuple[Any, Any]] = []
    for _ in range(200):
        if is_over(env):
            env.reset()
        for agent in env.possible_agents:
            observed = env.observe(agent)
            kept.append((observed, {name: array.copy() for name, array in observed.items()}))
        info = env.infos[env.agent_selection]
        kept.append((info, {"action_mask": info["action_mask"].copy()}))
        last = env.last()[0]
        kept.append((last, {name: array.copy() for name, array in last.items()}))
        env.step(random_action(env, rng))
    for array, copy in kept:
        assert equal_trees(array, copy)


def test_writing_into_an_observation_changes_the_match(sit: Make) -> None:
    env = sit()
    rng = np.random.default_rng(2)
    env.reset(seed=2)
    for _ in range(60):
        if is_over(env):
            break
        before = everything(env)
        legal = legal_actions(env)
        for agent in env.possible_agents:
            for source in (env.observe(agent), env.last()[0]):
                source["observation"].fill(-7)
                source["action_mask"].fill(1)
        assert equal_trees(everything(env), before)
        assert legal_actions(env) == legal
        env.step(int(rng.choice(legal)))


def test_writing_into_an_info_makes_actions_legal() -> None:
    env = poke_v0.raw_env(match="deal")
    env.reset(seed=0)
    env.infos["player_0" if env.agent_selection == "player_0" else "player_1"]["action_mask"][:] = 1
    assert not env.observe(env.agent_selection)["action_mask"].all()
    with pytest.raises(ValueError, match="illegal"):
        env.step(31)


# --- what they hold -------------------------------------------------------------------------------


def test_documented_table_and_code_disagree(table: str) -> None:
    """Index table, slices and observations are of one length and tell the same of each piece."""
    name, settings = TABLES[table]
    env = poke_env.door(name).raw_env(**settings)
    game = env.game
    lines = observation.documentation_table(game).splitlines()[2:]
    places = observation.slices(game)
    assert len(lines) == len(places) == len(game.view)
    end = 0
    for line, (piece_name, place), piece in zip(lines, places.items(), game.view, strict=True):
        index, shown, values, meaning = (cell.strip() for cell in line.strip("|").split("|"))
        assert shown == f"`{piece_name}`" == f"`{piece.name}`"
        assert place.start == end
        end = place.stop
        assert index in (f"{place.start}–{place.stop - 1}", f"{place.start}")
        assert values == f"{piece.low:g} to {piece.high:g}"
        assert meaning == piece.meaning
    env.reset(seed=0)
    assert env.observe("player_0")["observation"].shape == (end,)


def test_hand_of_another_is_seen_or_a_card_of_ones_own_is_not(table: str) -> None:
    """Nobody's hand is anybody else's business, a partner's neither, as long as cards are held."""
    name, settings = TABLES[table]
    door = poke_env.door(name)
    env = door.raw_env(**settings)
    rng = np.random.default_rng(12)
    shared = 0
    for seed in range(8):
        env.reset(seed=seed)
        for _ in turns(env, rng):
            if is_over(env):
                break
            told = [door.decode(env.observe(agent)) for agent in env.possible_agents]
            for mine in told:
                assert set(mine["hand"]) <= set(mine["slots"]) <= set(mine["seen"])
                for other in told:
                    if other is not mine:
                        known = set(mine["seen"]) & set(other["hand"])
                        assert known <= shown_at(mine)
                        shared += len(known)
    assert (shared > 0) == (name == "poque")


def shown_at(told: dict[str, Any]) -> set[int]:
    """Cards in others' hands that all have seen, shown in the auctions of Poque."""
    return {card for one in told.get("shown", ()) for card in one}


def test_own_and_public_cards_share_numbers() -> None:
    """Own hand and discards, cards played by the opponent, cards seen: blocks of their own."""
    places = observation.slices(POKE)
    blocks = ("hand_rank", "hand_suit", "discards", "opponent_rank", "opponent_suit", "seen")
    numbers = [set(range(places[name].start, places[name].stop)) for name in blocks]
    assert len(set().union(*numbers)) == sum(map(len, numbers))


@pytest.mark.parametrize("length", [0, 264, 266, 530])
def test_something_else_is_decoded(length: int) -> None:
    with pytest.raises(ValueError, match="265"):
        poke_v0.decode(np.zeros(length, np.float32))
    with pytest.raises(ValueError, match="265"):
        poke_v0.decode(np.zeros((1, 265), np.float32))


@pytest.mark.parametrize("preset", RULES)
def test_seen_cards_are_not_exactly_those_seen(preset: str) -> None:
    """Own hand, own discards and cards played so far (and discards revealed), bit by bit."""
    env = poke_v0.raw_env(match="deal", rules=RULES[preset])
    rng = np.random.default_rng(3)
    env.reset(seed=3)
    seen_piece = observation.slices(POKE)["seen"]
    for _ in range(60):
        for _ in turns(env, rng):
            record = env.record
            for player, agent in enumerate(PLAYERS):
                flat = env.observe(agent)["observation"]
                decoded = poke_v0.decode(flat)
                other = poke_v0.decode(env.observe(PLAYERS[1 - player]))
                played = [c for t in decoded["tricks"] for c in (*t["lead"], *t["follow"])]
                expected = {*decoded["hand"], *decoded["discards"], *played}
                if env.rules.reveal_discards:
                    expected |= set(other["discards"])
                assert set(np.flatnonzero(flat[seen_piece]).tolist()) == expected
                # The same from the position itself.
                hand = set(record["hand"][player, : env.rules.hand_size].tolist())
                assert hand <= expected
                assert hand == set(decoded["slots"])
        env.reset()


def test_one_other_card_changes_other_bits() -> None:
    """Two deals that differ in one card played: so do the seen cards, and nothing else of them."""
    deck = [0, 4, 8, 12, 16, 21, 25, 29, 33]  # player 1 deals and beats the first lead
    env = poke_v0.raw_env(match="deal")
    flats = []
    for card in (37, 38):
        env.reset(seed=0, options={"deck": [*deck, card], "dealer": 1})
        for text in ("pat", "pat", "6c"):
            env.step(env.text_to_action(text))
        env.step(0b10000)
        flats.append(env.observe("player_0")["observation"])
    places = observation.slices(POKE)
    changed = flats[0] != flats[1]
    assert np.flatnonzero(changed[places["seen"]]).tolist() == [37, 38]
    assert changed.sum() == 3  # and the suit of the opponent's first card
    assert changed[places["opponent_suit"]][0]


def test_seats_see_the_same_cards_differently() -> None:
    """The same five cards in the two seats: only what says seat and turn differs."""
    hand = [2, 17, 20, 35, 51]
    filler = [0, 5, 10, 15, 25]
    views = {}
    for role, deck, dealer in (
        ("non-dealer", [*hand, *filler], 1),
        ("dealer", [*filler, *hand], 0),
    ):
        env = poke_v0.raw_env(match="deal")
        env.reset(seed=0, options={"deck": deck, "dealer": dealer})
        views[role] = env.observe("player_0")["observation"]
    places = observation.slices(POKE)
    different = {
        name
        for name, place in places.items()
        if (views["dealer"] != views["non-dealer"])[place].any()
    }
    assert different == {"to_move", "dealer"}
    # And with the players' names exchanged nothing differs at all.
    env = poke_v0.raw_env(match="deal")
    env.reset(seed=0, options={"deck": [*hand, *filler], "dealer": 0})
    assert np.array_equal(env.observe("player_1")["observation"], views["non-dealer"])


def test_players_names_matter() -> None:
    """A match with the seats exchanged gives the same observations and rewards to the others."""
    rng = np.random.default_rng(4)
    for rules in RULES.values():
        one, other = poke_v0.raw_env(rules=rules), poke_v0.raw_env(rules=rules)
        decks = [rng.permutation(rules.pack()).tolist() for _ in range(40)]
        one.reset(options={"decks": decks, "dealer": 0, "score": {"above": (70, 20)}})
        other.reset(options={"decks": decks, "dealer": 1, "score": {"above": (20, 70)}})
        while not is_over(one) and len(one.score_sheet.deals) < 40:
            for agent, twin in zip(PLAYERS, reversed(PLAYERS), strict=True):
                assert equal_trees(one.observe(agent), other.observe(twin))
                assert one.rewards[agent] == other.rewards[twin]
            action = random_action(one, rng)
            one.step(action)
            other.step(action)
        assert is_over(one) == is_over(other)


def test_hand_slots_do_not_fit_the_actions() -> None:
    """Bit i of an action is the i-th card of the hand as observed."""
    env = poke_v0.raw_env(match="deal")
    rng = np.random.default_rng(5)
    env.reset(seed=5)
    for _ in range(40):
        for _ in turns(env, rng):
            if is_over(env):
                break
            agent = env.agent_selection
            seen = poke_v0.decode(env.observe(agent))
            assert list(seen["slots"]) == sorted(seen["slots"])
            assert len(seen["slots"]) == MAX_HAND
            action = random_action(env, rng)
            chosen = {card for slot, card in enumerate(seen["slots"]) if action >> slot & 1}
            assert chosen <= set(seen["hand"])
            env.step(action)
            if seen["phase"] == "draw":
                after = poke_v0.decode(env.observe(agent))
                assert set(after["discards"]) - set(seen["discards"]) == chosen
            elif seen["phase"] == "lead":
                assert set(poke_v0.decode(env.observe(agent))["table"]) == chosen
        env.reset()
