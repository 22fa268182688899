"""Matches as text, one line a deal: write, parse, verify on loading, replay in every adapter.

A record holds what a match was made of (rules, first dealer, score to start from, deck orders,
actions, how it ended) and what came of it (points, score, every action in words). Only the former
is read; the latter is worked out by the rules and must fit. Every line ends with a checksum over
itself and all lines before it, so that a changed, missing, moved or added line is noticed.

    >>> log = Log("poke", "tiny", match="deal", dealer=1)
    >>> log.deal("Qc Qd Kc Kd Ac Ad")
    >>> for action in (0, 0, 3, 3):
    ...     log.act(action)
    >>> record = log.finish(players=("Ann", "Bob"))
    >>> record.ending.kind, record.points
    ('over', (-300.0, 300.0))
    >>> loads(dumps(record)) == record
    True
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TextIO, TypeVar, cast

import numpy as np
import numpy.typing as npt
from pettingzoo.utils.wrappers import BaseWrapper

from poke_env import games
from poke_env._checks import as_integer, check_integer, shown
from poke_env._jit import compiled
from poke_env.aec import CardGameEnv, Observation
from poke_env.agent import Keys, Masks, Observations
from poke_env.cards import format_cards, parse_cards
from poke_env.games import base
from poke_env.games.base import DEAL_ENDED, MATCH_OVER, NOT_PAID, WANTS_DECK, Game, score_of
from poke_env.settings import Settings

__all__ = [
    "DealRecord",
    "Ending",
    "Log",
    "Record",
    "RecordError",
    "Recorder",
    "Replayer",
    "batch_options",
    "dump",
    "dumps",
    "load",
    "loads",
    "replay",
]

FORMAT = 1
"""Version of the text format; a reader refuses any other."""
LONGEST_LINE = 100_000
"""Characters in the longest line that is written or read."""
ENDINGS = ("over", "truncated", "forfeit", "unfinished")

Env = TypeVar("Env")


class RecordError(ValueError):
    """A text that is damaged, or tells of a match that the rules do not allow.

    Attributes:
        line: number of the line, counted from 1 at the beginning of the text or file.
        reason: what is wrong, in one sentence.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(line, reason)
        self.line = line
        self.reason = reason

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


class Ending(NamedTuple):
    """How a match ended.

    Attributes:
        kind: `"over"` (by the rules), `"truncated"` (after so many deals), `"forfeit"` or
            `"unfinished"`.
        seat: who forfeited; None otherwise.
        reason: why, in the words of whoever wrote the record; empty otherwise.
    """

    kind: str
    seat: int | None = None
    reason: str = ""


@dataclass(frozen=True)
class DealRecord:
    """One deal.

    Attributes:
        dealer: seat that dealt.
        deck: the order of the pack, card numbers.
        actions: all actions, in the order they were made.
        points: by seat, as `reward="points"` pays them where points below the line count nothing;
            None while the deal is unfinished.
        score: the running score after the deal, the fields of the game's score sheet; None while
            the deal is unfinished.
    """

    dealer: int
    deck: tuple[int, ...]
    actions: tuple[int, ...]
    points: tuple[float, ...] | None = None
    score: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True)
class Record:
    """A match. `Log`, `Recorder` and `loads` make records that follow the rules.

    Attributes:
        game: the game's name.
        version: the game's version.
        rules: the game's `Rules`.
        match: unit of play, such as `"rubber"`.
        dealer: seat that dealt first.
        score: the score at which the match began; empty where that is the game's beginning.
        deals: all deals; the last one may be unfinished.
        ending: how the match ended.
        players: a name for each seat, or empty.
        info: what else is to be remembered, such as event, date or seed: texts, numbers, booleans
            or None by name.
    """

    game: str
    version: int
    rules: Any
    match: str
    dealer: int
    score: Mapping[str, Any] = field(hash=False)
    deals: tuple[DealRecord, ...]
    ending: Ending
    players: tuple[str, ...] = ()
    info: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def actions(self) -> tuple[int, ...]:
        """All actions of the match, in order."""
        return tuple(action for deal in self.deals for action in deal.actions)

    @property
    def points(self) -> tuple[float, ...]:
        """Sum of the points of all finished deals by seat; empty if there is none."""
        written = [deal.points for deal in self.deals if deal.points is not None]
        return tuple(map(sum, zip(*written)))

    def options(self) -> dict[str, Any]:
        """The options of `reset` with which any adapter deals this match again."""
        return {
            "decks": [list(deal.deck) for deal in self.deals],
            "dealer": self.dealer,
            "score": dict(self.score),
        }


