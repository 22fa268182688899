"""Three views of a tournament's numbers: tables in the terminal, pictures, a page.

All are functions of the contents of `results.json` alone (see `training.tournament`).
"""

from __future__ import annotations

import base64
import io
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents import DEFAULT_GAME
from training.rounding import NONE, Margin, decimals, mean, precision, reach, signed
from training.statistics import SEPARATED

Document = Mapping[str, Any]

# --- numbers as text ------------------------------------------------------------------------------


def percent(share: float | None) -> str:
    """A share from 0 to 1: "53.1 %"."""
    return NONE if share is None else f"{100 * share:.1f} %"


def percent_range(rate: Mapping[str, float | None]) -> str:
    """The interval of a share in per cent: "52.4–53.8"."""
    if rate["rate"] is None or rate["low"] is None or rate["high"] is None:
        return NONE
    return f"{100 * rate['low']:.1f}–{100 * rate['high']:.1f}"


def count(number: int | None) -> str:
    """A whole number: "20,000"; beyond a million in words: "3.2 million"."""
    if number is None:
        return NONE
    for size, word in ((10**12, "trillion"), (10**9, "billion"), (10**6, "million")):
        if number >= size:
            return f"{number / size:,.1f} {word}"
    return f"{number:,}"


def rating_range(line: Mapping[str, Any]) -> str:
    """The interval of a rating: "−12.3 … +4.0"; an end without a bound is "−∞" or "∞"."""
    if line["rating"] is None:
        return NONE
    low = "−∞" if line["low"] is None else signed(line["low"])
    high = "∞" if line["high"] is None else signed(line["high"])
    return f"{low} … {high}"


def rated(document: Document) -> list[Mapping[str, Any]]:
    """The players' ratings, group by group, the best first; who has none comes last."""
    return sorted(
        document["ratings"]["players"],
        key=lambda line: (
            line["rating"] is None, line["group"] or 0, -(line["rating"] or 0.0), line["player"],
        ),
    )  # fmt: skip


def fit_sentence(document: Document) -> str:
    """Whether one scale describes the meetings, and which of them it describes worst."""
    largest = document["ratings"]["fit"]["largest"]
    if largest is None:
        return "No ring of meetings tests whether one scale describes them."
    against = (
        "chance does not explain that: one scale is too little here"
        if document["ratings"]["fit"]["verdict"] == SEPARATED
        else "within what chance explains"
    )
    return (
        f"One scale fits {largest['first']} – {largest['second']} worst: {largest['first']} scored "
        f"{percent(largest['observed'])}, by the ratings {percent(largest['expected'])}; {against}."
    )


def skilled(document: Document) -> list[Mapping[str, Any]]:
    """The players rated by their places at larger tables, the best first."""
    return sorted(document["skill"]["players"], key=lambda line: (-line["ordinal"], line["player"]))


def skill_sentence(document: Document) -> str:
    """What the ratings by places mean."""
    skill = document["skill"]
    start = skill["start"]
    looked_at = f"{count(skill['matches'])} of {count(skill['of'])} matches"
    return (
        f"From the places in {looked_at} ({skill['model']}, {skill['library']}). mu: strength on "
        f"a scale on which everybody starts at {start['mu']:g} ± {start['sigma']:.2g} and a "
        f"single match varies by {start['beta']:.2g}. sigma: its deviation, by the model, which "
        f"takes all matches for independent; intervals that allow for the same cards are those of "
        f"the margins. at least: mu less three sigma."
    )


