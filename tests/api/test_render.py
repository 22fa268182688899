"""Pictures of the table: what they show, what they must not show, and that they work anywhere."""

import io
import re
import sys
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from pettingzoo.test import render_test

from helpers import RULES, is_over, play, random_action, run_python, turns
from poke_env import poke_v0, render
from poke_env.cards import card_number, card_text, format_cards, pack, parse_cards
from poke_env.games.base import Card, Line, Table
from poke_env.games.poke import POKE

VIEWS = {"player_0": frozenset({0}), "player_1": frozenset({1}), "all": frozenset({0, 1})}
FIRST = "3h 5h 8c Tc Kc"
SECOND = "2d 2s 8d 9c As"


def cards_in(text):
    """The card numbers that stand in a text."""
    return set(map(card_number, re.findall(r"\b[2-9TJQKA][cdhs]\b", text)))


def colours(pixels):
    """The number of different colours."""
    return len(np.unique(pixels.astype(np.int32) @ (65536, 256, 1)))


def opening(actions=(), **settings):
    """A rubber with known hands, player_0 dealing, after some actions given as text."""
    env = poke_v0.raw_env(render_mode="ansi", **settings)
    score = {"above": (1234, 567), "below": (12, 9), "games": (1, 0)}
    deck = f"{FIRST} {SECOND} 2h 5s".split()
    env.reset(seed=3, options={"deck": deck, "dealer": 0, "score": score})
    for action in actions:
        env.step(env.text_to_action(action))
    return env


def picture_of(*items, label="", title=""):
    return render.rgb_array(Table(title, ((Line(label, items),),)))


# --- modes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["standard", "tiny", "small"])
def test_render_mode_returns_something_else_than_promised(rules):
    size = {"rgb_array": lambda frame: frame.shape == (render.HEIGHT, render.WIDTH, 3)}
    render_test(partial(poke_v0.env, rules=rules), size)
    render_test(partial(poke_v0.raw_env, rules=rules, match="deal"), size)


def test_render_without_a_mode_is_silent_or_fails():
    env = poke_v0.env()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render_mode; choose one of human, ansi"):
        assert env.render() is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"render_mode": "svg"}, "render_mode must be one of 'human', .*, got 'svg'"),
        ({"render_mode": 1}, "render_mode must be one of"),
        ({"render_view": "player_2"}, "render_view must be one of 'all', .*, got 'player_2'"),
        ({"render_view": 0}, "render_view must be one of"),
    ],
    ids=str,
)
def test_unknown_mode_or_view_is_noticed_late(settings, message):
    with pytest.raises(ValueError, match=message):
        poke_v0.env(**settings)


def test_view_of_an_agent_shows_another_hand():
    first, second = set(parse_cards(FIRST)), set(parse_cards(SECOND))
    for view, shown in [
        (None, first),
        ("player_0", second),
        ("player_1", first),
        ("all", first | second),
    ]:
        env = opening(render_view=view)
        assert cards_in(env.render()) == shown
    assert cards_in(opening(["pat"]).render()) == second  # the player to move is another one


def test_learner_environment_shows_the_table_as_the_opponent_sees_it():
    for seat in (0, 1):
        env = gymnasium.make("sackson/Poke-v0", render_mode="ansi", seat=seat)
        env.reset(seed=seat)
        hand = env.unwrapped.aec.record["hand"][seat]
        assert cards_in(env.render()) == set(hand.tolist())


# --- hidden cards ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", RULES)
def test_picture_shows_a_hidden_card_or_lacks_a_seen_one(rules):
    rng = np.random.default_rng(7)
    for seed in range(4):
        env = poke_v0.raw_env(rules=RULES[rules])
        env.reset(seed=seed)
        for _ in turns(env, rng, most=60):
            record = env.record
            bits = range(RULES[rules].hand_size)
            hands = [set(hand[: len(bits)].tolist()) for hand in record["hand"]]
            discards = [
                {card for card in range(52) if int(gone) >> card & 1} for gone in record["discards"]
            ]
            shown = {view: cards_in(env.picture("ansi", view)) for view in VIEWS}
            for seat in (0, 1):
                unplayed = {
                    int(record["hand"][1 - seat, slot])
                    for slot in bits
                    if int(record["held"][1 - seat]) >> slot & 1
                }
                hidden = set(range(52)) - hands[seat] - discards[seat] - hands[1 - seat]
                hidden |= unplayed
                if RULES[rules].reveal_discards:
                    hidden -= discards[1 - seat]
                view = f"player_{seat}"
                assert not shown[view] & hidden
                assert shown[view] == set(poke_v0.decode(env.observe(view))["seen"])
            assert shown["all"] == hands[0] | hands[1] | discards[0] | discards[1]