def batch_options(records: Sequence[Record]) -> dict[str, Any]:
    """The options of `reset` with which a batch of as many rows deals these matches again."""
    options = [record.options() for record in records]
    merged: dict[str, Any] = {name: [one[name] for one in options] for name in ("decks", "dealer")}
    beginning = Settings(games.named(records[0].game), rules=records[0].rules).beginning
    scores = [{**beginning, **one["score"]} for one in options]
    merged["score"] = {name: [score[name] for score in scores] for name in beginning}
    return merged


# --- playing by the rules -------------------------------------------------------------------------


# Functions over arrays of one position: a lone record costs a compiled call 20 µs, an array 1.


@compiled
def _turn(positions: npt.NDArray[np.void], mask: npt.NDArray[np.int8]) -> int:
    """Write the legal actions, int8 (A,), and return what the game's `to_move` says."""
    mask[:] = 0
    seat = base.to_move(positions[0])
    if seat >= 0:
        base.legal_actions(positions[0], mask)
    return int(seat)


@compiled
def _deal(positions: npt.NDArray[np.void], deck: npt.NDArray[np.int8], dealer: int) -> None:
    base.deal(positions[0], deck, dealer)


@compiled
def _apply(
    positions: npt.NDArray[np.void],
    deck: npt.NDArray[np.int8],
    action: int,
    points: npt.NDArray[np.float64],
) -> int:
    """Carry out a legal action and write what it brought, float64 (n,); see `Game.points`."""
    base.apply(positions[0], deck, action)
    return int(base.points(positions[0], 0.0, points))


class _Played(NamedTuple):
    """A deal as the rules saw it: the seat of every action, and all moves in words, those that the
    rules made by themselves in brackets."""

    deal: DealRecord
    seats: tuple[int, ...]
    texts: tuple[str, ...]


def _words(forced: Sequence[str], seat: int = 0, text: str = "") -> str:
    """What was forced before a move, and the move itself; without one, what came last."""
    words = [f"[{', '.join(forced)}]"] if forced else []
    return " ".join([*words, f"{seat} {text}"] if text else words)


