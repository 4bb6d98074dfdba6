"""Two recipes as people read them first: who is better on which benchmark, and what would
settle the others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from warehouse.analysis.decide.row import UNSAID, DecisionRow
from warehouse.tables.units import Unit
from warehouse.tables.view import Table, View
from warehouse.tables.words import WrittenNumber, counted, listed

#: Seeds of each recipe beyond which nobody trains them.
_TOO_MANY = 100
#: Benchmarks that a sentence names.
_MOST_NAMED = 6
#: Characters of a name that a column is headed with, at most.
_LONGEST = 20
_HIDE_EMPTY = ("split", "metric", "seed noise", "to settle")
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("split", "metric")


def brief_view(
    both: tuple[str, str],
    rows: Sequence[DecisionRow],
    notes: Sequence[str],
    shares: Collection[str],
) -> View:
    """What people are shown of two recipes.

    Args:
        both: the references, as given.
        rows: one for each benchmark and split.
        notes: what was left out, and what flags mean.
        shares: benchmarks whose scores lie between 0 and 1.
    """
    names = _names(both)
    units = {}
    for in_percent in (True, False):
        alike = [row for row in rows if (row.benchmark in shares) == in_percent]
        errors = [row.seed_sd for row in alike]
        units[in_percent] = Unit.of(errors, in_percent=in_percent)
    cells = [_cells(row, names, units[row.benchmark in shares]) for row in rows]
    for name in ("split", "metric"):
        if len({getattr(row, name) for row in rows}) == 1:
            for own in cells:
                del own[name]
    table = Table.of(cells, hide_empty=_HIDE_EMPTY, minor=_MINOR)
    head = (_heading(both, rows), *_sentences(rows, both))
    return View((*head, "", table, *_below(rows)), tuple(notes))


def _names(both: tuple[str, str]) -> tuple[str, str]:
    """What columns are headed with: the last parts of the names, else letters."""
    last = [reference.rpartition("/")[2] for reference in both]
    if last[0] != last[1] and max(map(len, last)) <= _LONGEST:
        return last[0], last[1]
    return "A", "B"


def _heading(both: tuple[str, str], rows: Sequence[DecisionRow]) -> str:
    """Who is compared, on how many seeds."""
    parts = [f"{both[0]} against {both[1]}"]
    metrics = {row.metric for row in rows}
    if len(metrics) == 1:
        parts += metrics
    seeds = {(row.n_seeds_a, row.n_seeds_b) for row in rows}
    if len(seeds) == 1:
        a, b = seeds.pop()
        parts.append(f"{counted(a, 'seed')} each" if a == b else f"{a} and {b} seeds")
    averaged = rows[0].averaged
    parts.append(
        "last checkpoint"
        if averaged == 1
        else f"mean of the last {averaged} checkpoints"
    )
    return " · ".join(parts)


def _sentences(rows: Sequence[DecisionRow], both: tuple[str, str]) -> Iterator[str]:
    """Who is better where, who leads by a little, and what cannot be told."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        groups.setdefault((row.verdict, row.better), []).append(row.benchmark)
    names = {"a": both[0], "b": both[1]}
    words = {"decides": "is better on", "leans": "may be better (leans) on"}
    said = []
    for (verdict, better), benchmarks in groups.items():
        if verdict in words and better in names:
            said.append(f"{names[better]} {words[verdict]} {_some(benchmarks)}")
    untold = []
    for (verdict, better), benchmarks in groups.items():
        if verdict == "cannot tell":
            untold += benchmarks
        elif better not in names:
            which = _some(benchmarks)
            said.append(f"they differ on {which}, whose direction nobody has said")
    if untold:
        said.append(f"{_some(untold)} cannot tell")
    yield "; ".join(said) + "."


def _below(rows: Sequence[DecisionRow]) -> Iterator[str]:
    """Where seed noise comes from that is not seen on these runs."""
    pools = {row.pool: row for row in rows if row.floor_from == "pool"}
    for name, row in pools.items():
        least, most = row.pool_quantiles[0], row.pool_quantiles[-1]
        yield (
            f"seed noise is taken from {row.pool_size} benchmarks {name}, where seeds "
            f"spread by {least:.2g} to {most:.2g}: these recipes have too few seeds"
        )
    if any(row.floor_from == "other_recipes" for row in rows):
        yield "seed noise is taken from other recipes: these have one seed"
    if any(row.floor_from == "jitter" for row in rows):
        yield (
            "seed noise is at least what checkpoints of one run spread by: no recipe "
            "has two seeds"
        )
    if any(UNSAID in row.advice for row in rows):
        yield UNSAID


def _some(benchmarks: Sequence[str]) -> str:
    if len(benchmarks) <= _MOST_NAMED:
        return listed(benchmarks)
    return counted(len(benchmarks), "benchmark")


def _cells(row: DecisionRow, names: tuple[str, str], unit: Unit) -> dict[str, Any]:
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        names[0]: unit.figure(row.mean_a),
        names[1]: unit.figure(row.mean_b),
        "difference": unit.difference(row.difference),
        "seed noise": _noise(row, unit),
        "verdict": _verdict(row, names),
        "to settle": _settling(row),
    }


def _noise(row: DecisionRow, unit: Unit) -> WrittenNumber | None:
    """The difference that seeds alone may make."""
    floor = unit.points(row.noise_floor)
    if floor is None:
        return None
    sign = "±"
    if row.floor_from == "jitter":
        sign = "at least ±"
    return WrittenNumber(f"{sign}{floor}")


def _verdict(row: DecisionRow, names: tuple[str, str]) -> str:
    """Who is better, by name."""
    better = {"a": names[0], "b": names[1]}.get(row.better)
    if row.verdict == "cannot tell":
        return "cannot tell"
    if better is None:
        return "differ"
    if row.verdict == "leans":
        return f"leans to {better}"
    return better


def _settling(row: DecisionRow) -> str:
    """How many seeds of each would settle it."""
    if row.verdict == "decides" or row.difference == 0:
        return ""
    if row.seeds_for_80 is None:
        return "a second seed of each"
    if row.seeds_for_80 > _TOO_MANY:
        return "no number of seeds that anybody trains"
    return f"{counted(row.seeds_for_80, 'seed')} each"
