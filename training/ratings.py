"""Ratings from meetings, how well they describe them, and who beats whom in a circle.

Three questions about a tournament, answered from numbers alone:

* `rate`: how strong is each player on one scale? Bradley and Terry's model: the odds of a win of
  one player against another are the ratio of their strengths. Reported on the Elo scale, where
  400 points are odds of ten to one.
* `Ratings.fit`: does one scale do at all? The model takes strength for transitive. The largest
  difference between a win rate as observed and as modelled says what that hides.
* `cycles`: are there players of whom each beats the next and the last the first?

As everywhere in a duplicate tournament the independent observation is the pair of matches over
the same cards, and all meetings share their cards: what is resampled are the numbers of the pairs,
with whatever happened in each of them in all meetings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import choix
import numpy as np
import numpy.typing as npt
from scipy import sparse, special
from scipy.sparse import csgraph

from poke_env._checks import check_integer
from training.statistics import LEVEL, NOT_SEPARATED, SEPARATED, Estimate, verdict

ELO = 400.0 / math.log(10.0)
"""Elo points in one unit of log odds: 400 points are odds of 10."""

PRIOR_PAIRS = 1.0
"""Pairs that are added to every meeting, one half of each won 2:0 by either side.

It keeps every rating finite, and pulls a meeting's win rate p over n pairs towards one half, to
(2 n p + 1) / (2 n + 2): from 100 % to 99.5 % after 100 pairs, not to be noticed after 10,000.
"""

REPLICATES = 400
"""Replicates of the bootstrap, unless another number is asked for."""

_LEAST_WEIGHT = 1e-6
"""Of half a pair of the prior in a replicate: the odds of a fit stay within what floats can hold.
One such weight in a thousand falls below."""

_BLOCK = 2**22
"""Weights that are held at once: 32 MB."""

_Floats = npt.NDArray[np.float64]
_Bools = npt.NDArray[np.bool_]

# --- ratings --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rating:
    """The strength of one player.

    Attributes:
        player: its number.
        group: number of the group of players that are joined by meetings; None for a player who
            has not met anybody.
        rating: in Elo points above the mean of the group; None for a player who has not met
            anybody.
        low, high: ends of the interval; infinite where the results set no bound, None with the
            rating.
        meetings: opponents it has played with.
        pairs: pairs it has played, over all meetings.
        statement: what has to be said about this rating in words, or None.
    """

    player: int
    group: int | None
    rating: float | None
    low: float | None
    high: float | None
    meetings: int
    pairs: int
    statement: str | None = None

    def as_dict(self, labels: Sequence[str] | None = None) -> dict[str, Any]:
        """Plain values for JSON: an end that is infinite is None."""
        return {
            "player": _name(self.player, labels),
            "group": self.group,
            "rating": _finite(self.rating),
            "low": _finite(self.low),
            "high": _finite(self.high),
            "meetings": self.meetings,
            "pairs": self.pairs,
            "statement": self.statement,
        }


@dataclass(frozen=True)
class Difference:
    """How far two players of one group are apart.

    Its interval is narrower than what the intervals of two ratings suggest, since both rest on the
    same cards and on the same mean. It may be finite where those of the ratings are not.

    Attributes:
        first, second: numbers of the players.
        difference: Elo points of the first above the second.
        low, high: ends of the interval; infinite where the results set no bound.
    """

    first: int
    second: int
    difference: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """`"separated"` if 0 lies outside the interval, else `"not separated"`."""
        return verdict(self.low, self.high)

    def as_dict(self, labels: Sequence[str] | None = None) -> dict[str, Any]:
        """Plain values for JSON: an end that is infinite is None."""
        return {
            "first": _name(self.first, labels),
            "second": _name(self.second, labels),
            "difference": self.difference,
            "low": _finite(self.low),
            "high": _finite(self.high),
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Residual:
    """A meeting's win rate as observed and as the ratings would have it; draws count one half.

    Attributes:
        first, second: numbers of the players.
        observed: share of the first player, from 0 to 1.
        expected: the same by the model. The prior alone may move it by 1 / (2 pairs + 2).
        low, high: ends of the interval of observed minus expected. The intervals of all meetings
            hold together (Bonferroni over meetings; Student's, with the deviation of the
            bootstrap). Infinite for a single pair.
        pairs: that the two have played.
    """

    first: int
    second: int
    observed: float
    expected: float
    low: float
    high: float
    pairs: int

    @property
    def difference(self) -> float:
        """Observed minus expected."""
        return self.observed - self.expected

    @property
    def verdict(self) -> str:
        """`"separated"` if the model is wrong about this meeting, else `"not separated"`."""
        return verdict(self.low, self.high)

    def as_dict(self, labels: Sequence[str] | None = None) -> dict[str, Any]:
        """Plain values for JSON: an end that is infinite is None."""
        return {
            "first": _name(self.first, labels),
            "second": _name(self.second, labels),
            "observed": self.observed,
            "expected": self.expected,
            "difference": self.difference,
            "low": _finite(self.low),
            "high": _finite(self.high),
            "verdict": self.verdict,
            "pairs": self.pairs,
        }


@dataclass(frozen=True)
class Fit:
    """How well the ratings describe the meetings.

    Attributes:
        freedom: meetings beyond those that the ratings can reproduce whatever happened. With 0
            (two players, or no ring of meetings) nothing is tested.
        residuals: one for each meeting, in the order of the players' numbers.
    """

    freedom: int
    residuals: tuple[Residual, ...]

    @property
    def largest(self) -> Residual | None:
        """The meeting that the ratings are most wrong about; None if nothing is tested."""
        if not self.freedom:
            return None
        return max(self.residuals, key=lambda residual: abs(residual.difference))

    @property
    def verdict(self) -> str:
        """`"separated"` if the model is wrong about some meeting beyond chance."""
        wrong = any(residual.verdict == SEPARATED for residual in self.residuals)
        return SEPARATED if self.freedom and wrong else NOT_SEPARATED

    def as_dict(self, labels: Sequence[str] | None = None) -> dict[str, Any]:
        """Plain values for JSON."""
        largest = self.largest
        return {
            "freedom": self.freedom,
            "verdict": self.verdict,
            "largest": None if largest is None else largest.as_dict(labels),
            "residuals": [residual.as_dict(labels) for residual in self.residuals],
        }


@dataclass(frozen=True)
class Ratings:
    """What `rate` found.

    Attributes:
        ratings: of all players, by number.
        differences: of every two players of the same group, the lower number first.
        groups: number of groups that are joined by meetings. Ratings of different groups cannot be
            compared.
        fit: ratings against results.
        level: coverage of every interval.
        replicates, seed: of the bootstrap.
    """

    ratings: tuple[Rating, ...]
    differences: tuple[Difference, ...]
    groups: int
    fit: Fit
    level: float
    replicates: int
    seed: int

    def difference(self, first: int, second: int) -> Difference | None:
        """How far two players are apart; None if no meetings join them.

        Raises:
            ValueError: if one is no player, or both are the same.
        """
        last = len(self.ratings) - 1
        first = check_integer("first", first, 0, last)
        second = check_integer("second", second, 0, last)
        if first == second:
            raise ValueError(f"first and second must be two players, got {first} twice")
        for found in self.differences:
            if (found.first, found.second) == (first, second):
                return found
            if (found.first, found.second) == (second, first):
                return Difference(first, second, -found.difference, -found.high, -found.low)
        return None

    def as_dict(self, labels: Sequence[str] | None = None) -> dict[str, Any]:
        """Plain values for JSON: finite numbers, texts and None.

        Args:
            labels: names of the players, to be given instead of their numbers.

        Raises:
            ValueError: if there are not as many labels as players.
        """
        _check_labels(labels, len(self.ratings))
        return {
            "unit": "Elo points",
            "interval": "percentiles of the Bayesian bootstrap over pair numbers",
            "level": self.level,
            "replicates": self.replicates,
            "seed": self.seed,
            "prior_pairs": PRIOR_PAIRS,
            "groups": self.groups,
            "players": [rating.as_dict(labels) for rating in self.ratings],
            "differences": [found.as_dict(labels) for found in self.differences],
            "fit": self.fit.as_dict(labels),
        }


def rate(
    players: int,
    meetings: Sequence[tuple[int, int]],
    scores: Sequence[npt.ArrayLike] | _Floats,
    *,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Ratings:
    """Bradley-Terry ratings on the Elo scale, with intervals from pairs.

    The estimate is the model's maximum of likelihood (by the library choix) after `PRIOR_PAIRS`
    have been added to every meeting that has been played; a draw is half a win. The mean of every
    group is 0.

    The interval is made of percentiles of the Bayesian bootstrap: in every replicate each pair
    number gets a weight of its own from the exponential distribution, the same in all meetings,
    and each half of the prior's pair one from the gamma distribution of shape one half. Unlike
    drawing with replacement, this leaves no meeting without a pair. For two players whose pairs
    are all won 2:0 it is Jeffreys' interval, so it has a width where every pair ended alike.
    As it takes pairs whole, it does not matter how the two matches of a pair depend on each other.

    Where the results set no bound, the end of the interval is infinite: without the prior, a
    player who has won nothing could be weaker by any amount, and then the others stronger than
    the mean by any amount (their `Difference` stays finite). A meeting of a single pair bounds
    nothing, since it does not tell how much pairs differ.

    Args:
        players: how many there are, at least one; they are numbered from 0.
        meetings: two different players each, no two meetings of the same players.
        scores: (meetings, pairs): what the first player of the meeting scored in the two matches
            of each pair, 1 for a win and 1/2 for a draw, so 0 … 2; NaN for a pair that this
            meeting has not played.
        level: coverage of the intervals.
        replicates: of the bootstrap, at least 2 / (1 - level).
        seed: of the bootstrap.

    Raises:
        ValueError: naming what is wrong and what is allowed.
    """
    players = check_integer("players", players, 1)
    seed = check_integer("seed", seed, 0)
    _check_level(level)
    # One replicate at least beyond either end. The percentiles are those that cover a further
    # value of the same distribution with just this probability (Weibull's).
    replicates = check_integer("replicates", replicates, math.ceil(2 / (1 - level) - 1e-9))
    pairs_of = _checked_meetings(players, meetings)
    table = _checked_scores(scores, len(pairs_of))
    first, second, table = _ordered(pairs_of, table)

    played = ~np.isnan(table)
    count = played.sum(axis=1)
    won = np.where(played, table, 0.0).sum(axis=1)
    lost = 2.0 * count - won
    groups, group_of = _groups(players, first, second)

    draws_won, draws_lost, prior_won, prior_lost = _replicates(table, replicates, seed)
    strengths = np.zeros(players)
    samples = np.zeros((replicates, players))
    results = _matrices(players, first, second, won + PRIOR_PAIRS, lost + PRIOR_PAIRS)
    replica = _matrices(players, first, second, draws_won + prior_won, draws_lost + prior_lost)
    for group in range(groups):
        members = np.flatnonzero(group_of == group)
        strengths[members] = _fit(results[np.ix_(members, members)])
        within = np.ix_(np.arange(replicates), members, members)
        samples[:, members] = _newton(replica[within], strengths[members])

    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    below = _scored_against(players, first, second, won, lost, count)
    lows, highs = np.quantile(ELO * samples, tails, axis=0, method="weibull")
    ratings = []
    for player in range(players):
        group = int(group_of[player])
        met = (first == player) | (second == player)
        if group < 0:
            statement = "has not met anybody: no rating"
            ratings.append(Rating(player, None, None, None, None, 0, 0, statement))
            continue
        members = group_of == group
        low = float(lows[player]) if below[player, members].all() else -math.inf
        high = float(highs[player]) if below[members, player].all() else math.inf
        ratings.append(
            Rating(
                player,
                group,
                float(ELO * strengths[player]),
                low,
                high,
                int(met.sum()),
                int(count[met].sum()),
                _statement(group, groups, low, high),
            )
        )
    differences = []
    for one, other in combinations(range(players), 2):
        if group_of[one] < 0 or group_of[one] != group_of[other]:
            continue
        apart = ELO * (samples[:, one] - samples[:, other])
        low, high = np.quantile(apart, tails, method="weibull")
        differences.append(
            Difference(
                one,
                other,
                float(ELO * (strengths[one] - strengths[other])),
                float(low) if below[one, other] else -math.inf,
                float(high) if below[other, one] else math.inf,
            )
        )
    fit = Fit(
        len(first) - (int((group_of >= 0).sum()) - groups),
        _residuals(first, second, won, count, strengths, draws_won, draws_lost, samples, level),
    )
    return Ratings(tuple(ratings), tuple(differences), groups, fit, level, replicates, seed)


def _ordered(
    pairs_of: list[tuple[int, int]], table: _Floats
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], _Floats]:
    """Meetings in which a pair was played: lower number first, by number, scores to match.

    So neither the order of meetings nor that within a meeting changes what is drawn for it.
    """
    rows = [row for row in range(len(table)) if not np.isnan(table[row]).all()]
    rows.sort(key=lambda row: sorted(pairs_of[row]))
    turned = np.array([pairs_of[row][0] > pairs_of[row][1] for row in rows], np.bool_)
    table = table[rows]
    table[turned] = 2.0 - table[turned]
    first = np.array([min(pairs_of[row]) for row in rows], np.intp)
    second = np.array([max(pairs_of[row]) for row in rows], np.intp)
    return first, second, table


def _groups(
    players: int, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]
) -> tuple[int, npt.NDArray[np.int64]]:
    """Number of groups, and that of each player: 0 … by its lowest player, -1 for no meeting."""
    graph = sparse.coo_matrix((np.ones(len(first)), (first, second)), (players, players))
    _, raw = csgraph.connected_components(graph, directed=False)
    group_of = np.full(players, -1, np.int64)
    numbers: dict[int, int] = {}
    met = np.zeros(players, np.bool_)
    met[first] = met[second] = True
    for player in np.flatnonzero(met):
        group_of[player] = numbers.setdefault(int(raw[player]), len(numbers))
    return len(numbers), group_of


def _scored_against(
    players: int,
    first: npt.NDArray[np.intp],
    second: npt.NDArray[np.intp],
    won: _Floats,
    lost: _Floats,
    count: npt.NDArray[np.intp],
) -> _Bools:
    """(players, players): whether the row is bound from below by the column.

    That is if it has scored against it, or against somebody who is bound by it. Ford (1957): the
    likelihood has a finite maximum if everybody is bound by everybody. If not, players on both
    sides of such a gap can be driven apart by any amount without making the results less likely.
    """
    graph = np.zeros((players, players))
    known = count > 1
    upwards, downwards = known & (won > 0), known & (lost > 0)
    graph[first[upwards], second[upwards]] = 1.0
    graph[second[downwards], first[downwards]] = 1.0
    steps = csgraph.shortest_path(sparse.csr_matrix(graph), unweighted=True)
    return np.asarray(np.isfinite(steps))


def _replicates(
    table: _Floats, replicates: int, seed: int
) -> tuple[_Floats, _Floats, _Floats, _Floats]:
    """Weighted scores of both sides and weights of the prior, each (replicates, meetings)."""
    rng = np.random.default_rng(seed)
    meetings, pairs = table.shape
    halves = 2.0 * np.maximum(
        rng.standard_gamma(PRIOR_PAIRS / 2.0, (2, replicates, meetings)), _LEAST_WEIGHT
    )
    sums = np.zeros((replicates, 2 * meetings))
    block = max(1, _BLOCK // replicates)
    for start in range(0, pairs if meetings else 0, block):
        part = table[:, start : start + block]
        both = np.nan_to_num(np.concatenate([part, 2.0 - part]), nan=0.0)
        # Pair by pair, so that the size of a block changes no weight.
        sums += rng.standard_exponential((part.shape[1], replicates)).T @ both.T
    return sums[:, :meetings], sums[:, meetings:], halves[0], halves[1]


def _matrices(
    players: int,
    first: npt.NDArray[np.intp],
    second: npt.NDArray[np.intp],
    won: _Floats,
    lost: _Floats,
) -> _Floats:
    """Wins of the row against the column, (..., players, players), from those of meetings."""
    wins = np.zeros((*won.shape[:-1], players, players))
    wins[..., first, second] = won
    wins[..., second, first] = lost
    return wins


def _fit(wins: _Floats) -> _Floats:
    """Log strengths with mean 0 of (players, players) that are all joined and have all scored."""
    # Strengths that are dozens of powers of ten apart are beyond the matrices inside.
    with np.errstate(all="ignore"):
        try:
            found = choix.ilsr_pairwise_dense(wins, max_iter=1000, tol=1e-10)
        except (RuntimeError, ValueError):
            found = np.full(len(wins), np.nan)
    if not np.isfinite(found).all():
        found = _newton(wins[None], np.zeros(len(wins)))[0]
    return np.asarray(found - found.mean())


def _newton(wins: _Floats, start: _Floats) -> _Floats:
    """The same for many matrices at once, (replicates, players, players), from a common start.

    Newton's method on the logarithms, with steps cut to 2 units of log odds: the likelihood is
    concave, but far from quadratic. It is hundreds of times faster than one fit after another.
    """
    games = wins + wins.swapaxes(1, 2)
    size = wins.shape[1]
    strengths = np.tile(start, (len(wins), 1))
    for _ in range(1000):
        gap = strengths[:, :, None] - strengths[:, None, :]
        ahead, behind = special.expit(gap), special.expit(-gap)
        # Won minus expected, written so that nothing large cancels.
        slope = (wins * behind - wins.swapaxes(1, 2) * ahead).sum(axis=2)
        curve = games * ahead * behind
        bend = curve.sum(axis=2)[:, :, None] * np.eye(size) - curve
        # Differences alone are determined: the first strength stays.
        step = np.zeros_like(strengths)
        step[:, 1:] = np.linalg.solve(bend[:, 1:, 1:], slope[:, 1:, None])[:, :, 0]
        largest = np.abs(step).max(axis=1, keepdims=True)
        strengths += step * np.minimum(1.0, 2.0 / np.maximum(largest, 1e-300))
        if largest.max() < 1e-9:
            break
    else:
        raise RuntimeError("the strengths of some replicate did not converge")
    return np.asarray(strengths - strengths.mean(axis=1, keepdims=True))


def _residuals(
    first: npt.NDArray[np.intp],
    second: npt.NDArray[np.intp],
    won: _Floats,
    count: npt.NDArray[np.intp],
    strengths: _Floats,
    draws_won: _Floats,
    draws_lost: _Floats,
    samples: _Floats,
    level: float,
) -> tuple[Residual, ...]:
    """Observed and modelled win rates of all meetings."""
    if not len(first):
        return ()
    observed = won / (2.0 * count)
    expected = special.expit(strengths[first] - strengths[second])
    drawn = draws_won / (draws_won + draws_lost)
    deviation = (drawn - special.expit(samples[:, first] - samples[:, second])).std(axis=0, ddof=1)
    one_end = 1.0 - (1.0 - level) / 2.0 / len(first)
    reach = special.stdtrit(np.maximum(count - 1, 1), one_end) * deviation
    reach = np.where(count > 1, reach, math.inf)
    return tuple(
        Residual(
            int(first[row]),
            int(second[row]),
            float(observed[row]),
            float(expected[row]),
            float(observed[row] - expected[row] - reach[row]),
            float(observed[row] - expected[row] + reach[row]),
            int(count[row]),
        )
        for row in range(len(first))
    )


def _statement(group: int, groups: int, low: float, high: float) -> str | None:
    parts = []
    if groups > 1:
        parts.append(f"to be compared within group {group} only")
    open_ends = [name for name, end in (("lower", low), ("upper", high)) if math.isinf(end)]
    if open_ends:
        parts.append(f"the results set no {' or '.join(open_ends)} bound")
    return "; ".join(parts) or None


# --- cycles ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cycle:
    """Three players of whom each is ahead of the next, and the last of the first.

    Attributes:
        players: their numbers in this order, the lowest first.
        margins: mean margin of each against the next, all above 0, in the unit of the margins.
        verdict: `"separated"` if all three margins are, each at the level of its own interval;
            `"not separated"` if the cycle is one of means only.
        p_value: the largest of the three two-sided p-values (Student). A cycle is claimed only
            if all three margins are separated, so for this one triple alone the level of the
            margins holds for the cycle: no correction is due.
        corrected: p-value corrected for all the triples that were looked at (Bonferroni, by the
            number of triples or of meetings, whichever is less: if no margin has the wrong sign,
            no cycle is wrong).
        level: coverage of the intervals behind the verdict.
    """

    players: tuple[int, int, int]
    margins: tuple[float, float, float]
    verdict: str
    p_value: float
    corrected: float
    level: float

    @property
    def least_margin(self) -> float:
        """The margin on which the cycle hangs."""
        return min(self.margins)

    @property
    def certain(self) -> bool:
        """Whether the cycle stands after correction for all triples, at `level`."""
        return self.corrected < 1.0 - self.level

    def as_dict(self, labels: Sequence[str] | None = None) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "players": [_name(player, labels) for player in self.players],
            "margins": list(self.margins),
            "least_margin": self.least_margin,
            "verdict": self.verdict,
            "p_value": self.p_value,
            "corrected": self.corrected,
            "certain": self.certain,
        }


@dataclass(frozen=True)
class Cycles:
    """What `cycles` found.

    Attributes:
        players: how many there are.
        triples: how many three players have all met.
        missing: how many two players have not met.
        separated: cycles of three whose margins are all separated, the surest first.
        in_means: cycles of three in means only: what pure chance would show as well.
        components: players that reach each other along separated margins, two or more of them
            (strongly connected components of "is separated ahead of"). A component without a
            cycle of three comes from a longer one, which takes meetings that are missing or not
            separated.
        level: coverage of the intervals behind the verdicts; None without a meeting.
    """

    players: int
    triples: int
    missing: int
    separated: tuple[Cycle, ...]
    in_means: tuple[Cycle, ...]
    components: tuple[tuple[int, ...], ...]
    level: float | None

    def as_dict(self, labels: Sequence[str] | None = None) -> dict[str, Any]:
        """Plain values for JSON: finite numbers, texts and None.

        Args:
            labels: names of the players, to be given instead of their numbers.

        Raises:
            ValueError: if there are not as many labels as players.
        """
        _check_labels(labels, self.players)
        return {
            "level": self.level,
            "triples": self.triples,
            "missing": self.missing,
            "separated": [cycle.as_dict(labels) for cycle in self.separated],
            "in_means": [cycle.as_dict(labels) for cycle in self.in_means],
            "components": [
                [_name(player, labels) for player in component] for component in self.components
            ],
        }


def cycles(
    players: int, meetings: Sequence[tuple[int, int]], margins: Sequence[Estimate]
) -> Cycles:
    """Look for players of whom each beats the next and the last the first.

    Args:
        players: how many there are, at least one; they are numbered from 0.
        meetings: two different players each, no two meetings of the same players.
        margins: of the first player of each meeting, all with the same level.

    Raises:
        ValueError: naming what is wrong and what is allowed.
    """
    players = check_integer("players", players, 1)
    pairs_of = _checked_meetings(players, meetings)
    if len(margins) != len(pairs_of):
        raise ValueError(
            f"margins must be one for each of the {len(pairs_of)} meetings, got {len(margins)}"
        )
    levels = {margin.level for margin in margins}
    if len(levels) > 1:
        raise ValueError(f"margins must all have the same level, got {sorted(levels)}")
    level = levels.pop() if levels else None
    mean = np.zeros((players, players))
    p_value = np.ones((players, players))
    met = np.zeros((players, players), np.bool_)
    firm = np.zeros((players, players), np.bool_)
    for (one, other), margin in zip(pairs_of, margins, strict=True):
        mean[one, other], mean[other, one] = margin.mean, -margin.mean
        p_value[one, other] = p_value[other, one] = _p_value(margin)
        met[one, other] = met[other, one] = True
        firm[one, other] = firm[other, one] = margin.verdict == SEPARATED

    triples = [
        (a, b, c)
        for a, b, c in combinations(range(players), 3)
        if met[a, b] and met[b, c] and met[c, a]
    ]
    looks = min(len(triples), len(pairs_of))
    found = []
    for a, b, c in triples:
        for ring in ((a, b, c), (a, c, b)):
            edges = list(zip(ring, (*ring[1:], ring[0]), strict=True))
            if all(mean[edge] > 0 for edge in edges):
                largest = max(float(p_value[edge]) for edge in edges)
                found.append(
                    Cycle(
                        ring,
                        (float(mean[edges[0]]), float(mean[edges[1]]), float(mean[edges[2]])),
                        SEPARATED if all(firm[edge] for edge in edges) else NOT_SEPARATED,
                        largest,
                        min(1.0, largest * looks),
                        LEVEL if level is None else level,
                    )
                )
    found.sort(key=lambda cycle: (cycle.p_value, -cycle.least_margin, cycle.players))
    _, component = csgraph.connected_components(
        sparse.csr_matrix(firm & (mean > 0)), connection="strong"
    )
    components = [
        tuple(int(player) for player in np.flatnonzero(component == number))
        for number in range(int(component.max()) + 1)
    ]
    return Cycles(
        players,
        len(triples),
        players * (players - 1) // 2 - len(pairs_of),
        tuple(cycle for cycle in found if cycle.verdict == SEPARATED),
        tuple(cycle for cycle in found if cycle.verdict != SEPARATED),
        tuple(sorted(members for members in components if len(members) > 1)),
        level,
    )


def _p_value(margin: Estimate) -> float:
    """Of Student's two-sided test of a mean of 0; 1 for a single value, which says nothing."""
    if margin.count < 2 or margin.mean == 0.0:
        return 1.0
    if margin.deviation == 0.0:
        return 0.0
    statistic = abs(margin.mean) / (margin.deviation / math.sqrt(margin.count))
    return float(2.0 * special.stdtr(margin.count - 1, -statistic))