class _Table:
    """A match that is played deal by deal, from decks and actions nobody has checked."""

    def __init__(
        self, game: Game, rules: Any, match: Any, dealer: Any, score: Mapping[str, Any] | None
    ) -> None:
        settings = Settings(game, match, rules=rules)
        self.game = game
        self.rules = settings.rules
        self.match = settings.match
        self.seats = settings.players
        self.dealer = int(check_integer("dealer", dealer, 0, self.seats - 1))
        self._positions = settings.template["state"].copy()
        self._state = self._positions[0]
        nothing = self.score()
        if score is not None:
            game.place_score(self._state, score)
        placed = self.score()
        self.start = {} if placed == nothing else placed
        self.deals = 0
        self.total = (0.0,) * self.seats
        self._pack = settings.pack.tolist()
        self._deck = np.zeros(game.max_cards, np.int8)
        self._mask = np.zeros(settings.num_actions, np.int8)
        self._points = np.zeros(game.seats)

    def record(
        self,
        deals: Iterable[DealRecord],
        ending: Ending,
        players: tuple[str, ...],
        info: Mapping[str, Any],
    ) -> Record:
        """The match as a record, from what was checked before."""
        return Record(
            game=self.game.name,
            version=self.game.version,
            rules=self.rules,
            match=self.match,
            dealer=self.dealer,
            score=self.start,
            deals=tuple(deals),
            ending=ending,
            players=players,
            info=info,
        )

    def score(self) -> dict[str, Any]:
        """The score now: what the score sheet holds besides dealer and deals."""
        return score_of(self.game.score_sheet(self._state, []))

    def to_move(self) -> int:
        """The seat to move, or what the game's `to_move` says instead."""
        return int(_turn(self._positions, self._mask))

    def position(self) -> bytes:
        """The key of the position now."""
        return bytes(self._state.tobytes())

    def play(self, deck: Any, actions: Iterable[Any], *, say: bool = False) -> _Played:
        """Play one deal; with `say`, put every action into words.

        Raises:
            ValueError: if it cannot come now, or deck or actions do not follow the rules.
        """
        game, state = self.game, self._state
        seat = self.to_move()
        if seat == MATCH_OVER:
            raise ValueError("the match goes on after its end")
        if seat != WANTS_DECK:
            raise ValueError("the deal before it is unfinished")
        cards = self._shuffled(deck)
        self._deck[: len(cards)] = cards
        before = state.copy()
        _deal(self._positions, self._deck, -1 if self.deals else self.dealer)
        made: list[int] = []
        seats: list[int] = []
        texts: list[str] = []
        total = np.zeros(self.seats)
        ended = False
        forced = game.forced(before, state) if say else ()
        for given in actions:
            if ended:
                raise ValueError(f"actions go on after the deal has ended with action {len(made)}")
            seat = self.to_move()
            action = self._legal(given, len(made) + 1, seat)
            if say:
                texts.append(_words(forced, seat, game.action_text(state, action)))
                before = state.copy()
            paid = _apply(self._positions, self._deck, action, self._points)
            if say:
                forced = game.forced(before, state)
            if paid != NOT_PAID:
                total += self._points[: self.seats]
            ended = paid == DEAL_ENDED
            made.append(action)
            seats.append(seat)
        if forced:
            texts.append(_words(forced))
        self.deals += 1
        points = score = None
        if ended:
            points = tuple(point + 0.0 for point in total.tolist())  # -0.0 becomes 0.0
            self.total = tuple(map(sum, zip(self.total, points)))
            score = self.score()
        dealer = int(game.score_sheet(state, []).dealer)
        deal = DealRecord(dealer, cards, tuple(made), points, score)
        return _Played(deal, tuple(seats), tuple(texts))

    def _shuffled(self, deck: Any) -> tuple[int, ...]:
        cards = parse_cards(deck)
        if sorted(cards) != self._pack:
            missing = format_cards(card for card in self._pack if card not in cards)
            strange = format_cards(card for card in cards if card not in self._pack)
            raise ValueError(
                f"deck is no order of the pack of {len(self._pack)} cards: "
                f"missing are {missing or 'none'}, strange are {strange or 'none'}"
            )
        return cards

    def _legal(self, given: Any, number: int, seat: int) -> int:
        """`given` as an int, if `_mask` allows it."""
        action = as_integer(given)
        if action is None or not 0 <= action < len(self._mask) or not self._mask[action]:
            legal = np.flatnonzero(self._mask).tolist()
            raise ValueError(
                f"action {number} is {shown(given)}, illegal for player_{seat}; legal are {legal}"
            )
        return action

    def check_players(self, players: Any) -> tuple[str, ...]:
        """`players` as a name for each seat, or none at all.

        Raises:
            ValueError: if they are anything else.
        """
        if (
            isinstance(players, (tuple, list))
            and len(players) in (0, self.seats)
            and all(isinstance(player, str) for player in players)
        ):
            return tuple(map(str, players))
        raise ValueError(f"players must be {self.seats} names or none, got {shown(players)}")

    def check_ending(self, ending: Any) -> Ending:
        """`ending` itself, or what the rules say if it is None.

        Raises:
            ValueError: if the match cannot have ended so.
        """
        mover = self.to_move()
        over = mover == MATCH_OVER
        if ending is None:
            return Ending("over" if over else "unfinished")
        if not isinstance(ending, Ending):
            raise ValueError(f"ending must be an Ending or None, got {shown(ending)}")
        self.game.one_of("ending kind", ending.kind, ENDINGS)
        if over != (ending.kind == "over"):
            by_rules = "over" if over else "not over"
            raise ValueError(f"ending is {ending.kind!r}, but the match is {by_rules} by the rules")
        if ending.kind == "truncated" and (mover != WANTS_DECK or not self.deals):
            raise ValueError("ending is 'truncated', which only comes after a finished deal")
        if ending.kind != "forfeit":
            if ending.seat is not None or ending.reason != "":
                raise ValueError(f"ending {ending.kind!r} has neither seat nor reason")
            return ending
        if mover < 0 or as_integer(ending.seat) != mover:
            turn = f"it is the turn of seat {mover}" if mover >= 0 else "nobody is to move"
            raise ValueError(f"ending is a forfeit by seat {shown(ending.seat)}, but {turn}")
        if not isinstance(ending.reason, str):
            raise ValueError(f"ending reason must be a text, got {shown(ending.reason)}")
        return Ending("forfeit", mover, str(ending.reason))


def _play(record: Record, *, say: bool = False) -> tuple[_Table, list[_Played]]:
    """Play a record through.

    Raises:
        ValueError: if it is no record, or anything in it does not follow the rules.
    """
    if not isinstance(cast(Any, record), Record):
        raise ValueError(f"record must be a Record, got {shown(record)}")
    game = games.named(record.game)
    if record.version != game.version:
        raise ValueError(
            f"record is of {record.game}_v{record.version}, this is {game.name}_v{game.version}"
        )
    table = _Table(game, record.rules, record.match, record.dealer, record.score or None)
    if record.rules != table.rules:
        raise ValueError(f"rules must be a Rules, got {shown(record.rules)}")
    if record.score != table.start:
        raise ValueError(f"score must be {table.start}, complete, got {shown(record.score)}")
    played = []
    for number, deal in enumerate(record.deals, 1):
        with _naming_deal(number):
            played.append(table.play(deal.deck, deal.actions, say=say))
            _compare_fields(deal, played[-1].deal, "dealer", "deck", "actions", "points", "score")
    if table.check_ending(record.ending) != record.ending:
        raise ValueError(f"ending must be an Ending, got {shown(record.ending)}")
    return table, played


