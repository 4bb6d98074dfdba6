"""``leaderboard --group``: models on a suite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..state import State
from ..ui.footnotes import say_reasons
from ..ui.output import Output
from ..ui.table import decimals, direction, interval, level_column, number, print_legend, print_table, print_text

if TYPE_CHECKING:
    from warehouse.analysis.suites.leaderboard import SuiteBoard
    from warehouse.analysis.suites.row import SuiteRow
    from warehouse.store.connection import Store

_WORDS = ("equal", "prompts")
#: Options of a leaderboard that a suite takes too.
_COMMON = ("metric", "where", "latest", "cluster", "level", "subset_ok")
_OWN = ("weights", "partial_ok", "force")

#: Columns that a narrow terminal does without, the first of them first.
SPARE = ("method", "published", "draws", "clusters", "group", "prompts", "stat. rank", "leaves", "se", "missing")


def suite_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--group``, ``--weights``, ``--partial`` and ``--force``."""
    for option in (
        click.option("--force", is_flag=True, help="With a suite: mix scales, judges, versions."),
        click.option("--partial", "partial_ok", is_flag=True, help="With a suite: rank rows that lack leaves."),
        click.option(
            "--weights",
            metavar="WEIGHTS",
            help="Of a suite's leaves: equal (default), prompts, NAME=W,..., or a file of NAME=W lines.",
        ),
        click.option(
            "--group", metavar="SUITE", help="Rank on a suite: its name, or names and globs of benchmarks with commas."
        ),
    ):
        function = option(function)
    return function


def suite_of(store: Store, benchmark: str | None, options: dict[str, Any]) -> str | None:
    """Name of the suite that is meant; None where it is a benchmark.

    Raises:
        UsageError: both are named, or options of a suite without one.
    """
    group: str | None = options.pop("group")
    if group is not None and benchmark is not None:
        raise click.UsageError("give a benchmark or --group SUITE, not both")
    if group is None and benchmark is not None:
        from warehouse.analysis.suites.tree import is_suite

        group = benchmark if is_suite(store, benchmark) else None
    if group is None:
        given = [name for name in _OWN if options.pop(name)]
        if given:
            raise click.UsageError(f"--{given[0].removesuffix('_ok')} is for suites: name one with --group SUITE")
    return group


def show_suite(store: Store, state: State, group: str, output: Output, options: dict[str, Any]) -> None:
    """Print the board of a suite.

    Raises:
        UsageError: options that suites do not have, or weights that cannot be read.
    """
    from warehouse.analysis.suites.leaderboard import suite_leaderboard
    from warehouse.analysis.suites.row import SuiteRow

    if options.get("method", "auto") != "auto":
        raise click.UsageError("--method is for single benchmarks; a suite has one of its own")
    if options.get("estimand", "prompts_sampled") != "prompts_sampled":
        raise click.UsageError("--estimand prompts-fixed is for single benchmarks")
    known = {name: options[name] for name in _COMMON if name in options}
    board = suite_leaderboard(
        store,
        group,
        weights=read_weights(options["weights"]),
        partial_ok=options["partial_ok"],
        force=options["force"],
        **known,
    )
    if output.for_people:
        _print(board, state)
    else:
        output.emit_records(SuiteRow, board.rows)


def read_weights(text: str | None) -> str | dict[str, float]:
    """``equal``, ``prompts``, ``name=weight,…``, or a file with one ``name=weight`` a line.

    Raises:
        UsageError: anything else, with the place.
    """
    if text is None or text in _WORDS:
        return text or "equal"
    if Path(text).is_file():
        lines = Path(text).read_text(encoding="utf-8").splitlines()
        parts = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    elif "=" in text:
        parts = [part.strip() for part in text.split(",") if part.strip()]
    else:
        raise click.UsageError(f"--weights '{text}' is none of equal, prompts, NAME=WEIGHT,... and no file")
    return dict(_weight(part, parts) for part in parts)


def _weight(part: str, parts: list[str]) -> tuple[str, float]:
    name, sign, value = part.rpartition("=")
    name = name.strip()
    try:
        weight = float(value)
    except ValueError:
        sign, weight = "", 0.0
    if not sign or not name:
        raise click.UsageError(f"--weights: '{part}' is not NAME=WEIGHT")
    if sum(other.rpartition("=")[0].strip() == name for other in parts) > 1:
        raise click.UsageError(f"--weights gives {name} twice")
    return name, weight


def _print(board: SuiteBoard, state: State) -> None:
    from warehouse.analysis.selection.other_metrics import describe_others

    click.echo(f"{board.suite} by {board.metric} ({direction(board.higher_is_better)}), {_leaves_in_words(board)}")
    level = level_column(board.rows[0].level)
    places = decimals(row.standard_error for row in board.rows)
    names = [leaf.name for leaf in board.leaves] if state.verbose else []
    columns = [
        "rank",
        "stat. rank",
        "group",
        "model",
        "condition",
        "figure",
        "se",
        level,
        "leaves",
        "missing",
        "prompts",
        "clusters",
        "draws",
        "published",
        "method",
        *names,
        "flags",
    ]
    rows = [_cells(row, places, state.verbose) for row in board.rows]
    needless = ("stat. rank", "group", "condition", "clusters", "published", "method", "flags")
    shown = print_table(columns, rows, needless=needless, counts=("missing",), spare=(*names, *SPARE))
    for note in board.notes:
        text = note.replace("partial_ok", "--partial").replace("subset_ok", "--subset")
        state.say(f"note: {text}")
    size = 1 - board.rows[0].level
    legend = {
        "stat. rank": f"1 + models significantly better (paired over the suite, Holm over all pairs, {size:.3g})",
        "group": "models that share a letter cannot be told apart (the same tests)",
    }
    print_legend(legend, shown)
    explained = [row for row in board.rows if row.ci_low is None or state.verbose]
    say_reasons([(row, row.reason) for row in explained], state)
    if others := describe_others(board.others):
        print_text(others)


def _leaves_in_words(board: SuiteBoard) -> str:
    n = len(board.leaves)
    if board.weights == "equal":
        return f"mean of {n} leaves, each the same weight"
    if board.weights == "prompts":
        return f"mean of {n} leaves, weighted by their prompts"
    shares = ", ".join(f"{leaf.name} {leaf.weight:.3g}" for leaf in board.leaves)
    return f"mean of {n} leaves, weighted {shares}"


def _cells(row: SuiteRow, places: int, verbose: bool) -> list[Any]:
    leaves = [number(value, places) for value in row.leaf_estimates] if verbose else []
    return [
        row.rank,
        row.statistical_rank,
        row.group,
        row.model,
        row.condition,
        number(row.estimate, places),
        number(row.standard_error, places),
        interval(row.ci_low, row.ci_high, places),
        row.n_leaves,
        row.n_missing,
        row.n_prompts,
        row.n_clusters,
        row.n_draws,
        number(row.published, places),
        row.method if verbose else "",
        *leaves,
        row.flags,
    ]