def test_picture_depends_on_cards_that_are_hidden():
    rng = np.random.default_rng(8)
    env = poke_v0.raw_env()
    env.reset(seed=1)
    for _ in turns(env, rng, most=80):
        for seat in (0, 1):
            twin = env.record.copy()
            other = 1 - seat
            seen = poke_v0.decode(env.observe(f"player_{seat}"))["seen"]
            unseen = iter(rng.permutation([card for card in range(52) if card not in seen]))
            for slot in range(5):
                if int(twin["held"][other]) >> slot & 1:
                    twin["hand"][other, slot] = next(unseen)
            if twin["discards"][other]:
                twin["discards"][other] = 1 << int(next(unseen))
            viewer = frozenset({seat})
            assert POKE.table(twin, viewer) == POKE.table(env.record, viewer)


def test_finished_deal_hides_the_hand_that_lost():
    env = poke_v0.raw_env(match="deal")
    env.reset(seed=2)
    play(env, np.random.default_rng(0))
    hands = env.score_sheet.deals[-1].final_hands
    for view in VIEWS:
        text = env.picture("ansi", view)
        assert set(hands[0] + hands[1]) <= cards_in(text)
        assert "??" not in text


def test_forfeit_turns_up_the_hands():
    env = poke_v0.env(render_mode="ansi", render_view="player_0")
    env.reset(seed=0)
    env.step(31)
    assert is_over(env)
    assert cards_in(env.render()) == set(env.unwrapped.record["hand"][0].tolist())


# --- text -----------------------------------------------------------------------------------------

PLAYED = ("discard 3h 5h", "pat", "discard 9c", "pat", "lead Kc", "follow As", "lead 8d")

TEXT = """\
Poke (rubber): player_0 deals, player_1 to follow
-------------------------------------------------

score                  player_0  player_1
above                      1234       567
below                        12         9
games                         1         0

this deal              player_0  player_1
a card counts                 2         1
cards taken                   1         0

player_0 (dealer)       ??  ??  ??       drew 1, pat
player_1 (non-dealer)   2h  5s  8c  Tc   drew 2, pat
  discarded            (3h)(5h)

trick 1                player_1 leads  (Kc)  player_0 follows     As   player_0 wins
trick 2                player_0 leads   8d   player_1 to follow"""


def test_text_of_the_table_has_changed():
    assert opening(PLAYED).render() == TEXT


@pytest.mark.parametrize("rules", RULES)
def test_score_pad_or_last_trick_is_wrong(rules):
    env = poke_v0.raw_env(rules=RULES[rules])
    env.reset(seed=11)
    for _ in turns(env, np.random.default_rng(11)):
        seen = poke_v0.decode(env.observe("player_0"))
        lines = [re.split(r"  +", line) for line in env.picture("ansi", "player_0").splitlines()]
        cells = {label: rest for label, *rest in reversed(lines)}  # the first of a name stays
        pairs = {name: list(map(str, seen[name])) for name in ("above", "below", "games")}
        assert {name: cells[name] for name in pairs} == pairs
        assert cells["cards taken"] == list(map(str, seen["taken"]))
        tricks = [line for line in lines if line[0].startswith("trick")]
        assert len(tricks) == len(seen["tricks"])
        if tricks:
            assert "".join(tricks[-1][1:]).replace(" ", "") == in_words(**seen["tricks"][-1])


def in_words(leader, lead, follow, winner):
    """A trick as player_0 sees it, without spaces: "player_0leadsKsplayer_1follows(Qs)..."."""
    names = {"own": "player_0", "opponent": "player_1"}
    follower = "opponent" if leader == "own" else "own"
    if winner is None:
        return f"{names[leader]}leads{format_cards(lead, '')}{names[follower]}tofollow"
    led, followed = (
        "".join(card_text(card) if who == winner else f"({card_text(card)})" for card in played)
        for who, played in ((leader, lead), (follower, follow))
    )
    return f"{names[leader]}leads{led}{names[follower]}follows{followed}{names[winner]}wins"


