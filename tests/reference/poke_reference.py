"""A slow, obvious Poke, written from docs/rules.md section 1 alone.

It exists to be read next to the rule book and to be compared with the real environment, so it
shares no code with it, uses nothing but the standard library, and prefers trying everything to
being clever: the legal actions, for instance, are found by asking of every bit set in turn
whether the rules allow it. Docstrings cite the paragraphs they put into code.

Conventions that are the project's and not the rule book's:

* A card is the number ``rank * 4 + suit``: ranks 0..12 for 2..A, suits 0..3 for c d h s. Smaller
  packs hold the highest ranks and the first suits, their card numbers unchanged.
* Players are 0 and 1. A *pair* is a tuple ``(player 0's, player 1's)``.
* An action is a bit set over the slots of the player to move. Slots number his hand in ascending
  card order: as it stands now in the draw phase, as it stood when the draw phase ended afterwards,
  so that a card that has been played leaves its slot empty.
* A pack is dealt in this order: the non-dealer's hand from the front, then the dealer's; then the
  non-dealer's replacements upwards from there, the dealer's downwards from the back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeVar

T = TypeVar("T")
Pair = tuple[int, int]

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
    """The numbers and options of docs/rules.md section 1, with its defaults."""

    ranks: int = 13
    suits: int = 4
    hand_size: int = 5
    max_discard: int = 3
    non_dealer_draws: int = 2
    dealer_draws: int = 3
    non_dealer_values: tuple[int, ...] = (1, 2, 4)
    """Value of the DEALER's cards after 0, 1, 2 draws by the non-dealer (docs/rules.md 1.3)."""
    dealer_values: tuple[int, ...] = (1, 1, 2, 4)
    """Value of the NON-DEALER's cards after 0 to 3 draws by the dealer (docs/rules.md 1.3)."""
    target: int = 20
    poker_points: tuple[int, ...] = (0, 50, 100, 200, 300, 400, 500, 600, 750, 1000)
    """From high card to royal flush, in the order of the categories above (docs/rules.md 1.6)."""
    sweep_points: int = 250
    game_points: int = 100
    rubber_points: tuple[int, int] = (750, 500)
    """For the rubber, when the opponent has won no game and one game (docs/rules.md 1.8)."""
    must_beat: bool = True
    trick_unit: str = "card"
    poker_tie: str = "none"
    ace_low_straight: bool = True
    final_tie: str = "draw"
    follow_set_if_held: bool = False
    reveal_discards: bool = False

    def __post_init__(self) -> None:
        """Refuse what would silently be read as something else; no complete validation."""
        if self.trick_unit not in ("card", "lead"):
            raise ValueError(f"trick_unit is 'card' or 'lead', not {self.trick_unit!r}")
        if self.poker_tie not in ("none", "both"):
            raise ValueError(f"poker_tie is 'none' or 'both', not {self.poker_tie!r}")
        if self.final_tie not in ("draw", "rubber_winner"):
            raise ValueError(f"final_tie is 'draw' or 'rubber_winner', not {self.final_tie!r}")
        if not 1 <= self.hand_size <= 5:
            raise ValueError(f"hand_size is 1 to 5, not {self.hand_size}")
        if 2 * self.hand_size > self.ranks * self.suits:
            raise ValueError("the pack is too small for two hands")
        if len(self.non_dealer_values) != self.non_dealer_draws + 1:
            raise ValueError("non_dealer_values needs a value for each number of draws, 0 included")
        if len(self.dealer_values) != self.dealer_draws + 1:
            raise ValueError("dealer_values needs a value for each number of draws, 0 included")

    def pack(self) -> list[int]:
        """Every card of the pack, ascending: the highest ranks and the first suits."""
        highest_ranks = range(13 - self.ranks, 13)
        return [rank * 4 + suit for rank in highest_ranks for suit in range(self.suits)]


@dataclass(frozen=True)
class Trick:
    """One lead and the cards thrown or played on it (docs/rules.md 1.4); cards are ascending."""

    leader: int
    led: tuple[int, ...]
    followed: tuple[int, ...]
    winner: int


