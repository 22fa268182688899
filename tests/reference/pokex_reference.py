"""A slow, obvious Pokex, written from docs/rules.md section 2 alone.

It exists to be read next to the rule book and to be compared with the real environment, so it
shares no code with it, uses nothing but the standard library, and prefers trying everything to
being clever: wild jokers, for instance, are tried as each of the 52 cards. Docstrings cite the
paragraphs they put into code.

Conventions that are the project's and not the rule book's:

* A card is the number ``rank * 4 + suit``: ranks 0..12 for 2..A, suits 0..3 for c d h s; the
  jokers are 52 and 53. Smaller packs hold the highest ranks, the first suits and the first jokers,
  their card numbers unchanged; in a deal of fewer tricks there are two cards of each hand and one
  in the centre for each.
* Players are 0 to 3, the next in turn is the next number, and a side is a number modulo 2. A *pair*
  is a tuple ``(side 0's, side 1's)``.
* Actions: 0 passes, 1 to 6 bid so many tricks, 7 to 72 play the two cards in a pair of the twelve
  slots, the pairs in lexicographic order. Slots number the hand in ascending card order as it was
  dealt, so that a card that has been played leaves its slot empty.
* A pack is dealt in this order: the hands, one after another, beginning with the player to bid
  first; then the centre from the left. What is left over is not used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, combinations_with_replacement
from typing import Any

Pair = tuple[int, int]

ACE = 12
FIVE = 3
JOKER = 13
JOKERS = (52, 53)
PASS = 0
SLOT_PAIRS = list(combinations(range(12), 2))
FIRST_PAIR = 7

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
    FIVE_OF_A_KIND,
) = range(10)


@dataclass(frozen=True)
class ReferenceRules:
    """The numbers and options of docs/rules.md section 2, with its defaults."""

    ranks: int = 13
    suits: int = 4
    jokers: int = 2
    tricks: int = 6
    target: int = 33
    joker: str = "high_card"
    lead_next: str = "left"
    trick_tie: str = "leader"
    failed_bid: str = "zero"

    def __post_init__(self) -> None:
        """Refuse what would silently be read as something else; no complete validation."""
        if self.joker not in ("high_card", "wild"):
            raise ValueError(f"joker is 'high_card' or 'wild', not {self.joker!r}")
        if self.lead_next not in ("left", "winner"):
            raise ValueError(f"lead_next is 'left' or 'winner', not {self.lead_next!r}")
        if self.trick_tie not in ("leader", "defenders"):
            raise ValueError(f"trick_tie is 'leader' or 'defenders', not {self.trick_tie!r}")
        if self.failed_bid not in ("zero", "minus"):
            raise ValueError(f"failed_bid is 'zero' or 'minus', not {self.failed_bid!r}")
        if len(self.pack()) < 9 * self.tricks:
            raise ValueError("the pack is too small")

    def pack(self) -> list[int]:
        """Every card of the pack, ascending: the highest ranks, the first suits, the jokers."""
        plain = [
            rank * 4 + suit for rank in range(13 - self.ranks, 13) for suit in range(self.suits)
        ]
        return plain + list(JOKERS[: self.jokers])


@dataclass
class Trick:
    """One trick (docs/rules.md 2.3): the cards by player, in ascending order, and who won it."""

    leader: int
    centre: int
    cards: dict[int, tuple[int, ...]] = field(default_factory=dict)
    winner: int | None = None
    """The side."""

    def hand_of(self, side: int) -> list[int]:
        """The five cards of a side: two of each partner and the centre card."""
        return [*self.cards[side], *self.cards[side + 2], self.centre]


@dataclass(frozen=True)
class FinishedDeal:
    """A deal that was played out or passed out; `tricks_taken` and `score` are pairs by side."""

    dealer: int
    hands: tuple[tuple[int, ...], ...]
    centre: tuple[int, ...]
    calls: tuple[tuple[int, int], ...]
    declarer: int | None
    bid: int
    tricks: tuple[Trick, ...]
    tricks_taken: Pair
    score: Pair


@cache
def pattern_rank(ranks: tuple[int, ...], one_suit: bool) -> tuple[int, tuple[int, ...]]:
    """Category and deciding ranks of five cards by their ranks, falling, and whether they match.

    The better hand has the greater. A rank may occur five times, and also in a flush twice or more.
    """
    counts = Counter(ranks)
    # Ranks held most often first, higher ranks first among those held equally often.
    groups = tuple(sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True))
    shape = [counts[rank] for rank in groups]
    flush = one_suit and JOKER not in ranks
    straight = len(groups) == 5 and ranks[0] - ranks[4] == 4 and JOKER not in ranks
    run = ranks
    if ranks == (ACE, FIVE, 2, 1, 0):
        straight, run = True, (FIVE, 2, 1, 0, -1)  # the ace counts below the two
    if shape == [5]:
        return FIVE_OF_A_KIND, groups
    if straight and flush:
        return STRAIGHT_FLUSH, run
    if shape == [4, 1]:
        return FOUR_OF_A_KIND, groups
    if shape == [3, 2]:
        return FULL_HOUSE, groups
    if flush:
        return FLUSH, ranks
    if straight:
        return STRAIGHT, run
    if shape[0] == 3:
        return THREE_OF_A_KIND, groups
    if shape[:2] == [2, 2]:
        return TWO_PAIR, groups
    if shape[0] == 2:
        return PAIR, groups
    return HIGH_CARD, groups


def plain_rank(cards: Sequence[int]) -> tuple[int, tuple[int, ...]]:
    """Category and deciding ranks of five cards; jokers are a rank above the ace."""
    ranks = tuple(sorted((card // 4 for card in cards), reverse=True))
    return pattern_rank(ranks, len({card % 4 for card in cards}) == 1)


def wild_rank(cards: Sequence[int]) -> tuple[int, tuple[int, ...]]:
    """The best rank over all cards that the jokers may stand for (docs/rules.md 2.5)."""
    natural = [card for card in cards if card not in JOKERS]
    jokers = len(cards) - len(natural)
    return max(
        plain_rank([*natural, *meant]) for meant in combinations_with_replacement(range(52), jokers)
    )


class ReferencePokex:
    """One match of Pokex: a deal or a game, from any score at which it can stand.

    The match waits for a pack (``phase == "deal"``), then for the actions of ``to_move`` until the
    deal is over, then for the next pack, until ``phase == "over"``. Between deals everything that
    belongs to a deal is still that of the last one.

    Attributes:
        rules, match: as given.
        phase: ``"deal"``, ``"auction"``, ``"play"`` or ``"over"``.
        to_move: the player to act, None while no action is awaited.
        dealer: the dealer of the deal going on or, between deals, of the last one.
        slots: by player, the cards that actions are numbered by (see the module's conventions).
        centre: the centre row as it was dealt.
        calls: the auction, players and bids in order; 0 is a pass.
        tricks: those of the deal in order, the one being played included.
        score: points by side.
        finished: the deals that ended, in order.
    """

    def __init__(
        self, rules: ReferenceRules, match: str = "game", dealer: int = 0, points: Pair = (0, 0)
    ) -> None:
        if match not in ("deal", "game"):
            raise ValueError(f"match is 'deal' or 'game', not {match!r}")
        if max(points) >= rules.target:
            raise ValueError(f"at {points} the game is over")
        self.rules = rules
        self.match = match
        self.dealer = dealer
        self.score = points
        self.phase = "deal"
        self.to_move: int | None = None
        self.slots: list[list[int]] = [[], [], [], []]
        self.centre: list[int] = []
        self.calls: list[tuple[int, int]] = []
        self.tricks: list[Trick] = []
        self.finished: list[FinishedDeal] = []
        self._last_action_ended_a_deal = False

    # --- what lies where ---------------------------------------------------------------------

    @property
    def bid(self) -> int:
        """The highest bid, 0 before the first."""
        return max((bid for _, bid in self.calls), default=0)

    @property
    def declarer(self) -> int | None:
        """Who made the highest bid."""
        return next((player for player, bid in self.calls if bid == self.bid and bid), None)

    def played(self, player: int) -> list[int]:
        """The cards a player has played, in order."""
        return [card for trick in self.tricks for card in trick.cards.get(player, ())]

    def hand(self, player: int) -> list[int]:
        """The cards a player still holds, ascending."""
        return [card for card in self.slots[player] if card not in self.played(player)]

    def tricks_taken(self, side: int) -> int:
        """Tricks won by a side in this deal."""
        return sum(trick.winner == side for trick in self.tricks)

    # --- the deal ----------------------------------------------------------------------------

    def deal(self, deck: Sequence[int]) -> None:
        """Deal from a full order of the pack (docs/rules.md 2.1)."""
        if self.phase != "deal":
            raise ValueError(f"no pack is awaited in phase {self.phase!r}")
        if sorted(deck) != self.rules.pack():
            raise ValueError("the deck must hold every card of the pack once")
        if self.finished:
            self.dealer = (self.dealer + 1) % 4
        rest = list(deck)
        for turn in range(1, 5):
            player = (self.dealer + turn) % 4
            self.slots[player] = sorted(rest[: 2 * self.rules.tricks])
            rest = rest[2 * self.rules.tricks :]
        self.centre = rest[: self.rules.tricks]
        self.calls = []
        self.tricks = []
        self.phase, self.to_move = "auction", (self.dealer + 1) % 4

    # --- legal actions -----------------------------------------------------------------------

    def legal(self) -> set[int]:
        """Every legal action of the player to move; empty when nobody is to move."""
        return {action for action in range(73) if self._is_legal(action)}

    def _is_legal(self, action: int) -> bool:
        """More than the highest bid, or pass (docs/rules.md 2.2); two cards (docs/rules.md 2.3)."""
        if self.phase == "auction":
            return action == PASS or self.bid < action <= self.rules.tricks
        if self.phase == "play":
            return action >= FIRST_PAIR and len(self._cards_of(action)) == 2
        return False

    def _cards_of(self, action: int) -> tuple[int, ...]:
        """The cards still held in the slots of an action."""
        assert self.to_move is not None
        slots = self.slots[self.to_move]
        hand = self.hand(self.to_move)
        named = [slots[slot] for slot in SLOT_PAIRS[action - FIRST_PAIR] if slot < len(slots)]
        return tuple(card for card in named if card in hand)

    # --- actions -----------------------------------------------------------------------------

    def apply(self, action: int) -> None:
        """Carry out an action of the player to move; an illegal one raises and changes nothing."""
        if action not in self.legal():
            raise ValueError(
                f"action {action!r} is illegal for player {self.to_move} in phase {self.phase!r}"
            )
        self._last_action_ended_a_deal = False
        if self.phase == "auction":
            self._call(action)
        else:
            self._play(self._cards_of(action))

    def _call(self, action: int) -> None:
        """Bid or pass; a pass is final. See whether the auction has ended (docs/rules.md 2.2)."""
        assert self.to_move is not None
        self.calls.append((self.to_move, action))
        passed = {player for player, bid in self.calls if bid == PASS}
        if len(passed) == 4:
            self._end_deal()
        elif self.bid == self.rules.tricks or (self.bid > 0 and len(passed) == 3):
            self.phase = "play"
            assert self.declarer is not None
            self._lead(self.declarer)
        else:
            following = [(self.to_move + turn) % 4 for turn in range(1, 5)]
            self.to_move = next(player for player in following if player not in passed)

    def _lead(self, player: int) -> None:
        """The next trick; the leftmost remaining centre card belongs to it (docs/rules.md 2.3)."""
        self.tricks.append(Trick(leader=player, centre=self.centre[len(self.tricks)]))
        self.to_move = player

    def _play(self, cards: tuple[int, ...]) -> None:
        """Leader, his partner, the leader's left, the last opponent (docs/rules.md 2.3)."""
        assert self.to_move is not None
        trick = self.tricks[-1]
        trick.cards[self.to_move] = cards
        leader = trick.leader
        order = [leader, (leader + 2) % 4, (leader + 1) % 4, (leader + 3) % 4]
        if len(trick.cards) < 4:
            self.to_move = order[len(trick.cards)]
            return
        trick.winner = self._trick_winner(trick)
        if len(self.tricks) == self.rules.tricks:
            self._end_deal()
        elif self.rules.lead_next == "left":
            self._lead((leader + 1) % 4)
        else:
            self._lead(next(player for player in order if player % 2 == trick.winner))

    def _trick_winner(self, trick: Trick) -> int:
        """The side with the better hand; equal ones by the option (docs/rules.md 2.3, 2.6)."""
        leading = trick.leader % 2
        ours, theirs = (
            self.strength(trick.hand_of(leading)),
            self.strength(trick.hand_of(1 - leading)),
        )
        if ours != theirs:
            return leading if ours > theirs else 1 - leading
        if self.rules.trick_tie == "leader":
            return leading
        assert self.declarer is not None
        return 1 - self.declarer % 2

    def strength(self, cards: Sequence[int]) -> tuple[Any, ...]:
        """What decides between hands; of equal ones the fewer wild cards (docs/rules.md 2.5)."""
        if self.rules.joker == "wild":
            return wild_rank(cards), -sum(card in JOKERS for card in cards)
        return (plain_rank(cards),)

    # --- the score ---------------------------------------------------------------------------

    def _end_deal(self) -> None:
        """Score the bidding side, if there is one; see who has won (docs/rules.md 2.7, 2.8)."""
        taken = (self.tricks_taken(0), self.tricks_taken(1))
        gained = [0, 0]
        if self.declarer is not None:
            side = self.declarer % 2
            gained[side] = self._gain(self.bid, taken[side])
        self.score = (self.score[0] + gained[0], self.score[1] + gained[1])
        self.finished.append(
            FinishedDeal(
                dealer=self.dealer,
                hands=tuple(tuple(slots) for slots in self.slots),
                centre=tuple(self.centre),
                calls=tuple(self.calls),
                declarer=self.declarer,
                bid=self.bid,
                tricks=tuple(self.tricks),
                tricks_taken=taken,
                score=(gained[0], gained[1]),
            )
        )
        over = self.match == "deal" or max(self.score) >= self.rules.target
        self.phase, self.to_move = ("over" if over else "deal"), None
        self._last_action_ended_a_deal = True

    def _gain(self, bid: int, taken: int) -> int:
        """What a bid of ``bid`` brings with ``taken`` tricks (docs/rules.md 2.7)."""
        worth = sum(range(1, bid + 1))
        if taken >= bid:
            return worth + bid * (taken - bid)
        return -worth if self.rules.failed_bid == "minus" else 0

    # --- what it comes to --------------------------------------------------------------------

    def winner(self) -> int | None:
        """The side that won the match; None if it is a draw or not over.

        A game is won by the side that reached the target, a deal by the side that gained in it more
        than the other.
        """
        if self.phase != "over":
            return None
        first, second = self.score if self.match == "game" else self.finished[-1].score
        if first == second:
            return None
        return 0 if first > second else 1

    def rewards(self, kind: str = "points") -> tuple[float, ...]:
        """What the last action paid to the four players; always zero-sum.

        ``"points"``: at the end of a deal the own side's points minus the other's. ``"win"``: at
        the end of the match 1/2 to each of the two winners, -1/2 to the others, 0 in a draw.
        """
        margin = 0.0
        if self._last_action_ended_a_deal:
            if kind == "points":
                margin = float(self.finished[-1].score[0] - self.finished[-1].score[1])
            else:
                margin = {0: 0.5, 1: -0.5, None: 0.0}[self.winner()]
        return margin, -margin, margin, -margin

    # --- what a player knows -----------------------------------------------------------------

    def knows(self, player: int) -> dict[str, Any]:
        """Everything a player may know, in plain values.

        Players are numbers of turns after ``player``: 0 himself, 1 left, 2 partner, 3 right; sides
        are 0 his own and 1 the other. Lists by player or side are in this order. He knows his own
        hand, the centre row, the auction, all cards that have been played, and what jokers are.
        """

        def turns_to(other: int | None) -> int | None:
            return None if other is None else (other - player) % 4

        order = [(player + turn) % 4 for turn in range(4)]
        sides = [player % 2, 1 - player % 2]
        everybodys = [card for other in order for card in self.played(other)]
        current = self.tricks[-1] if self.phase == "play" else None
        return {
            "hand": self.hand(player),
            "slots": self.slots[player],
            "centre": self.centre,
            "seen": sorted({*self.slots[player], *self.centre, *everybodys}),
            "bids": [(bid, turns_to(other)) for other, bid in self.calls if bid],
            "passed_at": [self._highest_before_pass(other) for other in order],
            "bid": self.bid,
            "declarer": turns_to(self.declarer),
            "turn": turns_to(self.to_move),
            "dealer": turns_to(self.dealer),
            "phase": {"deal": "over"}.get(self.phase, self.phase),
            "table": [current.cards.get(other, ()) if current else () for other in order],
            "tricks": [
                {
                    "leader": turns_to(trick.leader),
                    "cards": [trick.cards.get(other, ()) for other in order],
                    "centre": trick.centre,
                    "winner": None if trick.winner is None else (trick.winner - player) % 2,
                }
                for trick in self.tricks
            ],
            "taken": [self.tricks_taken(side) for side in sides],
            "score": [self.score[side] for side in sides],
            "wild": self.rules.joker == "wild",
        }

    def _highest_before_pass(self, player: int) -> int | None:
        """The highest bid when a player passed, None if he has not."""
        if (player, PASS) not in self.calls:
            return None
        before = self.calls[: self.calls.index((player, PASS))]
        return max((bid for _, bid in before), default=0)
