"""``gate --sequential``: a verdict that holds however often one asks, on runs that may still grow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..state import State
from ..ui.options import MappingFile, assignments, pairs_callback, refuse_typed
from ..ui.output import Output
from ..ui.table import echo, interval, number, percentage, print_rows, print_text
from .watch import stopping

if TYPE_CHECKING:
    from warehouse.analysis.sequential.row import SequentialGate, SequentialRow

LOOKS = 5
#: Seconds between two looks at a log.
PAUSE = 2.0
#: Columns that a narrow terminal does without, the first of them first.
SPARE = ("method", "metric", "unscored", "fail", "pass", "margin", "benchmark")


@dataclass(frozen=True)
class SequentialOptions:
    """The options that only a sequential gate has.

    Attributes:
        asked: ``--sequential``, or what implies it.
        looks: None: after every prompt.
        follow: a log to follow.
        reading: how the log is read.
    """

    asked: bool
    n_max: int | None
    seed: int
    estimand: str
    looks: int | None
    use_history: bool
    follow: Path | None
    reading: Mapping[str, Any]


def sequential_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--sequential`` and what belongs to it; the command gets ``sequential``."""

    @click.option(
        "--sequential", "asked", is_flag=True, help="On runs that may still grow: holds however often one asks."
    )
    @click.option("--n-max", metavar="N", type=click.IntRange(min=1), help="With --sequential: the most prompts.")
    @click.option(
        "--seed", metavar="N", type=click.IntRange(min=0), help="With --sequential: of the order; default: 0."
    )
    @click.option(
        "--estimand",
        type=click.Choice(["full-benchmark", "prompts-sampled"]),
        help="With --sequential: what is asked about, full-benchmark (default) or prompts like its own.",
    )
    @click.option("--obf", is_flag=True, help="With --sequential: O'Brien and Fleming's bounds at a few fixed looks.")
    @click.option("--looks", metavar="K", type=click.IntRange(1, 50), help=f"Looks of --obf; default: {LOOKS}.")
    @click.option("--no-history", is_flag=True, help="With --sequential: predict scores by the baseline alone.")
    @click.option(
        "--follow",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help="With --sequential: a growing log of the candidate; ends with the verdict. Nothing is stored.",
    )
    @click.option(
        "--map",
        "mapping",
        metavar="FILE|NAME",
        type=MappingFile(),
        help="With --follow: mapping (TOML) of a tabular log, or the name of a shipped one.",
    )
    @click.option(
        "--set",
        "values",
        metavar="FIELD=VALUE",
        multiple=True,
        callback=pairs_callback,
        help="With --follow: holds whatever the log says: model, benchmark ... Repeatable.",
    )
    @wraps(function)
    def wrapper(
        *args: Any,
        asked: bool,
        n_max: int | None,
        seed: int | None,
        estimand: str | None,
        obf: bool,
        looks: int | None,
        no_history: bool,
        follow: Path | None,
        mapping: str | None,
        values: Sequence[str],
        **others: Any,
    ) -> Any:
        own: dict[str, Any] = {
            "--n-max": n_max,
            "--seed": seed,
            "--estimand": estimand,
            "--obf": obf or None,
            "--looks": looks,
        }
        own |= {"--no-history": no_history or None, "--follow": follow, "--map": mapping, "--set": values or None}
        given = [name for name, value in own.items() if value is not None]
        if given and not asked:
            raise click.UsageError(f"{given[0]} goes with --sequential")
        if (mapping or values) and follow is None:
            raise click.UsageError(f"{'--map' if mapping else '--set'} goes with --follow")
        if looks is not None and not obf:
            raise click.UsageError("--looks goes with --obf")
        if follow is not None and estimand == "prompts-sampled":
            raise click.UsageError("a log is followed on the full benchmark: leave out --estimand")
        options = SequentialOptions(
            asked,
            n_max,
            seed or 0,
            (estimand or "full-benchmark").replace("-", "_"),
            (looks or LOOKS) if obf else None,
            not no_history,
            follow,
            {"mapping": mapping, "values": assignments(tuple(values), "--set")},
        )
        return function(*args, sequential=options, **others)

    return wrapper


