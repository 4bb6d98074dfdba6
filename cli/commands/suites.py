"""``leaderboard --group``: models on a suite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..state import State
from ..ui.options import refuse_typed
from ..ui.output import Output
from ..ui.output_files import writes
from ..ui.table import print_view

if TYPE_CHECKING:
    from warehouse.store.connection import Store

_WORDS = ("equal", "prompts")
#: Options of a leaderboard that a suite takes too.
_COMMON = ("metric", "where", "latest", "cluster", "level", "subset_ok")
_OWN = ("weights", "partial_ok", "force")


def suite_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--group``, ``--weights``, ``--partial`` and ``--force``."""
    for option in (
        click.option("--force", is_flag=True, help="With a suite: mix scales, judges, versions."),
        click.option("--partial", "partial_ok", is_flag=True, help="With a suite: rank rows that lack benchmarks."),
        click.option(
            "--weights",
            metavar="WEIGHTS",
            help="Of a suite's benchmarks: equal (default), prompts, NAME=W,..., or a file of NAME=W lines.",
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
        given = [name for name in _OWN if options.pop(name) and not (name == "force" and writes())]
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

    refuse_typed("is for single benchmarks, not for a suite", "method", "estimand", "max_unscored")
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
        view = board.view(verbose=state.verbose)
        print_view(view)
        state.notes(note.replace("partial_ok", "--partial").replace("subset_ok", "--subset") for note in view.notes)
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
