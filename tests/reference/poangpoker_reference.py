"""A slow, obvious Poängpoker, written from docs/rules.md section 4 alone.

It exists to be read next to the rule book and to be compared with the real environment, so it
shares no code with it, uses nothing but the standard library, and prefers trying everything to
being clever. Docstrings cite the paragraphs they put into code.

Conventions that are the project's and not the rule book's:

* A card is the number ``rank * 4 + suit``: ranks 0..12 for 2..A, suits 0..3 for c d h s. Smaller
  packs hold the highest ranks and the first suits, their card numbers unchanged.
* Players are 0 to n - 1; on the left of player p sits p + 1, on the left of the last one 0. Lists
  and tuples "by player" have n entries.
* An action is a bit set over the slots of the player to move. Slots number his hand in ascending
  card order: as it stands now in the exchange, as it stood when the exchange ended afterwards, so
  that a card that has been played leaves its slot empty.
* A pack is dealt from the front: all cards of the player on the dealer's left, all of the next, …,
  all of the dealer's, then the replacements in the order in which they are drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import Any

ACE = 12
FIVE = 3
(
    HIGH_CARD,
    PAIR,
    TWO_PAIR,
    THREE_OF_A_KIND,
    STRAIGHT,
    FLUSH,
    FULL_HOUSE,
    FOUR_OF_A_KIND,
    STRAIGHT_FLUSH,
    ROYAL_FLUSH,
) = range(10)


@dataclass(frozen=True)
class ReferenceRules:
    """The numbers and options of docs/rules.md section 4, with its defaults."""

    players: int = 4
    ranks: int = 13
    suits: int = 4
    hand_size: int = 5
    max_discard: int = 5
    last_trick_points: int = 2
    poker_points: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
    """From high card to royal flush, in the order of the categories above (docs/rules.md 4.3)."""
    target: int = 13
    must_head: bool = True
    tie: str = "none"
    win_check: str = "after_trick"

    def __post_init__(self) -> None:
        """Refuse what would silently be read as something else; no complete validation."""
        if self.tie not in ("none", "all"):
            raise ValueError(f"tie is 'none' or 'all', not {self.tie!r}")
        if self.win_check not in ("after_trick", "end_of_deal"):
            raise ValueError(f"win_check is 'after_trick' or 'end_of_deal', not {self.win_check!r}")
        if self.players * self.hand_size > self.ranks * self.suits:
            raise ValueError("the pack is too small for a hand each")

    def pack(self) -> list[int]:
        """Every card of the pack, ascending: the highest ranks and the first suits."""
        highest_ranks = range(13 - self.ranks, 13)
        return [rank * 4 + suit for rank in highest_ranks for suit in range(self.suits)]


@dataclass
class Trick:
    """A trick: who led, and the cards played so far, in the order of play (docs/rules.md 4.2)."""

    leader: int
    plays: list[tuple[int, int]] = field(default_factory=list)
    """Player and card."""

    def best(self) -> tuple[int, int]:
        """Who is winning, and with which card: the highest one of the suit led."""
        suit_led = suit_of(self.plays[0][1])
        return max(
            (play for play in self.plays if suit_of(play[1]) == suit_led),
            key=lambda play: rank_of(play[1]),
        )


@dataclass(frozen=True)
class FinishedDeal:
    """What one deal wrote on the score pad; all but ``dealer`` and ``hands_counted`` by player."""

    dealer: int
    final_hands: tuple[tuple[int, ...], ...]
    exchanged: tuple[int, ...]
    tricks_taken: tuple[int, ...]
    last_trick: tuple[int, ...]
    hands_counted: bool
    poker: tuple[int, ...]

    def written(self) -> list[int]:
        """All that this deal wrote for each player."""
        return [a + b for a, b in zip(self.last_trick, self.poker, strict=True)]


def rank_of(card: int) -> int:
    """0 for a two to 12 for an ace."""
    return card // 4


def suit_of(card: int) -> int:
    """0 to 3 for c d h s."""
    return card % 4


def poker_hand(cards: Collection[int]) -> tuple[int, tuple[int, ...]]:
    """Category and deciding ranks of a hand; the better hand has the greater (docs/rules.md 4.3).

    Within a category the sets decide first, then the kickers; suits never do. Hands of fewer than
    five cards make sets only.
    """
    counts = Counter(rank_of(card) for card in cards)
    # Ranks held most often first, higher ranks first among those held equally often.
    ranks = tuple(sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True))
    shape = [counts[rank] for rank in ranks]

    if len(cards) == 5:
        flush = len({suit_of(card) for card in cards}) == 1
        straight = len(counts) == 5 and ranks[0] - ranks[4] == 4
        if ranks == (ACE, FIVE, 2, 1, 0):
            straight = True
            ranks = (FIVE, 2, 1, 0, -1)  # the ace counts below the two: the lowest straight
        if straight and flush:
            return (ROYAL_FLUSH if ranks[0] == ACE else STRAIGHT_FLUSH), ranks
        if shape == [3, 2]:
            return FULL_HOUSE, ranks
        if flush:
            return FLUSH, ranks
        if straight:
            return STRAIGHT, ranks

    if shape[0] == 4:
        return FOUR_OF_A_KIND, ranks
    if shape[0] == 3:
        return THREE_OF_A_KIND, ranks
    if shape[:2] == [2, 2]:
        return TWO_PAIR, ranks
    if shape[0] == 2:
        return PAIR, ranks
    return HIGH_CARD, ranks


def less_the_others(numbers: Sequence[int]) -> list[Fraction]:
    """Each number less the mean of all the others."""
    return [
        number - Fraction(sum(numbers) - number, len(numbers) - 1) for number in map(int, numbers)
    ]


def shared_win(numbers: Sequence[int]) -> list[float]:
    """k of n share the highest number and get 1/k each, the others -1/(n - k); all level get 0."""
    winners = [player for player, number in enumerate(numbers) if number == max(numbers)]
    losers = len(numbers) - len(winners)
    if losers == 0:
        return [0.0] * len(numbers)
    return [
        1 / len(winners) if player in winners else -1 / losers for player in range(len(numbers))
    ]


class ReferencePoangpoker:
    """One match of Poängpoker: a deal or a game, from any score at which it can stand.

    The match waits for a pack (``phase == "deal"``), then for the actions of ``to_move`` until
    the deal is over, then for the next pack, until ``phase == "over"``. Between deals everything
    that belongs to a deal is still that of the last one.

    Attributes:
        rules, match: as given.
        phase: ``"deal"``, ``"exchange"``, ``"trick"`` or ``"over"``.
        to_move: the player to act, None while no action is awaited.
        dealer: the dealer of the deal going on or, between deals, of the last one.
        slots: by player, the cards his actions are numbered by (see the module's conventions).
        stock: cards neither dealt nor drawn.
        discards: by player, the cards thrown away.
        exchanged: by player, how many cards he changed, None before he was asked.
        played: by player, the cards he has played, in order.
        tricks: the tricks of the deal in order, the one on the table included.
        points: the score, by player.
        winner: who has won the game, None while nobody has.
        finished: the deals played to the end, in order.
    """

    def __init__(
        self,
        rules: ReferenceRules,
        match: str = "game",
        dealer: int = 0,
        points: Sequence[int] | None = None,
    ) -> None:
        if match not in ("deal", "game"):
            raise ValueError(f"match is 'deal' or 'game', not {match!r}")
        self.rules = rules
        self.players = range(rules.players)
        self.match = match
        self.dealer = dealer
        self.points = list(points or [0] * rules.players)
        if self._leader_with_the_target() is not None:
            raise ValueError(f"at {self.points} the game is over")
        self.winner: int | None = None
        self.finished: list[FinishedDeal] = []
        self.phase = "deal"
        self.to_move: int | None = None
        self._clear([[] for _ in self.players])
        self.stock: list[int] = []
        self._last_action_ended_a_deal = False

    def _clear(self, hands: list[list[int]]) -> None:
        self.slots = hands
        self.discards: list[list[int]] = [[] for _ in self.players]
        self.exchanged: list[int | None] = [None for _ in self.players]
        self.played: list[list[int]] = [[] for _ in self.players]
        self.tricks: list[Trick] = []

    # --- what lies where ---------------------------------------------------------------------

    def left_of(self, player: int) -> int:
        """The player whose turn comes after this one's."""
        return (player + 1) % self.rules.players

    def hand(self, player: int) -> list[int]:
        """The cards a player still holds, ascending."""
        return [card for card in self.slots[player] if card not in self.played[player]]

    @property
    def table(self) -> Trick | None:
        """The trick going on, None before its lead."""
        if not self.tricks or len(self.tricks[-1].plays) == self.rules.players:
            return None
        return self.tricks[-1]

    def action_of(self, cards: Collection[int]) -> int:
        """The action that names exactly these cards of the player to move; 0 for none."""
        assert self.to_move is not None
        slots = self.slots[self.to_move]
        missing = [card for card in cards if card not in slots]
        if missing:
            raise ValueError(f"player {self.to_move} has no cards {missing}")
        return sum(2**slot for slot, card in enumerate(slots) if card in cards)

    def cards_of(self, action: int) -> list[int]:
        """The cards in the slots an action names, ascending; also those already played."""
        assert self.to_move is not None
        return [card for slot, card in enumerate(self.slots[self.to_move]) if action & 2**slot]

    # --- the deal ----------------------------------------------------------------------------

    def deal(self, deck: Sequence[int]) -> None:
        """Deal the next hands from a full order of the pack (docs/rules.md 4.1, 4.4)."""
        if self.phase != "deal":
            raise ValueError(f"no pack is awaited in phase {self.phase!r}")
        if sorted(deck) != self.rules.pack():
            raise ValueError("the deck must hold every card of the pack once")
        if self.finished:
            self.dealer = self.left_of(self.dealer)
        self._clear([[] for _ in self.players])
        self.stock = list(deck)
        player = self.dealer
        for _ in self.players:
            player = self.left_of(player)
            self.slots[player] = sorted(self.stock[: self.rules.hand_size])
            del self.stock[: self.rules.hand_size]
        self.phase, self.to_move = "exchange", self.left_of(self.dealer)

    # --- legal actions -----------------------------------------------------------------------

    def legal(self) -> set[int]:
        """Every legal action of the player to move; empty when nobody is to move."""
        if self.to_move is None:
            return set()
        return {action for action in range(2**self.rules.hand_size) if self._is_legal(action)}

    def _is_legal(self, action: int) -> bool:
        assert self.to_move is not None
        cards = self.cards_of(action)
        if any(card in self.played[self.to_move] for card in cards):
            return False
        if self.phase == "exchange":
            return self._may_discard(cards)
        return len(cards) == 1 and self._may_play(cards[0])

    def _may_discard(self, cards: list[int]) -> bool:
        """None, or as many as are allowed and the stock holds (docs/rules.md 4.1)."""
        return len(cards) <= self.rules.max_discard and len(cards) <= len(self.stock)

    def _may_play(self, card: int) -> bool:
        """Follow suit and beat the best of it; else follow suit; else anything (docs/rules.md 4.2).

        With ``must_head=False`` following suit is enough.
        """
        assert self.to_move is not None
        if self.table is None:
            return True
        _, best = self.table.best()
        of_the_suit = [c for c in self.hand(self.to_move) if suit_of(c) == suit_of(best)]
        beating = [c for c in of_the_suit if rank_of(c) > rank_of(best)]
        if self.rules.must_head and beating:
            return card in beating
        if of_the_suit:
            return card in of_the_suit
        return True

    # --- actions -----------------------------------------------------------------------------

    def apply(self, action: int) -> None:
        """Play an action of the player to move; an illegal one raises and changes nothing."""
        if action not in self.legal():
            raise ValueError(
                f"action {action!r} is illegal for player {self.to_move} in phase {self.phase!r}"
            )
        assert self.to_move is not None
        self._last_action_ended_a_deal = False
        player, cards = self.to_move, self.cards_of(action)
        if self.phase == "exchange":
            self._exchange(player, cards)
        else:
            self._play(player, cards[0])

    def _exchange(self, player: int, cards: list[int]) -> None:
        """Everybody once, the dealer last; then his left leads (docs/rules.md 4.1, 4.2)."""
        for card in cards:
            self.slots[player].remove(card)
            self.slots[player].append(self.stock.pop(0))
        self.slots[player].sort()
        self.discards[player] = cards
        self.exchanged[player] = len(cards)
        self.to_move = self.left_of(player)
        if player == self.dealer:
            self.phase = "trick"

    def _play(self, player: int, card: int) -> None:
        """The winner of a trick leads to the next (docs/rules.md 4.2)."""
        if self.table is None:
            self.tricks.append(Trick(player))
        trick = self.tricks[-1]
        trick.plays.append((player, card))
        self.played[player].append(card)
        self.to_move = self.left_of(player)
        if len(trick.plays) == self.rules.players:
            self.to_move, _ = trick.best()
            if len(self.tricks) == self.rules.hand_size:
                self._end_deal()

    # --- the score ---------------------------------------------------------------------------

    def _end_deal(self) -> None:
        """Write the last trick, look; write the hands, look (docs/rules.md 4.3, 4.4)."""
        taker, _ = self.tricks[-1].best()
        last_trick = [self.rules.last_trick_points if p == taker else 0 for p in self.players]
        poker = [0 for _ in self.players]
        self._write(last_trick)
        if self.rules.win_check == "after_trick":
            self.winner = self._leader_with_the_target()
        counted = self.winner is None
        if counted:
            poker = self._poker_points()
            self._write(poker)
            self.winner = self._leader_with_the_target()
        self.finished.append(
            FinishedDeal(
                dealer=self.dealer,
                final_hands=tuple(tuple(self.slots[p]) for p in self.players),
                exchanged=tuple(int(count or 0) for count in self.exchanged),
                tricks_taken=tuple(
                    sum(trick.best()[0] == p for trick in self.tricks) for p in self.players
                ),
                last_trick=tuple(last_trick),
                hands_counted=counted,
                poker=tuple(poker),
            )
        )
        over = self.match == "deal" or self.winner is not None
        self.phase, self.to_move = ("over" if over else "deal"), None
        self._last_action_ended_a_deal = True

    def _write(self, points: Sequence[int]) -> None:
        self.points = [old + new for old, new in zip(self.points, points, strict=True)]

    def _poker_points(self) -> list[int]:
        """The best hand scores, the others nothing; equal best ones by ``tie`` (docs/rules.md 4.3).

        Compared are each player's five cards as they were when the exchange ended.
        """
        hands = [poker_hand(self.slots[p]) for p in self.players]
        best = max(hands)
        if hands.count(best) > 1 and self.rules.tie == "none":
            return [0 for _ in self.players]
        points = self.rules.poker_points[best[0]]
        return [points if hand == best else 0 for hand in hands]

    def _leader_with_the_target(self) -> int | None:
        """Who has the target or more, and more than every other (docs/rules.md 4.4)."""
        most = max(self.points)
        if most < self.rules.target or self.points.count(most) > 1:
            return None
        return self.points.index(most)

    def rewards(self, kind: str = "points") -> list[Any]:
        """What the last action paid to each player.

        ``"points"``: after the last action of a deal what it wrote for him less the mean of what
        it wrote for the others. ``"win"``: at the end of the match; a game is won by one, a deal by
        all who wrote most.
        """
        if not self._last_action_ended_a_deal or (kind == "win" and self.phase != "over"):
            return [0.0 for _ in self.players]
        written = self.finished[-1].written()
        if kind == "points":
            return less_the_others(written)
        return shared_win(self.points if self.match == "game" else written)

    # --- what a player knows -----------------------------------------------------------------

    def knows(self, player: int) -> dict[str, Any]:
        """Everything a player may know, in plain values.

        Players are numbered from the one who knows: 0 is he, 1 is on his left. Cards are ascending
        lists. The numbers of cards changed are public, the discards are hidden (docs/rules.md 4.1);
        all cards played lie face up (docs/rules.md 4.2), and the score is public.

        Keys: ``hand``, ``discards``, ``exchanged`` (by player, None before it), ``stock`` (its
        size), ``seen`` (own hand and discards, cards played by all), ``tricks`` (leader, cards in
        the order played, winner or None), ``points``, ``phase``, ``dealer``, ``turn`` (None if
        nobody is to move), ``players``.
        """
        number = self.rules.players
        own_first = [*range(player, number), *range(player)]

        def seat(other: int) -> int:
            return own_first.index(other)

        hand, discards = self.hand(player), sorted(self.discards[player])
        return {
            "players": number,
            "hand": hand,
            "discards": discards,
            "exchanged": [self.exchanged[p] for p in own_first],
            "stock": len(self.stock),
            "seen": sorted([*hand, *discards, *chain(*self.played)]),
            "tricks": [
                (
                    seat(trick.leader),
                    [card for _, card in trick.plays],
                    None if trick is self.table else seat(trick.best()[0]),
                )
                for trick in self.tricks
            ],
            "points": [self.points[p] for p in own_first],
            "phase": self.phase,
            "dealer": seat(self.dealer),
            "turn": None if self.to_move is None else seat(self.to_move),
        }