@dataclass(frozen=True)
class FinishedDeal:
    """What one deal wrote on the score pad; all but ``dealer`` are pairs by player."""

    dealer: int
    final_hands: tuple[tuple[int, ...], tuple[int, ...]]
    draws: tuple[tuple[int, ...], tuple[int, ...]]
    cards_taken: Pair
    leads_taken: Pair
    trick_values: Pair
    below: Pair
    poker: Pair
    sweep: Pair
    game_bonus: Pair
    rubber_bonus: Pair

    def above(self, player: int) -> int:
        """All that this deal wrote above the line for ``player``, bonuses included."""
        return (
            self.poker[player]
            + self.sweep[player]
            + self.game_bonus[player]
            + self.rubber_bonus[player]
        )


def rank_of(card: int) -> int:
    """0 for a two to 12 for an ace."""
    return card // 4


def suit_of(card: int) -> int:
    """0 to 3 for c d h s."""
    return card % 4


def of_one_rank(cards: Collection[int]) -> bool:
    """Whether the cards are a set (a single card counts as one)."""
    return len({rank_of(card) for card in cards}) == 1


def beats(followed: Collection[int], led: Collection[int]) -> bool:
    """Whether ``followed`` beats ``led``: as many cards of one, higher, rank (docs/rules.md 1.4).

    The ace is always high, suits mean nothing, and at equal rank the leader wins.
    """
    return (
        len(followed) == len(led)
        and of_one_rank(followed)
        and rank_of(min(followed)) > rank_of(min(led))
    )