def sequential_gate(
    state: State,
    candidate: str,
    baseline: str,
    margin: float | None,
    margins: Mapping[str, float],
    output: Output,
    chosen: SequentialOptions,
    markdown: bool,
    *,
    benchmarks: Sequence[str],
    metric: str | None,
    where: Sequence[str],
    cluster: str | None,
    alpha: float,
    latest: bool,
    force: bool,
    max_unscored: float,  # of a gate that looks once
) -> int:
    """Print the verdict so far, or follow a log until there is one; the exit code."""
    from warehouse.analysis.sequential.gate import sequential_gate as decide
    from warehouse.analysis.sequential.plan import FULL
    from warehouse.analysis.sequential.row import SequentialRow

    refuse_typed(
        "does not go with --sequential: a prompt without a score counts against either verdict", "max_unscored"
    )
    if chosen.estimand == FULL:
        refuse_typed("goes with --estimand prompts-sampled: the full benchmark is no sample of clusters", "cluster")
    fixed: dict[str, Any] = {"n_max": chosen.n_max, "alpha": alpha, "seed": chosen.seed, "looks": chosen.looks}
    fixed |= {"use_history": chosen.use_history}
    if chosen.follow is not None:
        if len(benchmarks) > 1 or margin is None or margins:
            raise click.UsageError("a log is followed on one benchmark, with one --margin")
        name = benchmarks[0] if benchmarks else None
        named = {"benchmark": name, "metric": metric, "where": where, "latest": latest, "force": force}
        return _follow(state, chosen, candidate, baseline, margin, output, **named, **fixed)
    with state.open() as store:
        decision = decide(
            store,
            candidate,
            baseline,
            margin,
            margins=margins,
            benchmarks=benchmarks,
            metric=metric,
            where=where,
            cluster=cluster,
            estimand=chosen.estimand,
            latest=latest,
            force=force,
            **fixed,
        )
    if markdown:
        echo(decision.to_markdown())
        return decision.exit_code
    if output.for_people:
        _print(decision)
    else:
        output.emit_records(SequentialRow, decision.rows)
    state.notes((*decision.notes, *(f"left out {reason}" for reason in decision.left_out)))
    return decision.exit_code


def _follow(
    state: State,
    chosen: SequentialOptions,
    candidate: str,
    baseline: str,
    margin: float,
    output: Output,
    **options: Any,
) -> int:
    from warehouse.analysis.comparison.gate import EXIT
    from warehouse.api import Warehouse
    from warehouse.records.clock import utc_now

    if not output.for_people and not output.form == "jsonl":
        raise click.UsageError("a log is followed line by line: --jsonl, or no form at all")
    house = Warehouse(state.config().url.value, wait=state.wait)
    verdict = "undecided"
    with stopping() as stop:
        state.say(f"following {chosen.follow}; Ctrl-C ends")
        rows = house.follow_gate(
            chosen.follow or Path(),
            candidate,
            baseline,
            margin,
            pause=lambda: not stop.wait(PAUSE),
            say=state.say,
            **chosen.reading,
            **options,
        )
        for row in rows:
            verdict = row.verdict
            if output.for_people:
                echo(f"{utc_now():%Y-%m-%dT%H:%M:%SZ} {row.state}")
            else:
                output.emit_records(type(row), [row])
    return EXIT[verdict]


def sentence(decision: SequentialGate) -> str:
    """The answer in words."""
    from warehouse.analysis.comparison.gate import names

    candidate, baseline = names(decision.candidate, decision.baseline, decision.rows)
    count = f" on {len(decision.rows)} benchmarks" if len(decision.rows) > 1 else f" on {decision.rows[0].benchmark}"
    says = {
        "pass": f"{candidate} may take the place of {baseline}{count}: it is worse by less than the margin, or better.",
        "fail": f"{candidate} may not take the place of {baseline}{count}: it is worse by more than the margin.",
        "undecided": f"It is not settled yet whether {candidate} may take the place of {baseline}{count}.",
    }
    if decision.verdict == "undecided" and all(row.n_prompts >= row.n_max for row in decision.rows):
        return f"The prompts do not settle whether {candidate} may take the place of {baseline}{count}."
    return says[decision.verdict]


def _print(decision: SequentialGate) -> None:
    print_text(sentence(decision) + "\n")
    print_rows(
        [_cells(row) for row in decision.rows],
        needless=("split", "reason", "pass", "fail", "expected more", "decided at"),
        counts=("unscored", "beyond"),
        spare=SPARE,
    )
    print_text("")
    for line in _legend(decision.rows):
        print_text(line)


def _cells(row: SequentialRow) -> dict[str, Any]:
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "verdict": row.verdict,
        "difference": number(row.difference, 4, sign=True),
        f"{100 * row.level:.4g}% interval": interval(row.ci_low, row.ci_high, 4),
        "margin": number(row.margin, 4),
        "prompts": f"{row.n_prompts} of {row.n_max}",
        "decided at": row.decided_at,
        "expected more": round(row.expected_remaining) if row.is_open and row.expected_remaining is not None else None,
        "pass": percentage(row.chance_pass) if row.is_open else None,
        "fail": percentage(row.chance_fail) if row.is_open else None,
        "unscored": row.n_unscored,
        "beyond": row.n_beyond,
        "method": row.method,
        "reason": row.reason,
    }


def _legend(rows: tuple[SequentialRow, ...]) -> list[str]:
    from warehouse.analysis.sequential.row import validity

    lines = [validity(rows)]
    if any(row.is_open and row.expected_remaining is not None for row in rows):
        lines.append(
            "expected more: mean prompts until a verdict or the most, over 200 continuations that draw what was seen"
            " again; pass, fail: the share of them that end so."
        )
    if any(row.n_beyond for row in rows):
        lines.append("beyond: prompts with results that do not count yet, as earlier ones of the order have none.")
    used = {(row.predicted_by, row.n_history) for row in rows if row.predicted_by}
    for by, n in sorted(used):
        others = f" and {n} other models" if by != "baseline" else ""
        lines.append(f"The candidate's scores are predicted by the baseline's{others}.")
    return lines
