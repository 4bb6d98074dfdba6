"""A plan as people read it first: how many questions a difference takes, and what those at
hand can find."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from warehouse.analysis.power.row import FromPilot, Goal, PowerRow
from warehouse.tables.view import Table, View
from warehouse.tables.words import WrittenNumber, counted

#: Words of flags, where a plan is made for people.
_CAUTIONS = {
    "omega2_clipped": (
        "The pilot is too small to show how much questions differ: take this for the "
        "least."
    ),
    "skewed_pilot": (
        "The pilot's differences are skewed, and it hardly shows their tail: allow for "
        "half as much again."
    ),
    "few_clusters": "It rests on few clusters, and is a rough guess.",
}


def brief_view(
    goal: Goal,
    rows: Sequence[PowerRow],
    pilot: FromPilot | None,
    notes: Sequence[str],
    *,
    are_sizes_asked: bool = False,
) -> View:
    """What people are shown of a plan.

    Args:
        goal: what was worked out.
        rows: the answer, the best designs, then a grid.
        pilot: the runs that it was made from; None: from variances that were given.
        notes: what a reader should know.
        are_sizes_asked: numbers of questions were given to be looked at.
    """
    answer, grid = rows[0], [row for row in rows if row.role == "table"]
    in_points = pilot is not None and pilot.is_share
    if pilot is not None:
        answer, grid = pilot.lead, list(pilot.sizes)
    parts: list[Any] = [*_answer(goal, answer, pilot, in_points)]
    if goal == "n":
        designs = [answer]
        if pilot is not None:
            designs = list(pilot.designs) or designs
        parts += ["", _designs(designs, pilot)]
    if are_sizes_asked or goal != "n":
        found_by_size: Goal = "power" if goal == "n" else goal
        parts += ["", _sizes(found_by_size, grid, in_points)]
    is_limited = pilot is None or pilot.is_limited
    best = [row for row in rows if _was_asked(row, answer, is_limited=is_limited)]
    parts += list(_best_designs(best, in_points))
    if goal == "n" and pilot is not None:
        parts.append(_at_hand(pilot, in_points))
    parts += [_CAUTIONS[flag] for flag in answer.flags]
    return View(tuple(parts), tuple(notes))


def _answer(
    goal: Goal, answer: PowerRow, pilot: FromPilot | None, in_points: bool
) -> Iterator[str]:
    """The answer in a sentence."""
    between = ""
    if pilot is not None and len(pilot.models) > 1:
        between = f" between {pilot.models[0]} and {pilot.models[1]}"
    elif pilot is not None:
        between = f" from {pilot.models[0]}"
    if pilot is not None:
        between += f" on {pilot.benchmark}"
    test = f"test at {100 * answer.alpha:g} %"
    chance = f"chance {100 * answer.mde_power:g} %, {test}"
    if goal == "n":
        wanted = _difference(answer.delta, in_points)
        yield f"To find a difference of {wanted}{between} ({chance}):"
    elif goal == "mde":
        found = _difference(answer.mde, in_points)
        yield f"{_size(answer)} find a difference{between} of {found} or more ({chance})."
    else:
        wanted = _difference(answer.delta, in_points)
        power = f"{100 * (answer.power or 0.0):.3g} %"
        yield (
            f"{_size(answer)} find a difference{between} of {wanted} with a chance of "
            f"{power} ({test})."
        )


def _difference(value: float | None, in_points: bool) -> str:
    """A difference, in points where scores are shares."""
    if value is None:
        return "-"
    if in_points:
        return f"{100 * value:.3g} points"
    return f"{value:.4g}"


def _size(row: PowerRow) -> str:
    """How many questions, with how many answers to each."""
    clusters = ""
    if row.n_clusters is not None:
        clusters = f" in {row.n_clusters:,} clusters"
    return f"{row.n:,} questions{clusters} × {counted(row.k_a, 'answer')}"


def _designs(rows: Sequence[PowerRow], pilot: FromPilot | None) -> Table:
    """A row for each number of answers to a question."""
    own = 0
    if pilot is not None:
        own = pilot.as_it_is.k_a
    cells = []
    for row in rows:
        cells.append(
            {
                "questions": WrittenNumber(f"{row.n:,}"),
                "clusters": row.n_clusters,
                "answers to each": row.k_a,
                "answers in all": WrittenNumber(f"{row.generations:,}"),
                "cost": _cost(row),
                "": "as in your runs" if row.k_a == own and len(rows) > 1 else "",
            }
        )
    return Table.of(cells, hide_empty=("clusters", "cost", ""))


def _cost(row: PowerRow) -> WrittenNumber | None:
    """What a design costs, where answers have a price of their own."""
    if row.cost == row.generations:
        return None
    return WrittenNumber(f"{row.cost:,.6g}")


def _sizes(goal: Goal, rows: Sequence[PowerRow], in_points: bool) -> Table:
    """What other numbers of questions find, by answers to each."""
    heading = "finds a difference of"
    if goal == "power":
        heading = "chance to find it"
    draws = sorted({row.k_a for row in rows})
    lines: dict[int, dict[str, Any]] = {}
    for row in rows:
        found = _difference(row.mde, in_points)
        if goal == "power":
            found = f"{100 * (row.power or 0.0):.3g} %"
        line = lines.setdefault(
            row.n,
            {"questions": WrittenNumber(f"{row.n:,}"), "clusters": row.n_clusters},
        )
        if len(draws) == 1:
            line["answers in all"] = WrittenNumber(f"{row.generations:,}")
            line[heading] = WrittenNumber(found)
        else:
            line[f"× {counted(row.k_a, 'answer')}"] = WrittenNumber(found)
    return Table.of(lines.values(), hide_empty=("clusters",))


def _was_asked(row: PowerRow, answer: PowerRow, *, is_limited: bool) -> bool:
    """True for the best design of a budget, and for the cheapest where costs differ or
    where there are so many questions only."""
    if row.role == "budget":
        return True
    has_choice = is_limited or answer.cost != answer.generations
    return row.role == "cheapest" and has_choice


def _best_designs(rows: Sequence[PowerRow], in_points: bool) -> Iterator[str]:
    """The best designs in words; none where the runs do not show how much questions
    differ, so that a handful with many answers each would seem best."""
    if any("omega2_clipped" in row.flags for row in rows):
        yield "Which number of questions is best cannot be told from so few."
        return
    for row in rows:
        yield _best(row, in_points)


def _best(row: PowerRow, in_points: bool) -> str:
    """A best design in words."""
    what = "Best for the budget" if row.role == "budget" else "Cheapest"
    cost = ""
    if row.cost != row.generations:
        cost = f", cost {row.cost:,.6g}"
    finds = f"finds {_difference(row.mde, in_points)}"
    if row.power is not None:
        finds = f"finds it with a chance of {100 * row.power:.3g} %"
    return f"{what}: {_size(row)}, {row.generations:,} answers{cost}; {finds}."


def _at_hand(pilot: FromPilot, in_points: bool) -> str:
    """What the questions of the runs can find."""
    found = _difference(pilot.as_it_is.mde, in_points)
    return f"Your {_size(pilot.as_it_is)} find a difference of {found} or more."