# --- checks ---------------------------------------------------------------------------------------


def _checked_meetings(players: int, meetings: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    checked: list[tuple[int, int]] = []
    seen: set[frozenset[int]] = set()
    for meeting in meetings:
        if len(meeting) != 2:
            raise ValueError(f"meetings must be of two players each, got {meeting!r}")
        one, other = (check_integer("meetings", player, 0, players - 1) for player in meeting)
        if one == other:
            raise ValueError(f"meetings must be of two different players, got {(one, other)}")
        if frozenset((one, other)) in seen:
            raise ValueError(f"meetings must be different, got {(one, other)} more than once")
        seen.add(frozenset((one, other)))
        checked.append((one, other))
    return checked


def _checked_scores(scores: Sequence[npt.ArrayLike] | _Floats, meetings: int) -> _Floats:
    """A copy as float64 (meetings, pairs)."""
    if len(scores) != meetings:
        raise ValueError(
            f"scores must be one row for each of the {meetings} meetings, got {len(scores)}"
        )
    rows = [np.asarray(row, np.float64) for row in scores]
    shapes = sorted({row.shape for row in rows})
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        raise ValueError(
            "scores must be rows of equal length, one number for each pair, got "
            + " and ".join(map(str, shapes))
        )
    table = np.stack(rows) if rows else np.empty((0, 0))
    wrong = ~np.isnan(table) & ~((table >= 0.0) & (table <= 2.0))
    if wrong.any():
        raise ValueError(f"scores must be from 0 to 2, or NaN, got {float(table[wrong][0])!r}")
    return table


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")


def _check_labels(labels: Sequence[str] | None, players: int) -> None:
    if labels is not None and len(labels) != players:
        raise ValueError(f"labels must be {players}, one for each player, got {len(labels)}")


def _name(player: int, labels: Sequence[str] | None) -> int | str:
    return player if labels is None else labels[player]


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None