def _compare_fields(given: DealRecord, right: DealRecord, *names: str) -> None:
    for name in names:
        if getattr(given, name) != getattr(right, name):
            raise ValueError(
                f"{name} must be {getattr(right, name)} by the rules, "
                f"got {shown(getattr(given, name))}"
            )


@contextlib.contextmanager
def _naming_deal(number: int) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"deal {number}: {error}") from None


class Log:
    """Notes decks and actions, and makes a `Record` of them.

    For drivers that have no AEC environment to wrap. Noting costs next to nothing: everything is
    checked in `finish`.

    Args:
        game: a game's name, or its `Game`.
        rules: a preset's name or the game's `Rules`.
        match: unit of play; None is the whole game.
        dealer: seat that deals first.
        score: the score to start from, as for `reset`; None is the game's beginning.

    Raises:
        ValueError: naming the argument, the value and what is allowed.
    """

    def __init__(
        self,
        game: str | Game,
        rules: Any = "standard",
        match: str | None = None,
        dealer: int = 0,
        score: Mapping[str, Any] | None = None,
    ) -> None:
        table = _Table(games.named(game), rules, match, dealer, score)
        self._beginning = (table.rules, table.match, table.dealer, table.start or None)
        self._game = table.game.name
        self._deals: list[tuple[Any, list[Any]]] = []

    def deal(self, deck: Any) -> None:
        """Note the deck of the next deal: the whole pack in order, card numbers or texts."""
        # A copy, and a list of Python's own numbers, which are compared and copied faster.
        cards = deck.tolist() if isinstance(deck, np.ndarray) else deck
        self._deals.append((cards if isinstance(cards, str) else tuple(cards), []))

    def act(self, action: Any) -> None:
        """Note the next action.

        Raises:
            ValueError: before the first `deal`.
        """
        if not self._deals:
            raise ValueError("note a deal before its actions")
        self._deals[-1][1].append(action)

    def finish(
        self,
        ending: Ending | None = None,
        *,
        players: Sequence[str] = (),
        info: Mapping[str, Any] | None = None,
    ) -> Record:
        """The match so far as a record; more may be noted afterwards.

        Args:
            ending: how it ended; None: over if the rules say so, else unfinished.
            players: a name for each seat, or none.
            info: what else is to be remembered, by name: texts, numbers, booleans or None.

        Raises:
            ValueError: if deals, actions or ending do not follow the rules.
        """
        return self._finish(ending, players, info)[0]

    def _finish(
        self, ending: Ending | None, players: Sequence[str], info: Mapping[str, Any] | None
    ) -> tuple[Record, _Table]:
        table = _Table(games.named(self._game), *self._beginning)
        deals = []
        for number, (deck, actions) in enumerate(self._deals, 1):
            with _naming_deal(number):
                deals.append(table.play(deck, actions).deal)
        record = table.record(
            deals,
            table.check_ending(ending),
            table.check_players(players),
            _check_info({} if info is None else info),
        )
        return record, table


def _check_info(info: Any) -> dict[str, Any]:
    if not isinstance(info, Mapping) or not all(isinstance(name, str) for name in info):
        raise ValueError(f"info must be a dict with texts as names, got {shown(info)}")
    return {str(name): _plain(name, info[name]) for name in sorted(info)}


