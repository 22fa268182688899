"""A slow, obvious Poque, written from docs/rules.md section 3 alone.

It exists to be read next to the rule book and to be compared with the real game, so it shares no
code with it, uses nothing but the standard library, and keeps everything in plain lists: hands as
lists of cards, every word of an auction and every card played in the order in which they came.
Docstrings cite the paragraphs they put into code.

Conventions that are the project's and not the rule book's:

* A card is the number ``rank * 4 + suit``: ranks 0..12 for 2..A, suits 0..3 for c d h s. Smaller
  packs hold the highest ranks and the first suits, their card numbers unchanged.
* Players are 0 to n - 1, and player p + 1 is next after p, player 0 after the last.
* Actions: 0 pass, 1 equal, 2 to 6 open or raise with 1 to 5 chips, 7 to 11 play the card of a slot.
  Slots number a hand in ascending card order as it was dealt.
* A pack is dealt from the front: a complete hand to each player, beginning with the one next after
  the dealer, then the card turned up.
* Where the order of payments matters: those for cards left come first, all of them, in turn from
  the player after the one who went out; then, with ``most_cards_double``, those who hold most cards
  pay, in the same order, each beginning with the player after himself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

JACK, QUEEN, KING, ACE = 9, 10, 11, 12
CARD_POOLS = {ACE: "ace", KING: "king", QUEEN: "queen", JACK: "jack"}
POOLS = ("ace", "king", "queen", "jack", "sequence", "poque")
AUCTIONS = ("poque", "sequence")
PASS, EQUAL = 0, 1
FIRST_SLOT = 7


@dataclass(frozen=True)
class ReferenceRules:
    """The numbers and options of docs/rules.md section 3, with its defaults."""

    players: int = 4
    ranks: int | None = None
    suits: int = 4
    hand_size: int = 5
    stack: int = 40
    deals: int = 12
    max_raise: int = 5
    max_raises: int = 3
    unopened: str = "dealer"
    allow_bluff: bool = False
    pay: str = "card"
    most_cards_double: bool = False

    def __post_init__(self) -> None:
        """Refuse what would silently be read as something else; no complete validation."""
        if self.unopened not in ("dealer", "carry"):
            raise ValueError(f"unopened is 'dealer' or 'carry', not {self.unopened!r}")
        if self.pay not in ("card", "pips"):
            raise ValueError(f"pay is 'card' or 'pips', not {self.pay!r}")

    def pack(self) -> list[int]:
        """Every card of the pack, ascending; stripped from below (docs/rules.md 3.1)."""
        if self.ranks is not None:
            ranks = self.ranks
        elif self.players <= 4:
            ranks = 8  # 32 cards, 7 up
        else:
            ranks = {5: 9, 6: 10, 7: 11, 8: 13}[self.players]
        return [rank * 4 + suit for rank in range(13 - ranks, 13) for suit in range(self.suits)]


@dataclass(frozen=True)
class Speech:
    """What a player said in an auction: ``"pass"``, ``"equal"`` or ``"bet"`` with its chips."""

    player: int
    word: str
    chips: int = 0


@dataclass
class Auction:
    """One of the two auctions of a deal (docs/rules.md 3.4); lists are by player."""

    out: list[bool]
    """Had no chips when it began."""
    staked: list[int]
    speeches: list[Speech]
    took: list[int]
    shown: list[list[int]]
    over: bool = False

    @property
    def bets(self) -> list[Speech]:
        """The opening and the raises, in order."""
        return [speech for speech in self.speeches if speech.word == "bet"]

    def passed(self, player: int) -> bool:
        """Whether a player has passed."""
        return any(s.player == player and s.word == "pass" for s in self.speeches)

    def stays(self, player: int) -> bool:
        """Whether a player can still win."""
        return not self.out[player] and not self.passed(player)


def rank_of(card: int) -> int:
    """0 for a two to 12 for an ace."""
    return card // 4


def suit_of(card: int) -> int:
    """0 to 3 for c d h s."""
    return card % 4


def in_words(cards: Sequence[int]) -> str:
    """Cards as text, such as ``Ks Kc``."""
    texts = ["23456789TJQKA"[rank_of(card)] + "cdhs"[suit_of(card)] for card in cards]
    return " ".join(texts) or "nothing"


def pips(card: int) -> int:
    """The pip value: court cards 10, ace 1 (docs/rules.md 3.6)."""
    if rank_of(card) == ACE:
        return 1
    if rank_of(card) in (JACK, QUEEN, KING):
        return 10
    return rank_of(card) + 2


def is_set(cards: Sequence[int]) -> bool:
    """Two, three or four of a rank (docs/rules.md 3.4)."""
    return len(cards) >= 2 and len({rank_of(card) for card in cards}) == 1


def is_sequence(cards: Sequence[int]) -> bool:
    """Three or more consecutive cards of one suit, ace high only (docs/rules.md 3.4)."""
    ranks = sorted(rank_of(card) for card in cards)
    return (
        len(cards) >= 3
        and len({suit_of(card) for card in cards}) == 1
        and ranks == list(range(ranks[0], ranks[0] + len(ranks)))
    )


def strength(cards: Sequence[int]) -> tuple[int, int]:
    """More cards beat fewer, then the higher (top) rank; nothing loses to anything."""
    return len(cards), max((rank_of(card) for card in cards), default=-1)


def best_combination(auction: str, hand: Iterable[int]) -> list[int]:
    """The best set or sequence in a hand, found by trying all subsets; empty if there is none."""
    fits = is_set if auction == "poque" else is_sequence
    cards = sorted(hand)
    every = [list(c) for size in range(2, len(cards) + 1) for c in combinations(cards, size)]
    return max((c for c in every if fits(c)), key=strength, default=[])


class ReferencePoque:
    """One match of Poque: a deal or a session, from any chips with which it can begin.

    The match waits for a pack (``phase == "deal"``), then for the actions of ``to_move`` until
    the deal is over, then for the next pack, until ``phase == "over"``.

    Attributes:
        rules, match: as given.
        phase: ``"deal"``, ``"poque"``, ``"sequence"``, ``"play"`` or ``"over"``.
        to_move: the player to act, None while no action is awaited.
        dealer: the dealer of the deal going on or, between deals, of the last one.
        stacks, pools: chips by player, and by name of the pool; stakes lie in the pool.
        slots: by player, the hand as dealt, ascending.
        hands: by player, the cards still held, ascending.
        turned: the card turned up.
        auctions: by name, those of the deal that have begun.
        plays: player and card of every card played, in order.
        stops: cards before which a run stopped.
        forced: what nobody chose since the last action or the deal, in words.
        finished: what the finished deals brought: dealer, chips won by player, plays, pools.
    """

    def __init__(
        self,
        rules: ReferenceRules,
        match: str = "session",
        dealer: int = 0,
        stacks: Sequence[int] | None = None,
        pools: Sequence[int] = (0, 0, 0, 0, 0, 0),
        deals_played: int = 0,
    ) -> None:
        if match not in ("deal", "session"):
            raise ValueError(f"match is 'deal' or 'session', not {match!r}")
        self.rules = rules
        self.match = match
        self.dealer = dealer
        self.players = list(range(rules.players))
        self.stacks = list(stacks) if stacks is not None else [rules.stack for _ in self.players]
        self.pools = dict(zip(POOLS, pools, strict=True))
        if sum(self.stacks) + sum(pools) != rules.players * rules.stack:
            raise ValueError("stacks and pools hold other chips than a session")
        self.deals_played = deals_played
        self.phase = "deal"
        self.to_move: int | None = None
        self.turned = -1
        self.slots: list[list[int]] = [[] for _ in self.players]
        self.hands: list[list[int]] = [[] for _ in self.players]
        self.auctions: dict[str, Auction] = {}
        self.plays: list[tuple[int, int]] = []
        self.stops: set[int] = set()
        self.finished: list[dict[str, Any]] = []
        self.paid = [0 for _ in self.players]
        self.pools_taken: dict[str, tuple[int, int]] = {}
        self.forced: list[str] = []
        self.before = list(self.stacks)
        self.rewarded = list(self.stacks)
        self.last_rewards = [0 for _ in self.players]

    def after(self, player: int) -> list[int]:
        """All players in turn, beginning with the next after this one, who comes last."""
        return self.players[player + 1 :] + self.players[: player + 1]

    # --- the deal ----------------------------------------------------------------------------

    def deal(self, deck: Sequence[int]) -> None:
        """Ante, deal, and turn a card up (docs/rules.md 3.2, 3.7)."""
        if self.phase != "deal":
            raise ValueError(f"no pack is awaited in phase {self.phase!r}")
        if sorted(deck) != self.rules.pack():
            raise ValueError("the deck must hold every card of the pack once")
        if self.finished:
            [self.dealer, *_] = self.after(self.dealer)
        self.forced = []
        self.before = list(self.stacks)
        for player in self.players:
            for pool in POOLS:
                if self.stacks[player] > 0:
                    self.stacks[player] -= 1
                    self.pools[pool] += 1
        rest = list(deck)
        for player in self.after(self.dealer):
            hand, rest = rest[: self.rules.hand_size], rest[self.rules.hand_size :]
            self.slots[player] = sorted(hand)
            self.hands[player] = sorted(hand)
        self.turned = rest[0]
        self.plays = []
        self.stops = set()
        self.auctions = {}
        self.paid = [0 for _ in self.players]
        self.pools_taken = {}
        self._take_card_pool(self.turned, self.dealer)
        self._begin_auction("poque")

    def _take_card_pool(self, card: int, player: int) -> None:
        """Ace to jack of trumps bring their pool (docs/rules.md 3.2, 3.3)."""
        if suit_of(card) == suit_of(self.turned) and rank_of(card) in CARD_POOLS:
            pool = CARD_POOLS[rank_of(card)]
            self.pools_taken[pool] = (player, self.pools[pool])
            self.stacks[player] += self.pools[pool]
            self.pools[pool] = 0

    # --- the auctions ------------------------------------------------------------------------

    def _begin_auction(self, name: str) -> None:
        self.phase = name
        self.auctions[name] = Auction(
            out=[self.stacks[player] == 0 for player in self.players],
            staked=[0 for _ in self.players],
            speeches=[],
            took=[0 for _ in self.players],
            shown=[[] for _ in self.players],
        )
        self._ask()

    def _level(self, auction: Auction) -> int:
        return max(auction.staked)

    def _speaker(self, auction: Auction) -> int | None:
        """Who has to speak next: the next in turn who stays and has not spoken to the last bet."""
        last_bet = max((i for i, s in enumerate(auction.speeches) if s.word == "bet"), default=None)
        if last_bet is None:
            order, spoken = self.after(self.dealer), {s.player for s in auction.speeches}
        else:
            order = self.after(auction.speeches[last_bet].player)
            spoken = {s.player for s in auction.speeches[last_bet:]}
        waiting = [player for player in order if auction.stays(player) and player not in spoken]
        return waiting[0] if waiting else None

    def _may_bet(self, name: str, player: int) -> bool:
        """Only holders of a combination may, or everybody with ``allow_bluff``."""
        return self.rules.allow_bluff or best_combination(name, self.slots[player]) != []

    def _ask(self) -> None:
        """Ask whoever has a choice; pass for those who have none (docs/rules.md 3.4)."""
        name, auction = self.phase, self.auctions[self.phase]
        while (speaker := self._speaker(auction)) is not None:
            if self._may_bet(name, speaker):
                self.to_move = speaker
                return
            auction.speeches.append(Speech(speaker, "pass"))
            self.forced.append(f"{speaker} passes")
        self._end_auction(name, auction)

    def _end_auction(self, name: str, auction: Auction) -> None:
        """The best combination among those who stayed takes stakes and pool (docs/rules.md 3.4)."""
        auction.over = True
        if auction.bets:
            stayed = [player for player in self.players if auction.stays(player)]
            held = {p: best_combination(name, self.slots[p]) for p in stayed}
            best = max(strength(cards) for cards in held.values())
            winners = [p for p in stayed if strength(held[p]) == best]
            for player in winners:
                auction.took[player] = self.pools[name] // len(winners)
            if len(stayed) > 1:
                for player in stayed:
                    auction.shown[player] = held[player]
                    self.forced.append(f"{player} shows {in_words(held[player])}")
        elif self.rules.unopened == "dealer":
            auction.took[self.dealer] = self.pools[name]
        for player in self.players:
            self.stacks[player] += auction.took[player]
            self.pools[name] -= auction.took[player]
        if name == "poque":
            self._begin_auction("sequence")
        else:
            self.phase, self.to_move = "play", self.dealer

    # --- legal actions -----------------------------------------------------------------------

    def legal(self) -> set[int]:
        """Every legal action of the player to move; empty when nobody is to move."""
        if self.to_move is None:
            return set()
        if self.phase == "play":
            slots = self.slots[self.to_move]
            return {
                FIRST_SLOT + slot
                for slot, card in enumerate(slots)
                if card in self.hands[self.to_move]
            }
        auction = self.auctions[self.phase]
        legal = {PASS} | ({EQUAL} if auction.bets else set())
        raises = max(len(auction.bets) - 1, 0)
        if not auction.bets or raises < self.rules.max_raises:
            for chips in range(1, self.rules.max_raise + 1):
                needed = self._level(auction) + chips
                if all(
                    auction.staked[player] + self.stacks[player] >= needed
                    for player in self.players
                    if auction.stays(player)
                ):
                    legal.add(1 + chips)
        return legal

    # --- acting ------------------------------------------------------------------------------

    def apply(self, action: int) -> None:
        """Carry out an action of the player to move."""
        if action not in self.legal():
            raise ValueError(f"{action} is not legal; legal are {sorted(self.legal())}")
        assert self.to_move is not None
        player, self.to_move = self.to_move, None
        self.forced = []
        if self.phase == "play":
            self._play_run(player, self.slots[player][action - FIRST_SLOT])
        else:
            self._speak(player, action)
        self.last_rewards = [
            now - then for now, then in zip(self.stacks, self.rewarded, strict=True)
        ]
        self.rewarded = list(self.stacks)

    def _speak(self, player: int, action: int) -> None:
        auction = self.auctions[self.phase]
        if action == PASS:
            auction.speeches.append(Speech(player, "pass"))
        elif action == EQUAL:
            self._stake(player, self._level(auction))
            auction.speeches.append(Speech(player, "equal"))
        else:
            self._stake(player, self._level(auction) + action - 1)
            auction.speeches.append(Speech(player, "bet", action - 1))
        self._ask()

    def _stake(self, player: int, reached: int) -> None:
        auction = self.auctions[self.phase]
        chips = reached - auction.staked[player]
        auction.staked[player] = reached
        self.stacks[player] -= chips
        self.pools[self.phase] += chips

    def _play_run(self, player: int, card: int) -> None:
        """A run: upward in suit, by whoever holds the next card (docs/rules.md 3.5)."""
        while True:
            self.hands[player].remove(card)
            self.plays.append((player, card))
            self._take_card_pool(card, player)
            if not self.hands[player]:
                self._end_deal(player)
                return
            if rank_of(card) == ACE:
                break
            card += 4
            holders = [p for p in self.players if card in self.hands[p]]
            if not holders:
                self.stops.add(card)
                break
            [player] = holders
            self.forced.append(f"{player} plays {in_words([card])}")
        self.to_move = player

    # --- the end of a deal -------------------------------------------------------------------

    def _end_deal(self, winner: int) -> None:
        """Pools still held, then payments (docs/rules.md 3.6, 3.7)."""
        for player in self.players:
            for card in self.hands[player]:
                self._take_card_pool(card, player)
        losers = self.after(winner)[:-1]
        for player in losers:
            hand = self.hands[player]
            owed = sum(map(pips, hand)) if self.rules.pay == "pips" else len(hand)
            self._pay(player, winner, owed)
        if self.rules.most_cards_double:
            most = max(map(len, self.hands))
            for player in losers:
                if len(self.hands[player]) == most:
                    for other in self.after(player)[:-1]:
                        self._pay(player, other, most)
        self.deals_played += 1
        self.finished.append(
            {
                "dealer": self.dealer,
                "turned": self.turned,
                "hands": tuple(map(tuple, self.slots)),
                "plays": tuple(self.plays),
                "cards_left": tuple(map(tuple, self.hands)),
                "pools_taken": tuple(self.pools_taken.get(pool) for pool in POOLS[:4]),
                "paid": tuple(self.paid),
                "chips": tuple(self.won()),
            }
        )
        over = self.match == "deal" or self.deals_played == self.rules.deals
        self.phase = "over" if over else "deal"

    def _pay(self, payer: int, payee: int, owed: int) -> None:
        """Chips never go below zero: payments are limited to the stack (docs/rules.md 3.7)."""
        chips = min(owed, self.stacks[payer])
        self.stacks[payer] -= chips
        self.stacks[payee] += chips
        self.paid[payer] -= chips
        self.paid[payee] += chips

    # --- what it comes to --------------------------------------------------------------------

    def won(self) -> list[int]:
        """By player, chips won or lost in the deal going on or just ended, ante included."""
        return [now - then for now, then in zip(self.stacks, self.before, strict=True)]

    def win(self) -> list[float]:
        """What a finished match is worth as won or lost (docs/rules.md 3.7).

        Most chips at the end win a session, most chips won in it a deal; ties share.
        """
        chips = list(self.stacks)
        if self.match == "deal":
            chips = self.won()
        winners = [player for player in self.players if chips[player] == max(chips)]
        if len(winners) == len(self.players):
            return [0.0 for _ in self.players]
        losers = len(self.players) - len(winners)
        return [1 / len(winners) if p in winners else -1 / losers for p in self.players]

    # --- what a player knows -----------------------------------------------------------------

    def knows(self, player: int) -> dict[str, Any]:
        """Everything a player may know, in plain values.

        Players are counted from the observer, who is 0; what is by player begins with him.
        """
        order = [player, *self.after(player)[:-1]]

        def from_me(other: int) -> int:
            return order.index(other)

        def by_player(values: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(values[other] for other in order)

        deal_over = self.phase in ("deal", "over")
        shown: list[set[int]] = [set() for _ in self.players]
        for other in self.players:
            for auction in self.auctions.values():
                shown[other] |= set(auction.shown[other])
            if deal_over:
                shown[other] |= set(self.hands[other])
        gone = {card for _, card in self.plays} | self.stops | {self.turned}
        seen = gone.union(self.slots[player], *shown)
        return {
            "hand": tuple(self.hands[player]),
            "slots": tuple(self.slots[player]),
            "turned": self.turned,
            "plays": tuple((from_me(other), card) for other, card in self.plays),
            "shown": tuple(tuple(sorted(cards)) for cards in by_player(shown)),
            "gone": tuple(sorted(gone)),
            "seen": tuple(sorted(seen)),
            "phase": "over" if deal_over else self.phase,
            "to_move": self.to_move == player,
            "mover": None if self.to_move is None else from_me(self.to_move),
            "dealer": from_me(self.dealer),
            "cards_left": tuple(map(len, by_player(self.hands))),
            "stacks": by_player(self.stacks),
            "won": by_player(self.won()),
            "pools": dict(self.pools),
            "pools_taken": tuple(
                (from_me(taken[0]), taken[1]) if taken else None
                for taken in (self.pools_taken.get(pool) for pool in POOLS[:4])
            ),
            "to_equal": self._to_equal(player),
            "auctions": {
                name: self._auction_seen(self.auctions.get(name), order) for name in AUCTIONS
            },
            "deals_left": self._deals_left(),
        }

    def _to_equal(self, player: int) -> int:
        auction = self.auctions.get(self.phase)
        if auction is None or not auction.stays(player):
            return 0
        return self._level(auction) - auction.staked[player]

    def _deals_left(self) -> int:
        if self.match == "deal":
            return 0 if self.phase == "over" else 1
        return self.rules.deals - self.deals_played

    def _auction_seen(self, auction: Auction | None, order: list[int]) -> dict[str, Any]:
        nothing = tuple(0 for _ in order)
        if auction is None:
            none = tuple(None for _ in order)
            return {"bets": (), "passed": none, "staked": nothing, "took": nothing}
        passed: list[int | str | None] = []
        for player in order:
            if auction.out[player]:
                passed.append("out")
            elif auction.passed(player):
                place = auction.speeches.index(Speech(player, "pass"))
                passed.append(sum(s.word == "bet" for s in auction.speeches[:place]))
            else:
                passed.append(None)
        return {
            "bets": tuple((order.index(bet.player), bet.chips) for bet in auction.bets),
            "passed": tuple(passed),
            "staked": tuple(auction.staked[player] for player in order),
            "took": tuple(auction.took[player] for player in order),
        }