def test_end_of_the_rubber_lacks_what_the_last_deal_brought():
    env = poke_v0.raw_env()
    env.reset(seed=5)
    play(env, np.random.default_rng(5))
    sheet = env.score_sheet
    text = env.picture("ansi", "all")
    winner = int(sheet.above[1] > sheet.above[0])
    title = f"Poke (rubber): player_{sheet.dealer} deals, match over, player_{winner} has won\n"
    assert text.startswith(title)
    deal = sheet.deals[-1]
    for name in ("below", "poker", "sweep", "game_bonus", "rubber_bonus"):
        first, second = getattr(deal, name)
        assert re.search(rf"^{name.replace('_', ' ')} +{first} +{second}$", text, re.MULTILINE)
    assert re.search(r"^games +(2 +[01]|[01] +2)$", text, re.MULTILINE)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_human_mode_prints_something_else_than_the_text(capsys, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain = opening(PLAYED)
    text = plain.render()
    plain.render_mode = "human"
    assert plain.render() is None
    assert capsys.readouterr().out == f"{text}\n\n"  # no escape codes in a pipe or file

    monkeypatch.setattr(sys, "stdout", Terminal())
    plain.render()
    coloured = sys.stdout.getvalue()
    assert re.sub(r"\x1b\[\d+m", "", coloured) == f"{text}\n\n"
    assert set(re.findall(r"\x1b\[31m(..)\x1b\[0m", coloured)) == {"2h", "3h", "5h", "8d"}

    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    plain.render()
    assert sys.stdout.getvalue() == f"{text}\n\n"


def test_human_mode_leaves_steps_out(capsys):
    env = poke_v0.env(render_mode="human", match="deal", rules="tiny")
    env.reset(seed=0)
    steps = 0
    while not is_over(env):
        env.step(random_action(env, np.random.default_rng(0)))
        steps += 1
    assert capsys.readouterr().out.count("Poke (deal)") == steps + 1


def test_text_needs_more_than_ascii():
    env = poke_v0.raw_env()
    env.reset(seed=0)
    for _ in turns(env, np.random.default_rng(0)):
        assert env.picture("ansi", "all").isascii()


# --- pixels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["standard", "tiny"])
def test_frame_is_shared_or_changes_size_or_is_blank(rules):
    env = poke_v0.raw_env(render_mode="rgb_array", match="deal", rules=rules)
    env.reset(seed=0)
    frames, copies = [], []
    for _ in turns(env, np.random.default_rng(0)):
        frames.append(env.render())
        copies.append(frames[-1].copy())
        again = env.render()
        assert np.array_equal(again, frames[-1])
        again[:] = 0  # writing into a frame changes no other
    env.reset()
    for number, (frame, copied) in enumerate(zip(frames, copies, strict=True)):
        assert frame.dtype == np.uint8
        assert frame.shape == (render.HEIGHT, render.WIDTH, 3)
        assert frame.flags.writeable
        assert frame.flags.owndata
        assert colours(frame) > 20
        assert np.array_equal(frame, copied)
        assert not any(np.shares_memory(frame, other) for other in frames[:number])


def test_two_cards_look_alike():
    cards = [*pack(), 52, 53, None]
    pictures = {
        picture_of(Card(card, lowered))[60:180, :120].tobytes()
        for card in cards
        for lowered in (False, True)
    }
    assert len(pictures) == 2 * len(cards)


def test_table_of_many_players_is_cut():
    names = tuple(f"player_{seat}" for seat in range(8))
    hands = tuple(Line(name, (*map(Card, range(12)), "a long remark")) for name in names)
    pad = (Line("score", names), Line("chips", tuple("100000" for _ in names)))
    for blocks in ((pad, hands), (hands,), (pad,), (hands, hands, pad), ()):
        frame = render.rgb_array(Table("title " * 30, blocks))
        assert frame.shape == (render.HEIGHT, render.WIDTH, 3)
        for border in (frame[:3], frame[-3:], frame[:, :3], frame[:, -3:]):
            assert colours(border) <= 3  # felt, title bar, their edge


# --- anywhere -------------------------------------------------------------------------------------

HEADLESS = """
import sys
import poke_env
from poke_env import poke_v0
heavy = {"pygame", "PIL", "torch", "matplotlib", "pyspiel", "open_spiel"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
for mode in ("ansi", "human", "rgb_array"):
    env = poke_v0.env(render_mode=mode)
    env.close()
    env.reset(seed=0)
    picture = env.render()
    assert (picture is None) == (mode == "human")
    assert "PIL" not in sys.modules or mode == "rgb_array"
    env.close()
    env.close()
assert len(set(map(tuple, picture.reshape(-1, 3).tolist()))) > 1
assert not (heavy - {"PIL"}) & set(sys.modules)
"""


def test_rendering_needs_a_display_or_importing_is_heavy(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER", "SDL_AUDIODRIVER", "MPLBACKEND"):
        monkeypatch.delenv(name, raising=False)
    assert "Poke (rubber)" in run_python("-c", HEADLESS, variables={"PYTHONIOENCODING": "ascii"})


def test_missing_pillow_is_not_named(monkeypatch):
    env = opening()
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(DependencyNotInstalled, match=r"pip install 'sackson-poke\[render\]'"):
        env.picture("rgb_array", "all")
    assert "Poke" in env.render()  # text needs nothing