def cycle_sentences(document: Document) -> list[str]:
    """Who beats whom in a circle; nothing if no three players have all met."""
    found = document["cycles"]
    sentences = []
    for cycle in found["separated"]:
        names = [*cycle["players"], cycle["players"][0]]
        beaten = ", ".join(
            f"{names[i]} beats {names[i + 1]} by {_points(cycle['margins'][i])}" for i in range(3)
        )
        stands = (
            "also after correction for all triples"
            if cycle["certain"]
            else "but not after correction for all triples"
        )
        sentences.append(f"Cycle: {beaten}; all three are separated, {stands}.")
    explained = [set(cycle["players"]) for cycle in found["separated"]]
    sentences += [
        f"Cycle of more than three by separated margins among {', '.join(component)}."
        for component in found["components"]
        if not any(players <= set(component) for players in explained)
    ]
    looked_at = f"{count(found['triples'])} triple{'' if found['triples'] == 1 else 's'}"
    if found["in_means"]:
        sentences.append(
            f"Cycles in means only, not separated: {count(len(found['in_means']))} of {looked_at}."
        )
    if not sentences and found["triples"]:
        sentences.append(f"No cycle in {looked_at} of players.")
    return sentences


def _points(points: float) -> str:
    """Points whose interval is not at hand, but which are known to be more than 0."""
    return f"{points:,.{decimals(points)}f}"


def luck_adjusted(document: Document) -> list[Mapping[str, Any]]:
    """The meetings in which luck was measured."""
    return [line for line in document["duels"] if line.get("luck_adjusted")]


def luck_sentence(document: Document) -> str:
    """By what luck was measured."""
    return (
        "Less luck: what chance gave at the deal and at each draw is taken off, which leaves the "
        "mean as it is and narrows its interval. Variance: what is left of that of pairs. Value "
        f"function, fixed beforehand: SHA-256 {document['configuration']['value_function']}."
    )


class Fault(NamedTuple):
    """Forfeits of one player for one reason; `example` is the first of them."""

    player: str
    matches: int
    reason: str
    example: Mapping[str, Any] | None


def faults(document: Document, most: int = 5) -> list[Fault]:
    """Forfeits by player and reason, the frequent ones first; at most `most` reasons each."""
    lines = []
    for agent in document["agents"]:
        own = [forfeit for forfeit in document["forfeits"] if forfeit["player"] == agent["label"]]
        reasons = Counter(forfeit["reason"] for forfeit in own)
        for reason, matches in reasons.most_common(most):
            example = next(forfeit for forfeit in own if forfeit["reason"] == reason)
            lines.append(Fault(agent["label"], matches, reason, example))
        rest = len(own) - sum(matches for _, matches in reasons.most_common(most))
        if rest:
            lines.append(Fault(agent["label"], rest, "other reasons, see results.json", None))
    return lines


def standings(document: Document) -> list[tuple[str, list[Mapping[str, Any] | None]]]:
    """Each standing of the game with what every player of the ranking made of it, in its order."""
    every = [
        {cell["standing"]: cell for cell in line.get("by_standing", ())}
        for line in document["ranking"]
    ]
    names = dict.fromkeys(name for cells in every for name in cells)
    return [(name, [cells.get(name) for cells in every]) for name in names]


def table_size(document: Document) -> int:
    """How many players sit at a table."""
    return len(document["configuration"]["sides"])


# --- tables in the terminal -----------------------------------------------------------------------


def show(document: Document, console: Console) -> None:
    """Print ranking, meetings, and what the document holds of ratings, cycles and forfeits."""
    console.print(_ranking_table(document))
    console.print(_meeting_table(document))
    if luck_adjusted(document):
        console.print(_luck_table(document))
    if document["configuration"].get("luck_adjusted"):
        console.print(Text(luck_sentence(document)))
    if document.get("ratings"):
        console.print(_rating_table(document))
        for line in rated(document):
            if line["statement"]:
                console.print(Text(f"{line['player']}: {line['statement']}."))
        console.print(Text(fit_sentence(document)))
    if document.get("skill"):
        console.print(_skill_table(document))
        console.print(Text(skill_sentence(document)))
    if document.get("cycles"):
        for sentence in cycle_sentences(document):
            console.print(Text(sentence))
    if document["forfeits"]:
        console.print(_forfeit_table(document))
    legs = "pairs of matches" if table_size(document) == 2 else "the matches of all seats"
    if table_size(document) > 2:
        console.print(
            "Margin: points beyond the mean of the table. Player against player: what it would be "
            "if everybody else at the table had scored as the second player did.",
            style="dim",
            highlight=False,
        )
    console.print(
        f"±: 95 % interval, from {legs} over the same cards. needed: how many more deck "
        "orders would separate the two if mean and deviation stay as measured.",
        style="dim",
        highlight=False,
    )