def poker_hand(cards: Collection[int], rules: ReferenceRules) -> tuple[int, tuple[int, ...]]:
    """Category and deciding ranks of a hand; the better hand has the greater (docs/rules.md 1.6).

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
        if rules.ace_low_straight and ranks == (ACE, FIVE, 2, 1, 0):
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


def both(of_player: Callable[[int], T]) -> tuple[T, T]:
    """The pair of what a function says of player 0 and of player 1."""
    return of_player(0), of_player(1)


class ReferencePoke:
    """One match of Poke: a deal, a game or a rubber, from any score at which it can stand.

    The match waits for a pack (``phase == "deal"``), then for the actions of ``to_move`` until
    the deal is over, then for the next pack, until ``phase == "over"``. Between deals everything
    that belongs to a deal is still that of the last one.

    Attributes:
        rules, match: as given.
        phase: ``"deal"``, ``"draw"``, ``"lead"``, ``"follow"`` or ``"over"``.
        to_move: the player to act, None while no action is awaited.
        dealer: the dealer of the deal going on or, between deals, of the last one.
        slots: by player, the cards his actions are numbered by (see the module's conventions).
        stock: cards neither dealt nor drawn; the non-dealer draws from its front, the dealer from
            its back.
        discards: by player, the cards thrown away, in the order in which they went.
        draws: by player, the number of cards taken in each draw made.
        played: by player, the cards he has led or followed with, in order.
        tricks: the finished tricks of the deal, in order.
        table: the cards led and waiting to be followed, ascending.
        below, above, games: the score, pairs by player.
        finished: the deals played to the end, in order.
    """

    def __init__(
        self,
        rules: ReferenceRules,
        match: str = "rubber",
        dealer: int = 0,
        below: Pair = (0, 0),
        above: Pair = (0, 0),
        games: Pair = (0, 0),
    ) -> None:
        if match not in ("deal", "game", "rubber"):
            raise ValueError(f"match is 'deal', 'game' or 'rubber', not {match!r}")
        if dealer not in (0, 1):
            raise ValueError(f"dealer is 0 or 1, not {dealer!r}")
        if min(*below, *above, *games) < 0 or max(games) > 1:
            raise ValueError("points are not negative, and at most one game is won by each")
        if max(below) >= rules.target and below[0] != below[1]:
            raise ValueError(f"at {below} below the line the game is over")
        self.rules = rules
        self.match = match
        self.dealer = dealer
        self.below = below
        self.above = above
        self.games = games
        self.finished: list[FinishedDeal] = []
        self.phase = "deal"
        self.to_move: int | None = None
        self.slots: list[list[int]] = [[], []]
        self.stock: list[int] = []
        self.discards: list[list[int]] = [[], []]
        self.draws: list[list[int]] = [[], []]
        self.played: list[list[int]] = [[], []]
        self.tricks: list[Trick] = []
        self.table: tuple[int, ...] = ()
        self._last_action_ended_a_deal = False

    # --- what lies where ---------------------------------------------------------------------

    @property
    def non_dealer(self) -> int:
        """The player who does not deal: he draws first and leads first."""
        return 1 - self.dealer

    @property
    def hands(self) -> tuple[list[int], list[int]]:
        """By player, the cards still in his hand, ascending."""
        return both(lambda p: [card for card in self.slots[p] if card not in self.played[p]])

    @property
    def trick_values(self) -> Pair:
        """By player, what each card (or lead) he takes is worth.

        The opponent's draws, and they alone, set it; the two values are independent
        (docs/rules.md 1.3).
        """
        after_non_dealer = self.rules.non_dealer_values[len(self.draws[self.non_dealer])]
        after_dealer = self.rules.dealer_values[len(self.draws[self.dealer])]
        return both(lambda p: after_non_dealer if p == self.dealer else after_dealer)

    def draws_allowed(self, player: int) -> int:
        """How many draws a player may make in a deal (docs/rules.md 1.2)."""
        if player == self.dealer:
            return self.rules.dealer_draws
        return self.rules.non_dealer_draws

    def action_of(self, cards: Collection[int]) -> int:
        """The action that names exactly these cards of the player to move; 0 for none."""
        if self.to_move is None:
            raise ValueError("nobody is to move")
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
        """Deal the next hands from a full order of the pack (docs/rules.md 1.1).

        The deal alternates after every deal of the match, new games and tie-breaks included.
        """
        if self.phase != "deal":
            raise ValueError(f"no pack is awaited in phase {self.phase!r}")
        if sorted(deck) != self.rules.pack():
            raise ValueError("the deck must hold every card of the pack once")
        if self.finished:
            self.dealer = 1 - self.dealer
        size = self.rules.hand_size
        self.slots[self.non_dealer] = sorted(deck[:size])
        self.slots[self.dealer] = sorted(deck[size : 2 * size])
        self.stock = list(deck[2 * size :])
        self.discards = [[], []]
        self.draws = [[], []]
        self.played = [[], []]
        self.tricks = []
        self.table = ()
        self._ask_for_a_draw(self.non_dealer)

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
        if self.phase == "draw":
            return self._may_discard(cards)
        if self.phase == "lead":
            return self._may_lead(cards)
        return self._may_follow(cards)

    def _may_discard(self, cards: list[int]) -> bool:
        """No card stands pat; else as many as are allowed and the stock holds (docs/rules.md 1.2).

        Whether the player may draw at all need not be asked: he is not to move after he stood pat
        or made his last draw.
        """
        return len(cards) <= self.rules.max_discard and len(cards) <= len(self.stock)

    def _may_lead(self, cards: list[int]) -> bool:
        """One or more cards of one rank; part of a set may be led (docs/rules.md 1.4)."""
        return len(cards) >= 1 and of_one_rank(cards)

    def _may_follow(self, cards: list[int]) -> bool:
        """As many cards as were led, and among those what the options ask for (docs/rules.md 1.4).

        With ``must_beat`` a follower who can beat must, with whichever beating set he likes. With
        ``follow_set_if_held`` one who does not beat a lead of two or more cards plays a set of that
        many cards if he holds one (docs/rules.md 1, other options).
        """
        assert self.to_move is not None
        if len(cards) != len(self.table):
            return False
        if beats(cards, self.table):
            return True
        hand = self.hands[self.to_move]
        choices = list(combinations(hand, len(self.table)))
        if self.rules.must_beat and any(beats(choice, self.table) for choice in choices):
            return False
        if (
            self.rules.follow_set_if_held
            and len(self.table) >= 2
            and any(of_one_rank(choice) for choice in choices)
        ):
            return of_one_rank(cards)
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
        if self.phase == "draw":
            if cards:
                self._draw(player, cards)
                self._ask_for_a_draw(player)
            else:
                self._pat(player)
        elif self.phase == "lead":
            self.played[player].extend(cards)
            self.table = tuple(cards)
            self.phase, self.to_move = "follow", 1 - player
        else:
            self.played[player].extend(cards)
            self._end_trick(follower=player, followed=tuple(cards))

    def _ask_for_a_draw(self, player: int) -> None:
        """Put him to move, or make him pat if he has made all his draws (docs/rules.md 1.2)."""
        if len(self.draws[player]) < self.draws_allowed(player):
            self.phase, self.to_move = "draw", player
        else:
            self._pat(player)

    def _pat(self, player: int) -> None:
        """Next the dealer draws, and after him the non-dealer leads (docs/rules.md 1.2, 1.4)."""
        if player == self.non_dealer:
            self._ask_for_a_draw(self.dealer)
        else:
            self.phase, self.to_move = "lead", self.non_dealer

    def _draw(self, player: int, cards: list[int]) -> None:
        """Exchange cards: the lowest slot gets the first, then the hand is sorted."""
        hand = self.slots[player]
        for card in cards:
            replacement = self.stock.pop(-1 if player == self.dealer else 0)
            hand[hand.index(card)] = replacement
        hand.sort()
        self.discards[player].extend(cards)
        self.draws[player].append(len(cards))

    def _end_trick(self, follower: int, followed: tuple[int, ...]) -> None:
        """Settle the trick; its winner leads to the next, if cards are left (docs/rules.md 1.4)."""
        leader = 1 - follower
        winner = follower if beats(followed, self.table) else leader
        self.tricks.append(Trick(leader, self.table, followed, winner))
        self.table = ()
        self.phase, self.to_move = "lead", winner
        if self.hands == ([], []):
            self._end_deal()

    # --- the score ---------------------------------------------------------------------------

    def _end_deal(self) -> None:
        """Write the deal on the pad, then see what it has ended (docs/rules.md 1.5 to 1.8)."""
        cards_taken = both(lambda p: sum(len(t.led) for t in self.tricks if t.winner == p))
        leads_taken = both(lambda p: sum(1 for t in self.tricks if t.winner == p))

        # Below the line (docs/rules.md 1.5).
        units = cards_taken if self.rules.trick_unit == "card" else leads_taken
        values = self.trick_values
        below = both(lambda p: units[p] * values[p])

        # Above the line (docs/rules.md 1.6): a sweep is all cards of the hand, whatever the unit.
        swept = self.rules.hand_size
        sweep = both(lambda p: self.rules.sweep_points if cards_taken[p] == swept else 0)
        poker = self._poker_points()

        # The game (docs/rules.md 1.7) and the rubber (docs/rules.md 1.8).
        totals = both(lambda p: self.below[p] + below[p])
        game_winner = self._game_winner(totals)
        games = both(lambda p: self.games[p] + (1 if p == game_winner else 0))
        rubber_winner = game_winner if max(games) == 2 else None
        game_bonus = both(lambda p: self.rules.game_points if p == game_winner else 0)
        rubber_bonus = both(
            lambda p: self.rules.rubber_points[games[1 - p]] if p == rubber_winner else 0
        )

        deal = FinishedDeal(
            dealer=self.dealer,
            final_hands=both(lambda p: tuple(self.slots[p])),
            draws=both(lambda p: tuple(self.draws[p])),
            cards_taken=cards_taken,
            leads_taken=leads_taken,
            trick_values=values,
            below=below,
            poker=poker,
            sweep=sweep,
            game_bonus=game_bonus,
            rubber_bonus=rubber_bonus,
        )
        self.finished.append(deal)
        self.above = both(lambda p: self.above[p] + deal.above(p))
        self.below = totals if game_winner is None else (0, 0)
        self.games = games

        match_over = {
            "deal": True,
            "game": game_winner is not None,
            "rubber": rubber_winner is not None,
        }[self.match]
        self.phase, self.to_move = ("over" if match_over else "deal"), None
        self._last_action_ended_a_deal = True

    def _poker_points(self) -> Pair:
        """The better hand scores its full table value, the other nothing (docs/rules.md 1.6).

        Compared are the hands as they were when the draw phase ended. Of exactly equal hands
        neither scores, or both with ``poker_tie="both"``.
        """
        hands = both(lambda p: poker_hand(self.slots[p], self.rules))
        points = both(lambda p: self.rules.poker_points[hands[p][0]])
        if hands[0] > hands[1]:
            return points[0], 0
        if hands[1] > hands[0]:
            return 0, points[1]
        return points if self.rules.poker_tie == "both" else (0, 0)

    def _game_winner(self, totals: Pair) -> int | None:
        """Who wins the game with these totals below the line, None while it goes on.

        Somebody has the target or more and the totals differ: the higher wins (docs/rules.md 1.7).
        """
        if max(totals) < self.rules.target or totals[0] == totals[1]:
            return None
        return 0 if totals[0] > totals[1] else 1

    # --- what it comes to --------------------------------------------------------------------

    def winner(self, below_value: float = 50.0) -> int | None:
        """Who won the match; None if it is a draw or not over.

        A rubber is won by the higher total above the line, and equal totals by nobody, or by the
        winner of the rubber with ``final_tie="rubber_winner"`` (docs/rules.md 1.9). A shorter match
        is won by the sum of the points rewards.
        """
        if self.phase != "over":
            return None
        if self.match == "rubber":
            margin: float = self.above[0] - self.above[1]
            if margin == 0 and self.rules.final_tie == "rubber_winner":
                return self.games.index(2)
        else:
            margin = sum(self._points(deal, below_value) for deal in self.finished)
        if margin == 0:
            return None
        return 0 if margin > 0 else 1

    def rewards(self, kind: str = "points", below_value: float = 50.0) -> tuple[float, float]:
        """What the last action paid to the two players; always zero-sum.

        ``"points"``: after the last action of a deal the margin it wrote above the line, bonuses
        included; when the match is a single deal each point below the line adds ``below_value``.
        ``"win"``: at the end of the match 1 to the winner, -1 to the loser, 0 to both in a draw.
        """
        if kind not in ("points", "win"):
            raise ValueError(f"kind is 'points' or 'win', not {kind!r}")
        margin = 0.0
        if self._last_action_ended_a_deal:
            if kind == "points":
                margin = self._points(self.finished[-1], below_value)
            else:
                margin = {0: 1.0, 1: -1.0, None: 0.0}[self.winner(below_value)]
        return margin, -margin

    def _points(self, deal: FinishedDeal, below_value: float) -> float:
        """What a deal is worth to player 0 as a points reward."""
        margin = float(deal.above(0) - deal.above(1))
        if self.match == "deal":
            margin += below_value * (deal.below[0] - deal.below[1])
        return margin

    # --- what a player knows -----------------------------------------------------------------

    def knows(self, player: int) -> dict[str, Any]:
        """Everything a player may know, in plain values.

        Own things come first in every pair (a tuple). Cards are ascending lists. The numbers of
        cards drawn are public, the discards are not (docs/rules.md 1.2) but with
        ``reveal_discards``, and all cards played have been seen by both (docs/rules.md 1.4).

        Keys: ``hand``, ``discards``, ``opponent_discards`` (only with ``reveal_discards``),
        ``draws`` (the size of each draw), ``seen`` (own hand and discards, cards played by both,
        discards revealed), ``tricks`` (leader is me, cards led, cards followed, winner is me),
        ``table`` (cards led and waiting to be followed), ``below``, ``above``, ``games``,
        ``trick_values`` (what my cards taken are worth, then the opponent's), ``phase``,
        ``dealer_is_me``.
        """
        opponent = 1 - player

        def own_first(pair: Sequence[T]) -> tuple[T, T]:
            return pair[player], pair[opponent]

        hand, discards = self.hands[player], sorted(self.discards[player])
        seen = hand + discards + self.played[0] + self.played[1]
        known: dict[str, Any] = {
            "hand": hand,
            "discards": discards,
            "draws": own_first([list(sizes) for sizes in self.draws]),
            "tricks": [
                (t.leader == player, list(t.led), list(t.followed), t.winner == player)
                for t in self.tricks
            ],
            "table": list(self.table),
            "below": own_first(self.below),
            "above": own_first(self.above),
            "games": own_first(self.games),
            "trick_values": own_first(self.trick_values),
            "phase": self.phase,
            "dealer_is_me": player == self.dealer,
        }
        if self.rules.reveal_discards:
            known["opponent_discards"] = sorted(self.discards[opponent])
            seen = seen + self.discards[opponent]
        known["seen"] = sorted(seen)
        return known
