"""What people are shown of how few units carry a lead."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import ceil
from typing import Any

from warehouse.analysis.comparison.brief import Names
from warehouse.analysis.comparison.words import WIDTH, column_of
from warehouse.analysis.handful.row import (
    QUESTIONS,
    SEEDS,
    HandfulItem,
    HandfulRow,
)
from warehouse.tables.text import wrap
from warehouse.tables.view import Table, TableNote, View
from warehouse.tables.words import counted, excerpt, p_value, plural, small, visible

#: Units of a kind that a table of what is left out shows.
_SHOWN = 20
#: Characters of a text and of names, and of numbers of questions in a row.
_TEXT, _NUMBERS = 36, 15
#: What is said in place of a count where p is above what it would pass.
_NOT_SHOWN = "not shown"
#: Characters of a line, also where nobody says how many there is room for.
NARROW = 80
#: What holds for all of these counts.
NO_TEST = (
    "counts of the questions at hand, and no test: a small share is no sign of weakness"
)


def brief(rows: Sequence[HandfulRow], *, is_share: bool) -> View:
    """A sentence for each benchmark, and a line for each kind of unit.

    Args:
        is_share: scores lie between 0 and 1: a lead is one of so many points.
    """
    lines: list[Any] = []
    for (benchmark, split), own in groupby(rows, _benchmark_of):
        of_one = list(own)
        said = [_heading(of_one[0], benchmark, split), *_sentences(of_one, is_share)]
        lines += ["", *map(folded, said), "", _table(of_one)]
    return View((*lines[1:], TableNote(NO_TEST, width=NARROW)))


def folded(text: str) -> str:
    """A sentence in lines that fit where the table below it does."""
    return "\n".join(wrap(text, NARROW))


def whole(
    rows: Sequence[HandfulRow], items: Sequence[HandfulItem], *, is_share: bool
) -> View:
    """Every column, what is left out first, and how it was found."""
    table = Table.of([_cells(row) for row in rows], hide_empty=_ALL_EMPTY)
    blocks: list[Any] = [*brief(rows, is_share=is_share).parts, "", table, ""]
    for (benchmark, unit), own in groupby(
        items, lambda item: (item.benchmark, item.unit)
    ):
        listed = list(own)
        shown = [_item_cells(item) for item in listed[:_SHOWN]]
        blocks += [
            f"{benchmark}: {unit} in the order of leaving out, the first "
            f"{len(shown)} of {len(listed)}",
            Table.of(shown, hide_empty=_ITEMS_EMPTY),
            "",
        ]
    notes = [TableNote(line, column_of(line), WIDTH) for line in _methods(rows)]
    return View((*blocks, *notes))


_ALL_EMPTY = ("split", "tie at", "verdicts", "verdicts p", "keys", "p", "p count")
_ITEMS_EMPTY = ("prompt", "id", "name", "a", "b", "others", "question")


def _benchmark_of(row: HandfulRow) -> tuple[str, str]:
    return row.benchmark, row.split


def _heading(row: HandfulRow, benchmark: str, split: str) -> str:
    named = benchmark
    if split:
        named = f"{benchmark} ({split})"
    models = f"{_named(row, 'a')} against {_named(row, 'b')}"
    return visible(
        f"{models} · {named} · {row.metric} · {row.n_prompts} common questions"
    )


def _named(row: HandfulRow, side: str) -> str:
    """A model with what tells its row from the other's."""
    name, condition = row.model_a, row.condition_a
    if side == "b":
        name, condition = row.model_b, row.condition_b
    if condition:
        return f"{name} ({condition})"
    return name


def _sentences(rows: Sequence[HandfulRow], is_share: bool) -> list[str]:
    """What the lead rests on."""
    row = rows[0]
    names = Names.of(row)
    if names.are_letters:
        names = Names(_named(row, "a"), _named(row, "b"))
    if not row.leads:
        return [visible(f"{names.a} and {names.b} are tied on {row.benchmark}.")]
    lead, other = names.a, names.b
    if row.leads == "b":
        lead, other = names.b, names.a
    of_p = next((own for own in rows if own.p_count is not None), None)
    if of_p is not None and of_p.p_count:
        return [visible(_shown(row, of_p, lead, other))]
    ahead = f"{lead} leads {other} by {_lead(row, is_share)}"
    return [visible(_not_shown(row, of_p, ahead, other))]


def _shown(row: HandfulRow, of_p: HandfulRow, lead: str, other: str) -> str:
    passes = f"without {_some(of_p.p_count or 0, of_p)} p passes {1 - row.level:.2g}"
    p = p_value(of_p.p_value)
    return f"{lead} leads (p {p}): {passes}; {_turned(row, other)}."


def _not_shown(row: HandfulRow, of_p: HandfulRow | None, ahead: str, other: str) -> str:
    known = f"{row.n_differ} differ"
    if of_p is not None:
        known += f", p {p_value(of_p.p_value)}"
    return f"{ahead} ({known}): {_turned(row, other)}."


def _lead(row: HandfulRow, is_share: bool) -> str:
    """How far one is ahead: in questions where each has one verdict, else of shares in
    points."""
    if row.is_single:
        n = round(abs(row.difference) * row.n_prompts)
        return f"{n} of {row.n_prompts} questions"
    if is_share:
        points = small(100 * abs(row.difference))
        return f"{points} points on {row.n_prompts} questions"
    return f"{small(abs(row.difference))} on {row.n_prompts} questions"


def _turned(row: HandfulRow, other: str) -> str:
    if row.count is not None:
        return f"without {counted(row.count, 'question')} {other} leads"
    if row.tie_at is not None:
        return (
            f"no question speaks for {other}, and without all {row.tie_at} that "
            "differ they are tied"
        )
    return f"no number of questions makes {other} lead"


