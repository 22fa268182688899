"""A person at the terminal, in Poke; `training.play` seats a person in every game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from poke_env import poke_v0, streams
from poke_env.agent import Keys, Masks, Observations
from poke_env.cards import format_cards, parse_cards

HELP = """\
Say which cards: by name ("Ks Kh") or by slot ("1 2"), the numbers above your cards.
While drawing, the cards named are changed; "pat" changes none and ends your draws.
"?" shows this and what is legal, "quit" leaves the table."""

_VERBS = {"draw": "change", "lead": "lead", "follow": "follow with"}


class Quit(KeyboardInterrupt):
    """The person left the table."""


def listen(prompt: str, ask: Callable[[str], str] | None = None) -> str:
    """What a person answers.

    Args:
        prompt: shown before.
        ask: called with the prompt, returns a line; by default `input`, looked up when called.

    Raises:
        Quit: on "quit" or at the end of the input.
    """
    try:
        answer = (ask or input)(prompt).strip()
    except EOFError:
        raise Quit("the input ended") from None
    if answer.lower() in ("quit", "exit"):
        raise Quit("the player left the table")
    return answer


class HumanAgent:
    """Shows what the player may know and asks for an action until it is legal.

    Args:
        seed: not used; a person has no stream.
        ask: see `listen`.

    `act` raises `Quit` (a `KeyboardInterrupt`) on "quit" or at the end of the input.
    """

    def __init__(self, seed: int | None = 0, ask: Callable[[str], str] | None = None) -> None:
        self.ask = ask
        self.reset(seed)

    def reset(self, seed: int | None = None) -> None:
        """Nothing to restart; the seed is only checked."""
        streams.check_seed(seed)

    def act(self, observation: Mapping[str, Any], key: Any = None) -> int:
        """See `Agent.act`."""
        mask = np.asarray(observation["action_mask"])
        if not mask.any():
            raise ValueError("action_mask allows no action: is the match over?")
        known = poke_v0.decode(observation)
        print(describe(known))
        while True:
            answer = listen(f"{_VERBS[known['phase']]}> ", self.ask)
            if answer.lower() in ("?", "h", "help"):
                print(f"{HELP}\nLegal: {', '.join(_legal(known, mask))}")
                continue
            try:
                return parse(answer, known, mask)
            except ValueError as error:
                print(f'{error}. "?" helps.')

    def act_batch(
        self, observations: Observations, masks: Masks, keys: Keys | None = None
    ) -> npt.NDArray[np.int64]:
        """See `Agent.act_batch`; asks for one row after the other."""
        rows = zip(observations, masks, strict=True)
        chosen = [self.act({"observation": row, "action_mask": mask}) for row, mask in rows]
        return np.array(chosen, np.int64)


def describe(known: Mapping[str, Any]) -> str:
    """What the player may know, in lines; `known` is what `poke_v0.decode` gives."""
    score = ", ".join(f"{name} {_versus(known[name])}" for name in ("above", "below", "games"))
    role = "deal" if known["dealer"] else "do not deal"
    drawn = f"drawn {_draws(known, 0)} : {_draws(known, 1)}"
    lines = [
        "",
        f"You : opponent   {score}",
        f"You {role}; {drawn}; each card taken is worth {_versus(known['trick_values'])}",
    ]
    if known["discards"]:
        lines.append(f"Your discards: {format_cards(known['discards'])}")
    if known["opponent_discards"]:
        lines.append(f"The opponent's discards: {format_cards(known['opponent_discards'])}")
    lines += [_trick(trick) for trick in known["tricks"]]
    if known["tricks"]:
        lines.append(f"Cards taken {_versus(known['taken'])}")
    numbers = [
        f"{number:<2}" if card in known["hand"] else "  "
        for number, card in enumerate(known["slots"], 1)
    ]
    names = [format_cards([card]) if card in known["hand"] else "--" for card in known["slots"]]
    lines += [f"  slot {' '.join(numbers)}".rstrip(), f"  hand {' '.join(names)}"]
    return "\n".join(lines)


def _versus(pair: tuple[int, int]) -> str:
    return f"{pair[0]} : {pair[1]}"


def _draws(known: Mapping[str, Any], who: int) -> str:
    changed = "+".join(map(str, known["draws"][who])) or "nothing"
    return f"{changed}{', pat' if known['pat'][who] else ''}"


def _trick(trick: Mapping[str, Any]) -> str:
    leads, follows = ("you", "opponent") if trick["leader"] == "own" else ("opponent", "you")
    text = f"  {leads} led {format_cards(trick['lead'])}"
    if trick["winner"] is None:
        return text
    winner = "you" if trick["winner"] == "own" else "opponent"
    return f"{text}, {follows} followed {format_cards(trick['follow'])}: {winner} took it"


def parse(answer: str, known: Mapping[str, Any], mask: npt.NDArray[Any]) -> int:
    """The action that an answer stands for.

    Args:
        answer: cards of the hand, slot numbers from 1, or "pat" while drawing.
        known: what `poke_v0.decode` gives.
        mask: int8 (A,), the legal actions.

    Raises:
        ValueError: if it is not understood or not legal, saying why.
    """
    words = answer.replace(",", " ").split()
    if known["phase"] == "draw" and [word.lower() for word in words] == ["pat"]:
        return 0
    if not words:
        raise ValueError("name at least one card" + _or_pat(known))
    if all(word.isdecimal() and len(word) == 1 for word in words):
        slots = _slots_by_number(words, known)
    else:
        slots = _slots_by_card(words, known)
    if len(set(slots)) < len(slots):
        raise ValueError("the same card is named twice")
    action = sum(1 << slot for slot in slots)
    if not mask[action]:
        raise ValueError(_why_illegal(known, mask))
    return action


def _or_pat(known: Mapping[str, Any]) -> str:
    return ', or say "pat"' if known["phase"] == "draw" else ""


def _slots_by_number(words: list[str], known: Mapping[str, Any]) -> list[int]:
    free = [slot for slot, card in enumerate(known["slots"]) if card in known["hand"]]
    slots = [int(word) - 1 for word in words]
    if any(slot not in free for slot in slots):
        numbers = " ".join(str(slot + 1) for slot in free)
        raise ValueError(f"the slots of your hand are {numbers}")
    return slots


def _slots_by_card(words: list[str], known: Mapping[str, Any]) -> list[int]:
    try:
        cards = parse_cards(words)
    except ValueError as error:
        raise ValueError(f"{error}{_or_pat(known)}") from None
    missing = [card for card in cards if card not in known["hand"]]
    if missing:
        raise ValueError(
            f"you do not hold {format_cards(missing)}; your hand is {format_cards(known['hand'])}"
        )
    return [known["slots"].index(card) for card in cards]


def _why_illegal(known: Mapping[str, Any], mask: npt.NDArray[Any]) -> str:
    if known["phase"] == "draw":
        most = max(action.bit_count() for action in np.flatnonzero(mask).tolist())
        return f"you may change at most {most}{_or_pat(known)}"
    if known["phase"] == "lead":
        return "a lead is one or more cards of one rank"
    count = len(known["table"])
    legal = _legal(known, mask)
    few = f": {', '.join(legal)}" if len(legal) <= 6 else ""
    return (
        f"name {'one card' if count == 1 else f'{count} cards'}: {format_cards(known['table'])} "
        f"{'was' if count == 1 else 'were'} led, to which "
        f"{len(legal)} {'answer is' if len(legal) == 1 else 'answers are'} legal{few}"
    )


def _legal(known: Mapping[str, Any], mask: npt.NDArray[Any]) -> list[str]:
    """All legal actions as text, the shortest first."""
    texts = []
    for action in np.flatnonzero(mask).tolist():
        cards = [card for slot, card in enumerate(known["slots"]) if action >> slot & 1]
        texts.append(format_cards(cards) if cards else "pat")
    return sorted(texts, key=len)