def _plain(name: str, value: Any) -> Any:
    """A value of `info` as Python's own."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if as_integer(value) is not None:
        return check_integer(f"info {name}", value, -(2**63), 2**64 - 1)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    raise ValueError(
        f"info {name} must be a text, an integer, a finite number, True, False or None, "
        f"got {shown(value)}"
    )


# --- writing --------------------------------------------------------------------------------------

TITLE = f"poke_env record {FORMAT}"
_COLUMN = " | "
_NONE = "-"
_HEADER = ("game", "rules", "match", "dealer", "score", "players", "info")
_DEAL = ("number", "dealer", "deck", "actions", "points", "score", "moves")
_END = ("ending", "points", "score", "reason")


class _Chain:
    """Checksums of the lines of a record, each over all lines up to its own."""

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=4)

    def add(self, line: str) -> str:
        """The checksum of the next line."""
        self._digest.update(f"{line}\n".encode("utf-8", "surrogatepass"))
        return self._digest.hexdigest()


def dumps(record: Record) -> str:
    """A record as text, which `loads` reads back.

    Raises:
        ValueError: if the record does not follow the rules, or a line would be longer than
            `LONGEST_LINE`.
    """
    table, played = _play(record, say=True)
    lines = [TITLE]
    lines += [f"{name} {value}" for name, value in _header(record, table).items()]
    lines += [_COLUMN.join(_deal_columns(number, one)) for number, one in enumerate(played, 1)]
    lines.append(_COLUMN.join(_end_columns(table, record.ending)))
    chain = _Chain()
    text = [f"{line}{_COLUMN}{chain.add(line)}\n" for line in lines]
    longest = max(text, key=len)
    if len(longest) > LONGEST_LINE:
        raise ValueError(
            f"a line of a record must have at most {LONGEST_LINE} characters, got {len(longest)} "
            f"in {shown(longest)}"
        )
    return "".join(text)


def dump(records: Iterable[Record], file: TextIO) -> None:
    """Write records to a text file, one after another; the file may hold some already.

    Raises:
        ValueError: as `dumps`; the records before it are written.
    """
    for record in records:
        file.write(dumps(record))


def _header(record: Record, table: _Table) -> dict[str, str]:
    """The lines before the first deal by their first word; what stands behind it is JSON."""
    game = table.game
    named = [name for name, preset in game.presets.items() if preset == table.rules]
    header = {
        "game": _json(f"{game.name}_v{game.version}"),
        "rules": _json(named[0] if named else table.rules.as_dict()),
        "match": _json(table.match),
        "dealer": _json(table.dealer),
    }
    if table.start:
        header["score"] = _json(table.start)
    if players := table.check_players(record.players):
        header["players"] = _json(players)
    if info := _check_info(record.info):
        header["info"] = _json(info)
    return header


def _json(value: Any) -> str:
    """One line of ASCII, whatever the texts in it hold."""
    return json.dumps(value, allow_nan=False)


def _deal_columns(number: int, played: _Played) -> list[str]:
    deal = played.deal
    return [
        f"deal {number}",
        f"dealer {deal.dealer}",
        format_cards(deal.deck, ""),
        " ".join(map(str, deal.actions)) or _NONE,
        _points_text(deal.points),
        _NONE if deal.score is None else _score_text(deal.score),
        "; ".join(played.texts) or _NONE,
    ]


def _end_columns(table: _Table, ending: Ending) -> list[str]:
    who = "" if ending.seat is None else f" {ending.seat}"
    columns = [f"end {ending.kind}{who}", _points_text(table.total), _score_text(table.score())]
    return columns + [_json(ending.reason)] * (ending.kind == "forfeit")


def _points_text(points: Iterable[float] | None) -> str:
    if points is None:
        return _NONE
    return " ".join(f"{point:+.0f}" if point.is_integer() else f"{point:+}" for point in points)


def _score_text(score: Mapping[str, Any]) -> str:
    """Such as "below 4 3, above 250 0, games 0 0"."""
    numbers = {
        name: value if isinstance(value, tuple) else (value,) for name, value in score.items()
    }
    return ", ".join(" ".join(map(str, (name, *value))) for name, value in numbers.items())


# --- reading --------------------------------------------------------------------------------------


def loads(text: str) -> Record:
    """The record that a text holds, verified by playing it through.

    Raises:
        RecordError: naming the line and the reason, if the text is not exactly one record that
            follows the rules.
    """
    if not isinstance(cast(Any, text), str):
        raise ValueError(f"a record must be a str, got {shown(text)}")
    reader = _Reader(io.StringIO(text))
    title = reader.next()
    if title is None:
        raise RecordError(1, "the text is empty, so it holds no record")
    record = _read(reader, title)
    if reader.next() is not None:
        raise reader.error("the text goes on after the last line of the record")
    return record


def load(file: TextIO) -> Iterator[Record]:
    """The records in a text file, one after another, each verified when its turn comes.

    Raises:
        RecordError: naming the line of the file and the reason, at the first record that is
            damaged or does not follow the rules.
    """
    reader = _Reader(file)
    while (title := reader.next()) is not None:
        yield _read(reader, title)


class _Reader:
    """Lines of a text with their numbers; `take` looks at the checksums too."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._chain = _Chain()
        self.number = 0

    def error(self, reason: str) -> RecordError:
        """What is wrong with the line read last."""
        return RecordError(self.number, reason)

    @contextlib.contextmanager
    def blaming(self, line: int) -> Iterator[None]:
        """Turn what the rules refuse into an error that names the line it came from."""
        try:
            yield
        except RecordError:
            raise
        except (ValueError, TypeError) as error:
            raise RecordError(line, str(error)) from None

    def next(self) -> str | None:
        """The next line as it stands, or None at the end."""
        self.number += 1
        try:
            text = self._file.readline(LONGEST_LINE + 1)
        except UnicodeDecodeError as error:
            raise self.error(f"this is no text: {error}") from None
        if not isinstance(cast(Any, text), str):
            raise ValueError(f"file must be open for text, but gives {shown(text)}")
        if len(text) > LONGEST_LINE:
            raise self.error(f"the line has more than {LONGEST_LINE} characters")
        return text.removesuffix("\n") if text else None

    def begin(self, text: str) -> None:
        """See that `text` is the first line of a record in a format that is known."""
        version = re.match(r"poke_env record ([0-9]+)", text)
        if version is None:
            raise self.error(f"a record begins with {TITLE!r}, got {shown(text)}")
        if version[1] != str(FORMAT):
            raise self.error(f"format must be {FORMAT}, got the unknown version {version[1]}")
        self._chain = _Chain()
        if self._checked(text) != TITLE:
            raise self.error(f"a record begins with {TITLE!r}, got {shown(text)}")

    def take(self) -> str:
        """The next line of the record without its checksum."""
        text = self.next()
        if text is None:
            raise self.error("the record breaks off: its last line is missing")
        return self._checked(text)

    def _checked(self, text: str) -> str:
        line, _, checksum = text.rpartition(_COLUMN)
        if checksum != self._chain.add(line):
            raise self.error(
                "the checksum does not fit: this line was changed, or lines were added, moved or "
                "lost before it"
            )
        return line