def _some(count: int, row: HandfulRow) -> str:
    """So many units, of those that may be left out."""
    if row.unit == QUESTIONS:
        return f"{count} of the {row.n_differ} questions that differ"
    named = _as_many_as_fit(row.left_out_for_p)
    return f"{count} of the {row.n_units} {row.unit} ({named})"


def _table(rows: Sequence[HandfulRow]) -> Table:
    """What would turn the lead, a line for each kind of change."""
    cells = []
    for row in rows:
        cells.append(
            {
                "change": f"{row.unit} left out",
                "of": row.n_units,
                "other leads": _to_turn(row),
                "p passes": _to_pass(row),
                "first of them": _first_names(row),
            }
        )
        if row.leads and row.verdicts_to_turn is not None:
            cells += _verdict_cells(row)
    return Table.of(cells, hide_empty=("p passes", "first of them"), minor=("of",))


def _verdict_cells(row: HandfulRow) -> list[dict[str, Any]]:
    """Lines of verdicts that would have to be the other way, and of wrong keys."""
    passes: Any = row.verdicts_to_pass
    if row.verdicts_to_pass == 0:
        passes = _NOT_SHOWN
    verdicts = {
        "change": "verdicts turned",
        "of": 2 * row.n_prompts,
        "other leads": str(row.verdicts_to_turn),
        "p passes": passes,
        "first of them": "",
    }
    keys = {
        "change": "keys wrong",
        "of": row.n_prompts,
        "other leads": str(row.keys_to_turn),
        "p passes": None,
        "first of them": "",
    }
    return [verdicts, keys]


def _to_turn(row: HandfulRow) -> str:
    if not row.leads:
        return "tied"
    if row.count is None:
        if row.tie_at is not None:
            return f"none (tied at {row.tie_at})"
        return "none"
    if row.is_single and row.unit == QUESTIONS:
        return f"any {row.count} of {row.n_for}"
    return str(row.count)


def _to_pass(row: HandfulRow) -> str | None:
    if row.p_count is None:
        return None
    if row.p_count == 0:
        return _NOT_SHOWN
    if row.exact:
        return str(row.p_count)
    if row.p_at_least and row.p_at_least < row.p_count:
        return f"{row.p_at_least} to {row.p_count}"
    return f"at most {row.p_count}"


def _first_names(row: HandfulRow) -> str:
    """What is left out first."""
    if not row.first_left_out:
        return ""
    if row.unit == SEEDS:
        return ", ".join(row.first_left_out)
    n = row.count or row.tie_at or 0
    if row.unit == QUESTIONS:
        named = _as_many_as_fit(row.first_left_out, n, _NUMBERS)
        return f"{plural('prompt', len(row.first_left_out))} {named}"
    return _as_many_as_fit(row.first_left_out, n)


def _as_many_as_fit(names: Sequence[str], n: int = 0, room: int = _TEXT) -> str:
    """The first of some names, one at least, and whether there are more.

    Args:
        n: how many there are, where ``names`` are the first of them.
        room: characters.
    """
    shown = [excerpt(names[0], _TEXT)]
    for name in names[1:]:
        if len(", ".join([*shown, name])) > room:
            break
        shown.append(name)
    if len(shown) < max(n, len(names)):
        shown.append("…")
    return ", ".join(shown)


def _cells(row: HandfulRow) -> dict[str, Any]:
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "unit": row.unit,
        "leads": row.leads,
        "of": row.n_units,
        "for it": row.n_for,
        "count": row.count,
        "tie at": row.tie_at,
        "at least": _fewest(row),
        "p": p_value(row.p_value),
        "p count": _to_pass(row),
        "verdicts": row.verdicts_to_turn,
        "verdicts p": row.verdicts_to_pass,
        "keys": row.keys_to_turn,
    }


def _fewest(row: HandfulRow) -> int | None:
    """R², as a number of units."""
    if row.fewest_possible is None:
        return None
    return ceil(row.fewest_possible - 1e-9)


def _item_cells(item: HandfulItem) -> dict[str, Any]:
    return {
        "place": item.place,
        "prompt": item.prompt_id,
        "id": item.tool_id,
        "name": item.name,
        "adds": small(item.contribution),
        "a": small(item.score_a),
        "b": small(item.score_b),
        "others": small(item.others),
        "question": excerpt(item.text, _TEXT),
    }


def _methods(rows: Sequence[HandfulRow]) -> list[str]:
    lines = [
        "count: fewest units without which the other leads; the sign of a mean is that "
        "of its sum, so that the largest go first, which is exact.",
        "at least: R² = (Σ T)²/Σ T², T what a unit adds to the lead: no fewer can carry "
        "it.",
    ]
    methods = {row.p_method for row in rows}
    if "mcnemar" in methods:
        lines.append(
            "p count: fewest wins without which McNemar's exact p passes; to leave out "
            "a loss never raises it."
        )
        lines.append(
            "verdicts: single verdicts (one model, one question) the other way; keys: "
            "each wrong one counts two. Of equal wins those go first that other models "
            "have wrong."
        )
    if "t" in methods:
        lines.append(
            "p count: fewest questions without which Student's p passes, searched along "
            "tangents; where it is not proved, a range."
        )
    if "cr2" in methods:
        lines.append(
            "p count: fewest clusters without which p by the cluster-robust error CR2 "
            "passes: all sets tried, or one after the other (at most)."
        )
    lines.append("What is left after leaving out has no p.")
    return lines