def text(document: Document, width: int = 100) -> str:
    """What `show` prints, as plain text without colours, in lines of at most `width` characters."""
    # Asked for in so many words, since a notebook forces colours on programs.
    console = Console(width=width, color_system=None, force_terminal=False, force_jupyter=False)
    with console.capture() as printed:
        show(document, console)
    return "".join(f"{line.rstrip()}\n" for line in printed.get().splitlines())


def _table(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    table = Table(
        title=title,
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title_justify="left",
        title_style="bold",
    )
    for name in left:
        # Never squeezed to nothing by the numbers; long names are folded.
        table.add_column(name, overflow="fold", min_width=15 if name else 1)
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _margin(margin: Margin) -> str:
    return f"{mean(margin)} {reach(margin):>7}"


def _ranking_table(document: Document) -> Table:
    over = "all opponents" if table_size(document) == 2 else "the mean of the table"
    table = _table(
        f"Ranking: margin in points a {document['configuration']['match']} over {over}",
        ["", "player"],
        ["margin", "dealer", "non-dealer", "won", "forfeits"],
    )
    for line in document["ranking"]:
        table.add_row(
            str(line["rank"]),
            Text(line["label"]),
            _margin(line["margin"]),
            signed(line["as_dealer"], precision(line["margin"])),
            signed(line["as_non_dealer"], precision(line["margin"])),
            percent(line["win_rate"]["rate"]),
            count(line["forfeits"]),
        )
    return table


def _meeting_table(document: Document) -> Table:
    """What fits into 80 columns; the margins as dealer and non-dealer are in the report."""
    kind = "Meetings" if table_size(document) == 2 else "Player against player"
    table = _table(
        f"{kind}: margin of the first player in points a {document['configuration']['match']}",
        ["players"],
        ["margin", "won", "verdict", "needed"],
    )
    for line in document["duels"]:
        table.add_row(
            Text(f"{line['first']} – {line['second']}"),
            _margin(line["margin"]),
            f"{percent(line['win_rate']['rate'])} ({percent_range(line['win_rate'])})",
            Text(line["verdict"], style="" if line["verdict"] == SEPARATED else "yellow"),
            count(line["more_deals_needed"]),
        )
    return table


def _luck_table(document: Document) -> Table:
    table = _table(
        f"Less luck: margin of the first player in points a {document['configuration']['match']}",
        ["players"],
        ["margin", "less luck", "verdict", "variance"],
    )
    for line in luck_adjusted(document):
        raw, adjusted = line["margin"], line["luck_adjusted"]
        table.add_row(
            Text(f"{line['first']} – {line['second']}"),
            _margin(raw),
            _margin(adjusted["margin"]),
            Text(adjusted["verdict"], style="" if adjusted["verdict"] == SEPARATED else "yellow"),
            percent(adjusted["variance_ratio"]),
        )
    return table


def _rating_table(document: Document) -> Table:
    level = 100 * document["ratings"]["level"]
    groups = document["ratings"]["groups"]
    table = _table(
        f"Ratings: Elo points above the mean{' of the group' if groups > 1 else ''}",
        ["player"],
        [*(["group"] if groups > 1 else []), "rating", f"{level:g} % interval", "pairs"],
    )
    for line in rated(document):
        group = [NONE if line["group"] is None else str(line["group"])]
        table.add_row(
            Text(line["player"]),
            *(group if groups > 1 else []),
            signed(line["rating"]),
            rating_range(line),
            count(line["pairs"]),
        )
    return table


def _skill_table(document: Document) -> Table:
    table = _table("Ratings by places", ["player"], ["mu", "sigma", "at least", "matches"])
    for line in skilled(document):
        table.add_row(
            Text(line["player"]),
            *(f"{line[name]:.2f}" for name in ("mu", "sigma", "ordinal")),
            count(line["matches"]),
        )
    return table


def _forfeit_table(document: Document) -> Table:
    table = Table(title="Forfeits", box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    table.add_column("player", overflow="fold")
    table.add_column("matches", justify="right")
    table.add_column("reason", overflow="fold")
    for fault in faults(document):
        table.add_row(Text(fault.player), count(fault.matches), Text(fault.reason))
    return table


# --- pictures -------------------------------------------------------------------------------------

_INK = "#1f2933"
_FAINT = "#9aa5b1"
_BLUE = "#2166ac"
_RED = "#b2182b"
_DPI = 144


def heat_map(document: Document) -> bytes:
    """The margin of every player (row) against every other (column) as a PNG, in ranking order."""
    labels = [line["label"] for line in document["ranking"]]
    size = len(labels)
    means = np.full((size, size), np.nan)
    texts = [[""] * size for _ in labels]
    doubtful = np.zeros((size, size), np.bool_)
    for line in document["duels"]:
        row, column = labels.index(line["first"]), labels.index(line["second"])
        for i, j, sign in ((row, column, 1), (column, row, -1)):
            means[i, j] = sign * line["margin"]["mean"]
            written = signed(means[i, j], precision(line["margin"]))
            texts[i][j] = f"{written}\n{reach(line['margin'])}"
            doubtful[i, j] = line["verdict"] != SEPARATED
    side = 1.05 * size
    figure = Figure((side + 3.4, side + 1.6), layout="constrained")
    axes = figure.add_subplot()
    limit = float(np.nanmax(np.abs(means), initial=0.0)) or 1.0
    image = axes.imshow(means, cmap="RdBu", norm=Normalize(-limit, limit))
    for i in range(size):
        for j in range(size):
            strong = abs(means[i, j]) > 0.6 * limit
            axes.text(
                j, i, texts[i][j],
                ha="center", va="center", fontsize=9,
                color="white" if strong else _INK,
                style="italic" if doubtful[i, j] else "normal",
                alpha=0.65 if doubtful[i, j] else 1.0,
            )  # fmt: skip
    names = [_short(label) for label in labels]
    axes.set_xticks(
        range(size), names, rotation=35, ha="right", rotation_mode="anchor", parse_math=False
    )
    axes.set_yticks(range(size), names, parse_math=False)
    axes.set_xticks(np.arange(size + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(size + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    axes.set_facecolor("#eceff1")
    unit = document["configuration"]["match"]
    axes.set_title("Margin of the row against the column", loc="left", fontweight="bold")
    bar = figure.colorbar(image, ax=axes, shrink=0.8, pad=0.03)
    bar.set_label(f"points a {unit}")
    bar.outline.set_visible(False)
    return _png(figure)


def ranking_plot(document: Document) -> bytes:
    """The ranking's margins with their intervals as a PNG."""
    lines = document["ranking"]
    figure, axes = _strip(document, [line["label"] for line in lines])
    for row, line in enumerate(lines):
        margin = line["margin"]
        color = _BLUE if margin["mean"] >= 0 else _RED
        if margin["low"] is not None:
            axes.hlines(row, margin["low"], margin["high"], color=color, linewidth=2.5)
        axes.plot(margin["mean"], row, "o", color=color, markersize=7)
        axes.annotate(
            f"{mean(margin)} {reach(margin)}", (margin["mean"], row),
            (0, 8), textcoords="offset points", ha="center", fontsize=8, color=_INK,
        )  # fmt: skip
    over = "all opponents" if table_size(document) == 2 else "the mean of the table"
    axes.set_title(f"Margin over {over}, with 95 % interval", loc="left", fontweight="bold")
    return _png(figure)


def role_plot(document: Document) -> bytes:
    """Each player's margin as dealer and as non-dealer as a PNG."""
    lines = document["ranking"]
    figure, axes = _strip(document, [line["label"] for line in lines])
    rows = range(len(lines))
    dealer = [line["as_dealer"] for line in lines]
    other = [line["as_non_dealer"] for line in lines]
    axes.hlines(rows, dealer, other, color=_FAINT, linewidth=2, zorder=1)
    axes.plot(dealer, rows, "o", color=_BLUE, markersize=8, label="as dealer")
    axes.plot(other, rows, "D", color="#e08214", markersize=7, label="as non-dealer")
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    axes.set_title("Margin by role", loc="left", fontweight="bold")
    return _png(figure)


def _strip(document: Document, labels: Sequence[str]) -> tuple[Figure, Axes]:
    """Axes with a row for each player, the first on top, and points along them."""
    figure = Figure((6.0, 1.5 + 0.45 * len(labels)), layout="constrained")
    axes = figure.add_subplot()
    axes.axvline(0, color=_FAINT, linewidth=1, zorder=0)
    axes.set_yticks(range(len(labels)), [_short(label) for label in labels], parse_math=False)
    axes.set_ylim(len(labels) - 0.5, -0.7)
    axes.margins(x=0.12)
    axes.set_xlabel(f"points a {document['configuration']['match']}")
    axes.grid(axis="x", color="#e4e7eb", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors=_INK)
    axes.spines[:].set_visible(False)
    return figure, axes


def _short(label: str, most: int = 24) -> str:
    """A label that fits beside a picture; of a long path the end tells more than the beginning."""
    return label if len(label) <= most else "…" + label[1 - most :]


def _png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    # A bare Figure draws with Agg: no window system, no state shared with other plots.
    figure.savefig(stream, format="png", dpi=_DPI, facecolor="white")
    return stream.getvalue()


# --- the page -------------------------------------------------------------------------------------


def html(document: Document) -> str:
    """The whole report as one page that needs nothing else; pictures are inside it."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "signed": signed,
        "mean": mean,
        "precision": precision,
        "reach": reach,
        "percent": percent,
        "percent_range": percent_range,
        "count": count,
        "rating_range": rating_range,
    }
    pictures = {
        name: f"data:image/png;base64,{base64.b64encode(png).decode()}"
        for name, png in (
            ("heat_map", heat_map(document)),
            ("ranking", ranking_plot(document)),
            ("roles", role_plot(document)),
        )
    }
    return environment.get_template("report.html.j2").render(
        document,
        faults=faults(document),
        standings=standings(document),
        ratings=document.get("ratings"),
        luck_adjusted=luck_adjusted(document),
        luck_sentence=(
            luck_sentence(document) if document["configuration"].get("luck_adjusted") else ""
        ),
        rated=rated(document) if document.get("ratings") else [],
        fit_sentence=fit_sentence(document) if document.get("ratings") else "",
        size=table_size(document),
        meetings=comb(len(document["agents"]), table_size(document)),
        skilled=skilled(document) if document.get("skill") else [],
        skill_sentence=skill_sentence(document) if document.get("skill") else "",
        cycle_sentences=cycle_sentences(document) if document.get("cycles") else [],
        pictures=pictures,
        separated=SEPARATED,
        no_number=NONE,
        command=command(document),
    )


def command(document: Document) -> str | None:
    """The command that plays the tournament again; None if no command line says its settings."""
    configuration = document["configuration"]
    if any(agent["spec"] is None for agent in document["agents"]) or not configuration["preset"]:
        return None
    game = ""
    if configuration["game"] != DEFAULT_GAME:
        game += f"--game {configuration['game']} "
    if "players" in configuration["rules"]:
        game += f"--players {configuration['rules']['players']} "
    return (
        f"python -m training.tournament {shlex.join(configuration['agents'])} {game}"
        f"--deals {configuration['deals']} --seed {configuration['seed']} "
        f"--match {configuration['match']} --rules {configuration['preset']} "
        f"{'--luck-adjusted ' if configuration.get('luck_adjusted') else ''}--out DIR"
    )