def _read(reader: _Reader, title: str) -> Record:
    reader.begin(title)
    fields: dict[str, tuple[int, str]] = {}
    while (line := reader.take()).partition(" ")[0] not in ("deal", "end"):
        name, _, value = line.partition(" ")
        if name not in _HEADER or name in fields:
            raise reader.error(
                f"a line here begins with one of {', '.join(_HEADER)} (each once), deal or end, "
                f"got {shown(line)}"
            )
        fields[name] = reader.number, value
    table, players, info = _read_header(reader, fields)
    deals = []
    while line.startswith("deal "):
        deals.append(_read_deal(reader, table, line))
        line = reader.take()
    ending = _read_ending(reader, table, line)
    return table.record(deals, ending, players, info)


def _read_header(
    reader: _Reader, fields: dict[str, tuple[int, str]]
) -> tuple[_Table, tuple[str, ...], dict[str, Any]]:
    for name in ("game", "rules", "match", "dealer"):
        if name not in fields:
            raise reader.error(f"the lines before the first deal lack {name}")
    given: dict[str, Any] = dict.fromkeys(_HEADER)
    for name, (number, value) in fields.items():
        with reader.blaming(number):
            given[name] = _from_json(value)
    lines = {name: number for name, (number, _) in fields.items()}
    with reader.blaming(lines["game"]):
        game = _game_of_version(given["game"])
    with reader.blaming(lines["rules"]):
        rules = _read_rules(game, given["rules"])
    with reader.blaming(lines["match"]):
        game.one_of("match", given["match"], game.matches)
    with reader.blaming(lines["dealer"]):
        check_integer("dealer", given["dealer"], 0, Settings(game, rules=rules).players - 1)
    with reader.blaming(lines.get("score", lines["dealer"])):
        table = _Table(game, rules, given["match"], given["dealer"], given["score"])
    with reader.blaming(lines.get("players", reader.number)):
        players = table.check_players([] if "players" not in fields else given["players"])
    with reader.blaming(lines.get("info", reader.number)):
        info = _check_info({} if "info" not in fields else given["info"])
    header = _header(table.record((), Ending("unfinished"), players, info), table)
    for name, (number, value) in fields.items():
        if header.get(name) != value:
            raise RecordError(
                number, f"{name} is written {header.get(name, 'not at all')}, got {shown(value)}"
            )
    if list(header) != list(fields):
        raise RecordError(lines["game"], f"the lines from here on come as {', '.join(header)}")
    return table, players, info


