"""What the property tests draw from: rules over every field, scores at which a match can stand."""

from __future__ import annotations

from hypothesis import strategies as st

from poke_env import poke_v0

MARGIN_VALUES = st.integers(0, 10_000) | st.sampled_from([0, 50, 250])


def values(draws: int) -> st.SearchStrategy[tuple[int, ...]]:
    one = st.integers(0, 4) | st.integers(0, 64)
    return st.lists(one, min_size=draws + 1, max_size=draws + 1).map(tuple)


@st.composite
def any_rules(draw: st.DrawFn) -> poke_v0.Rules:
    """Rules over every field, small packs and low targets rather often."""
    hand_size = draw(st.integers(2, 5))
    suits = draw(st.integers(1, 4))
    ranks = draw(st.integers(max(2, -(-2 * hand_size // suits)), 13))
    non_dealer_draws, dealer_draws = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    return poke_v0.Rules(
        ranks=ranks,
        suits=suits,
        hand_size=hand_size,
        max_discard=draw(st.integers(0, hand_size)),
        non_dealer_draws=non_dealer_draws,
        dealer_draws=dealer_draws,
        non_dealer_values=draw(values(non_dealer_draws)),
        dealer_values=draw(values(dealer_draws)),
        target=draw(st.integers(1, 12) | st.integers(1, 200)),
        poker_points=tuple(draw(st.lists(MARGIN_VALUES, min_size=10, max_size=10))),
        sweep_points=draw(MARGIN_VALUES),
        game_points=draw(MARGIN_VALUES),
        rubber_points=draw(st.tuples(MARGIN_VALUES, MARGIN_VALUES)),
        must_beat=draw(st.booleans()),
        trick_unit=draw(st.sampled_from(["card", "lead"])),
        poker_tie=draw(st.sampled_from(["none", "both"])),
        ace_low_straight=draw(st.booleans()),
        final_tie=draw(st.sampled_from(["draw", "rubber_winner"])),
        follow_set_if_held=draw(st.booleans()),
        reveal_discards=draw(st.booleans()),
    )


@st.composite
def any_score(draw: st.DrawFn, target: int) -> dict[str, tuple[int, int]]:
    """A score at which a match can stand; sometimes None, an ordinary beginning."""
    under = st.integers(0, target - 1)
    equal = st.integers(target, target + 300)
    points = st.integers(0, 2_000) | st.integers(0, 1_000_000)
    games = st.integers(0, 1)
    return {
        "below": draw(st.tuples(under, under) | equal.map(lambda both: (both, both))),
        "above": draw(st.tuples(points, points) | points.map(lambda both: (both, both))),
        "games": draw(st.tuples(games, games)),
    }