def _from_json(text: str) -> Any:
    """A JSON value with its lists as tuples."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no number here")

    try:
        return _tupled(json.loads(text, parse_constant=refuse))
    except json.JSONDecodeError as error:
        raise ValueError(f"{shown(text)} is no JSON: {error}") from None
    except RecursionError:
        raise ValueError(f"{shown(text)} is nested too deeply") from None


def _tupled(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _tupled(item) for name, item in value.items()}
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


def _game_of_version(name: Any) -> Game:
    known = {f"{game.name}_v{game.version}": game for game in games.every().values()}
    if isinstance(name, str) and name in known:
        return known[name]
    raise ValueError(f"game must be one of {', '.join(map(repr, known))}, got {shown(name)}")


def _read_rules(game: Game, given: Any) -> Any:
    return game.rules(**given) if isinstance(given, dict) else game.rules_named(given)


def _read_deal(reader: _Reader, table: _Table, line: str) -> DealRecord:
    columns = line.split(_COLUMN, len(_DEAL) - 1)
    if len(columns) != len(_DEAL):
        raise reader.error(f"a deal has the columns {', '.join(_DEAL)}, got {shown(line)}")
    deck, actions = columns[2], columns[3]
    if actions != _NONE and not re.fullmatch(r"[0-9]{1,9}( [0-9]{1,9})*", actions):
        raise reader.error(f"actions must be numbers with one space between, got {shown(actions)}")
    with reader.blaming(reader.number):
        played = table.play(
            [deck[at : at + 2] for at in range(0, len(deck), 2)],
            [] if actions == _NONE else map(int, actions.split(" ")),
            say=True,
        )
    _compare(reader, _DEAL, columns, _deal_columns(table.deals, played))
    return played.deal


def _read_ending(reader: _Reader, table: _Table, line: str) -> Ending:
    columns = line.split(_COLUMN, len(_END) - 1)
    found = re.fullmatch(r"end ([a-z]+)(?: ([0-9]{1,3}))?", columns[0])
    forfeit = found is not None and found[1] == "forfeit"
    if found is None or len(columns) != len(_END) - (not forfeit):
        raise reader.error(
            f"the last line has the columns {', '.join(_END)} (only of a forfeit), "
            f"got {shown(line)}"
        )
    with reader.blaming(reader.number):
        reason = _from_json(columns[3]) if forfeit else ""
        seat = None if found[2] is None else int(found[2])
        ending = table.check_ending(Ending(found[1], seat, reason))
    _compare(reader, _END, columns, _end_columns(table, ending))
    return ending


def _compare(
    reader: _Reader, names: Sequence[str], given: Sequence[str], right: Sequence[str]
) -> None:
    """Refuse a line that says anything else than the rules."""
    for name, text, expected in zip(names, given, right):
        if text != expected:
            raise reader.error(f"{name} must be {expected!r} by the rules, got {shown(text)}")


# --- AEC environments -----------------------------------------------------------------------------


class Recorder(BaseWrapper[str, Observation, int | None]):
    """Notes decks and actions of the match going on; works around `env()` and `raw_env()`.

    `copy.deepcopy` and `pickle` keep what was noted. A match that is stepped or restored past the
    recorder, on its `unwrapped`, has no record; a forfeit there is noticed.

    Raises:
        ValueError: if `env` is no environment of this package.
    """

    def __init__(self, env: Any) -> None:
        if not isinstance(getattr(env, "unwrapped", None), CardGameEnv):
            raise ValueError(f"env must be an AEC environment of poke_env, got {shown(env)}")
        super().__init__(env)
        self._log: Log | None = None
        self._ending: Ending | None = None

    @property
    def _bare(self) -> CardGameEnv:
        return cast(CardGameEnv, self.env.unwrapped)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """See `CardGameEnv.reset`; forgets the match before it."""
        self.env.reset(seed, options)
        bare = self._bare
        sheet = bare.score_sheet
        self._log = Log(bare.game, bare.rules, bare.match, sheet.dealer, score_of(sheet))
        self._log.deal(bare.deck)
        self._ending = None

    def step(self, action: int | None) -> None:
        """Carry out the action and note it, unless it is illegal."""
        bare, log = self._bare, self._log
        if log is None or self._over():
            self._note_ending()
            self.env.step(action)
            return
        finished = len(bare._finished)
        self.env.step(action)
        self._note_ending()
        if self._ending is None or self._ending.kind != "forfeit":
            log.act(as_integer(action))
            if len(bare._finished) > finished and not self._over():
                log.deal(bare.deck)

    def _over(self) -> bool:
        bare = self._bare
        return not bare.agents or bare._over

    def _note_ending(self) -> None:
        """Note how the match ended while its agents are still there to tell."""
        bare = self._bare
        if self._ending is not None or not bare.agents or not bare._over:
            return
        info = bare.infos[bare.agents[0]]
        if info.get("illegal_action"):
            seat = bare.possible_agents.index(info["forfeited_by"])
            self._ending = Ending("forfeit", seat, "illegal action")
        else:
            truncated = bare.truncations[bare.agents[0]]
            self._ending = Ending("truncated" if truncated else "over")

    def match_record(
        self, players: Sequence[str] = (), info: Mapping[str, Any] | None = None
    ) -> Record:
        """The match so far, or the one that ended last, as a record.

        Args:
            players: a name for each seat, or none.
            info: what else is to be remembered, as for `Log.finish`.

        Raises:
            AttributeError: before the first `reset`.
            ValueError: if the match was begun or changed past the recorder.
        """
        self.env.agent_selection  # noqa: B018  raises before reset
        if self._log is None:
            raise ValueError("the match began before it was recorded: call reset() of the recorder")
        self._note_ending()
        record, table = self._log._finish(self._ending, players, info)
        if table.position() != self._bare.record.tobytes():
            raise ValueError("the match was changed past the recorder, so its record is wrong")
        return record

    def last(self, observe: bool = True) -> Any:
        """See `Referee.last`."""
        return self.env.last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """See `Referee.agent_iter`."""
        return self.env.agent_iter(max_iter)

    def __str__(self) -> str:
        return str(self.env)


def replay(record: Record, env: Env) -> Env:
    """Play a record on an AEC environment, wrapped or bare, and return it.

    A match that was forfeited is forfeited again.

    Raises:
        ValueError: if the record does not follow the rules, or `env` has another game, version,
            rules or match, or a `max_deals` with which the match would end otherwise; `env` is
            left as it was.
    """
    bare = getattr(env, "unwrapped", None)
    if not isinstance(bare, CardGameEnv):
        raise ValueError(f"env must be an AEC environment of poke_env, got {shown(env)}")
    _play(record)
    for name, has, wanted in (
        ("game", f"{bare.game.name}_v{bare.game.version}", f"{record.game}_v{record.version}"),
        ("match", bare.match, record.match),
        ("rules", bare.rules, record.rules),
    ):
        if has != wanted:
            raise ValueError(f"env must have {name} {wanted!r} as the record, got {has!r}")
    finished = sum(deal.points is not None for deal in record.deals)
    max_deals = bare.settings.max_deals
    most = math.inf if max_deals is None else max_deals
    if record.ending.kind == "truncated" and most != finished:
        raise ValueError(f"env must have max_deals {finished} as the record, got {max_deals}")
    if most < finished or (most == finished and record.ending.kind in ("forfeit", "unfinished")):
        raise ValueError(
            f"env must have max_deals above {finished} or None for this record, got {max_deals}"
        )
    playing = cast(Any, env)
    playing.reset(options=record.options())
    for action in record.actions:
        playing.step(action)
    if record.ending.kind == "forfeit":
        bare.forfeit()
    return env


class Replayer:
    """An agent that makes the recorded moves of its seats in turn, such as those of an opponent.

    Where the record ends with a forfeit by one of its seats, the last move is the illegal action
    -1. `act_batch` takes its rows as decisions that follow one another.

    Args:
        record: the match.
        seats: the seat or seats it plays; None is all of them.

    Raises:
        ValueError: if the record does not follow the rules or a seat does not exist.
    """

    def __init__(self, record: Record, seats: int | Iterable[int] | None = None) -> None:
        table, played = _play(record)
        number = table.seats
        if seats is None:
            seats = range(number)
        elif not isinstance(seats, Iterable):
            seats = [seats]
        own = {check_integer("seats", seat, 0, number - 1) for seat in seats}
        self.record = record
        self._moves = [
            action
            for one in played
            for seat, action in zip(one.seats, one.deal.actions)
            if seat in own
        ]
        if record.ending.kind == "forfeit" and record.ending.seat in own:
            self._moves.append(-1)
        self._made = 0

    def reset(self, seed: int | None = None) -> None:
        """Begin with the first move again; `seed` is not needed."""
        self._made = 0

    def act(self, observation: Mapping[str, Any], key: Any = None) -> int:
        """The next recorded move; see `Agent.act`.

        Raises:
            ValueError: if it is illegal here, or all moves are made: another match is going on.
        """
        mask = np.asarray(observation["action_mask"])
        if self._made == len(self._moves):
            raise ValueError(f"all {len(self._moves)} recorded moves are made, but one more is due")
        move = self._moves[self._made]
        legal = np.flatnonzero(mask).tolist()
        if not legal or (move >= 0 and move not in legal):
            raise ValueError(
                f"recorded move {self._made + 1} of {len(self._moves)} is {move}, but legal are "
                f"{legal}: this is not the recorded match"
            )
        self._made += 1
        return move

    def act_batch(
        self, observations: Observations, masks: Masks, keys: Keys | None = None
    ) -> npt.NDArray[np.int64]:
        """The next recorded moves, one for every row; see `Agent.act_batch`.

        Raises:
            ValueError: as `act`; then none of the moves counts as made.
        """
        made = self._made
        try:
            return np.array([self.act({"action_mask": mask}) for mask in masks], np.int64)
        except ValueError:
            self._made = made
            raise
