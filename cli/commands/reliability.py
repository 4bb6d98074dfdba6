"""``reliability``: how far the verdicts of a suite depend on what it is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from warehouse.questions.reliability import Reliability

from ..lazy_group import command
from ..state import State
from ..ui.options import option, output_options, picture_option, write_picture
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import count_range, echo, excerpt, number, percentage, print_rows, print_text

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.analysis.reliability.reliability import ReliabilityReport
    from warehouse.analysis.reliability.results import DatasetRow, ReliabilityRow, SwitchRow

PARTS = ("ranks", "sizes", "models", "pool", "switches", "agreement", "seeds", "datasets")
#: Parts of which there is a picture.
_DRAWN = ("ranks", "sizes", "switches", "seeds", "agreement")
_WORDS = {
    "scenarios": "scenarios",
    "subscenarios": "subscenarios of each scenario",
    "prompts": "prompts of a scenario",
    "seeds": "few-shot seeds",
}
_NAME = 30
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("weighted", "e", "prompts a model", "rank ±")
#: Rows of pairs of subscenarios that people see.
_PAIRS = 20
#: Ranking from which on few prompts give nearly the order of all.
_ENOUGH = 0.9


@command("reliability")
@options_of(Reliability, without=("datasets",))
@option(
    "--part",
    "Only this: ranks by the number of prompts; every size; models by aggregates; the pool of models; adjacent"
    " models; subscenarios; few-shot seeds; each data set by itself.",
    click.Choice(PARTS),
)
@picture_option
@output_options
def reliability(state: State, /, part: str | None, svg: Path | None, output: Output, **options: Any) -> None:
    if svg and part not in (None, *_DRAWN):
        raise click.UsageError(f"--svg draws {', '.join(_DRAWN)}, or with no --part all of them; not {part}")
    report: ReliabilityReport = state.ask(Reliability(**options, datasets=part == "datasets"))
    if svg:
        from warehouse.report.plot_results import suite_charts

        drawn = suite_charts(report)
        write_picture(svg, [chart for name in ([part] if part else _DRAWN) for chart in drawn[name]])
    fields = {None: "rows", "sizes": "rows", "seeds": "seed_designs"}
    output.give(report, lambda: print_report(report, part), part=fields.get(part, str(part)))
    state.notes(report.notes)


def print_report(report: ReliabilityReport, part: str | None = None) -> None:
    """The answer, and the tables of one part or those of most use."""
    print_text(f"{report.one_line}.")
    print_text(_suite(report))
    echo()
    {
        None: _print_summary,
        "sizes": _print_sizes,
        "models": _print_models,
        "pool": _print_pool,
        "switches": _print_switches,
        "agreement": _print_agreement,
        "seeds": _print_seeds,
        "ranks": _print_ranks,
        "datasets": _print_datasets,
    }[part](report)


def _suite(report: ReliabilityReport) -> str:
    by = f" by {report.scenarios_by}" if report.scenarios_by else ""
    parts = f" in {report.n_subscenarios} subscenarios" if report.n_subscenarios > report.n_scenarios else ""
    s = "s" * (report.n_scenarios > 1)
    return (
        f"{report.suite} by {report.metric}: {report.n_models} models, {report.n_scenarios} scenario{s}{by}{parts},"
        f" {report.n_prompts} prompts."
    )


def _print_summary(report: ReliabilityReport) -> None:
    print_text(
        f"Resamples of as many (DIoR: at least so much in {50 * (1 + report.level):g} % of"
        f" {report.rows[0].n_resamples}):"
    )
    whole = [row for row in report.rows if row.size is None]
    print_rows([_cells(row, of=row.granularity) for row in whole if row.ranking is not None], minor=_MINOR)
    for row in whole:
        if row.ranking is None:
            print_text(f"{row.granularity}: no figure: {row.reason}")
    echo()
    print_text("Fewer prompts of each scenario, resampled:")
    print_rows([_cells(row) for row in report.prompt_rows], minor=_MINOR)
    echo()
    print_text(_below(report))


def _print_sizes(report: ReliabilityReport) -> None:
    for granularity, words in _WORDS.items():
        rows = [row for row in report.rows if row.granularity == granularity]
        if rows[-1].ranking is None:
            print_text(f"{granularity}: no figure: {rows[-1].reason}")
        else:
            print_text(f"Other {words}:")
            print_rows([_cells(row) for row in rows], minor=_MINOR)
        echo()


def _cells(row: ReliabilityRow, of: str = "") -> dict[str, Any]:
    return {
        **({"of": of} if of else {"size": "all" if row.size is None else row.size}),
        "prompts a model": round(row.n_prompts),
        "ranking": _bound(row.ranking, row.ranking_low, row.ranking_high),
        "weighted": number(row.weighted, 3),
        "quality": _bound(row.quality, row.quality_low, row.quality_high),
        "best": _bound(row.best, None, None),
        "e": number(row.best_error, 3),
        "same order": percentage(row.same_order),
        "rank ±": row.rank_resolution,
    }


def _bound(value: float | None, low: float | None, high: float | None) -> str | None:
    """A bound with half the width of its Monte Carlo interval."""
    if value is None:
        return None
    return f"{value:.3f}" + ("" if low is None or high is None else f" ±{(high - low) / 2:.3f}")


def _below(report: ReliabilityReport) -> str:
    words = [
        "ranking: Kendall's tau with the ranking on all; quality: 1 - change of win rates; best: 1 - how often the"
        " second beats the first (upper end); ± is Monte Carlo error. Fresh prompts would agree less than resamples."
    ]
    if report.tau_within is not None and report.tau_across is not None:
        words.append(
            f"Subscenarios of one scenario agree with tau {report.tau_within:.2f}, those of two with"
            f" {report.tau_across:.2f}."
        )
    moved = [row for row in report.models if row.rank_low != row.rank_high]
    if moved:
        worst = max(moved, key=lambda row: (row.rank_high or 0) - (row.rank_low or 0))
        words.append(
            f"{len(moved)} of {report.n_models} models change rank with the aggregate, most of all {worst.model}"
            f" ({worst.rank_low} to {worst.rank_high})."
        )
    pool = [row for row in report.pool if row.n_reversed]
    if report.pool:
        leaders = sum(row.leader_changes for row in report.pool)
        words.append(
            f"{len(pool)} models turn pairs of others round when they leave; {leaders} of them change who is first."
        )
    return " ".join(words)


def _print_models(report: ReliabilityReport) -> None:
    print_rows(
        [
            {
                "rank": row.rank,
                "model": excerpt(row.model, _NAME),
                "win rate": number(row.mean_win_rate, 3),
                "mean": number(row.mean, 3),
                "by mean": row.rank_mean,
                "mean z": number(row.mean_z, 2),
                "by z": row.rank_z,
                "BT": number(row.bradley_terry, 2),
                "by BT": row.rank_bradley_terry,
                "by parts": row.rank_subscenarios,
                "quality": number(row.quality, 3),
                "rank ±": row.rank_resolution,
                "lacks": row.n_scenarios_suite - row.n_scenarios,
            }
            for row in report.models
        ],
        counts=("lacks",),
        minor=("mean z", "BT", "quality", "mean", "by parts", "rank ±"),
    )
    print_text("by ...: rank by the mean, the mean z-score, Bradley-Terry, and win rates over subscenarios.")


def _print_pool(report: ReliabilityReport) -> None:
    rows = [
        {
            "rank": row.rank,
            "without": excerpt(row.model, _NAME),
            "others that move": row.n_moved,
            "places": row.largest,
            "pairs turned": row.n_reversed,
            "other leader": row.leader_changes,
        }
        for row in report.pool
    ]
    print_rows(rows, empty="no model can leave: there are two")


def _print_ranks(report: ReliabilityReport) -> None:
    print_text(f"Mean rank with so many prompts of a scenario, and where {100 * report.level:g} % of ranks lie:")
    rows: dict[str, dict[str, Any]] = {}
    for row in report.ranks:
        cells = rows.setdefault(row.model, {"rank": row.rank, "model": excerpt(row.model, _NAME)})
        ends = "" if row.rank_low is None else f" ({count_range(row.rank_low, row.rank_high or row.rank_low)})"
        cells["all" if row.size is None else str(row.size)] = f"{number(row.mean_rank, 1) or '-'}{ends}"
    sizes = dict.fromkeys("all" if row.size is None else str(row.size) for row in report.ranks)
    # a narrow terminal keeps the least, the middle and all
    middle = [size for size in sizes if size != "all"]
    print_rows([*rows.values()], minor=[*middle[1::2], *middle[2::2]], empty=report.prompt_rows[-1].reason)


def _print_switches(report: ReliabilityReport) -> None:
    print_text("How often the last of so many adjacent models beats the first, by prompts of a scenario:")
    windows = sorted({row.window for row in report.switches})
    sizes = list(dict.fromkeys(row.size for row in report.switches))
    of = {(row.size, row.window): row for row in report.switches}
    print_rows(
        [
            {"size": "all" if size is None else size} | {f"{w} models": _switch(of[size, w]) for w in windows}
            for size in sizes
        ],
        hide_empty=tuple(f"{w} models" for w in windows),
        empty=report.prompt_rows[-1].reason,
    )
    print_text(
        f"Means over windows, a tie is half a switch; ± is half the width of the {100 * report.level:g} % Monte Carlo"
        " interval, < its upper end where none did. --json has both ends, the windows that begin with the first five"
        " models (first), and the worst window (most)."
    )


def _switch(row: SwitchRow) -> str | None:
    if row.probability == 0 and row.high is not None:
        return f"< {row.high:.3f}"
    return _bound(row.probability, row.low, row.high)


def _print_datasets(report: ReliabilityReport) -> None:
    """Each data set on all its prompts, and how few of them give nearly the same ranking."""
    print_text("Each data set as if it were the whole benchmark, its prompts resampled:")
    whole = [row for row in report.datasets if row.size is None]
    print_rows(
        [
            {
                "data set": excerpt(row.subscenario, _NAME),
                "models": row.n_models,
                "prompts": round(row.n_prompts),
                "ranking": number(row.ranking, 3),
                "quality": number(row.quality, 3),
                "best": number(row.best, 3),
                "e": number(row.best_error, 3),
                "same order": percentage(row.same_order),
                "rank ±": row.rank_resolution,
                "enough": _enough(report, row),
                "leader": excerpt(row.leader, _NAME),
            }
            for row in whole
        ],
        minor=("leader", "e", "same order", "models"),
    )
    print_text("enough: the fewest prompts tried whose ranking is at least 0.9.")
    for reason in dict.fromkeys(row.reason for row in whole if row.reason):
        print_text(f"{', '.join(row.subscenario for row in whole if row.reason == reason)}: {reason}")


def _enough(report: ReliabilityReport, whole: DatasetRow) -> str:
    sizes = [row for row in report.datasets if (row.scenario, row.subscenario) == (whole.scenario, whole.subscenario)]
    near = next((row for row in sizes if row.ranking is not None and row.ranking >= _ENOUGH), None)
    return "none" if near is None else str(round(near.n_prompts))


def _print_agreement(report: ReliabilityReport) -> None:
    means = [("within scenarios", report.tau_within, True), ("across", report.tau_across, False)]
    for words, tau, within in means:
        n = sum(row.within == within and row.tau is not None for row in report.agreement)
        print_text(f"Mean tau {words}: {'no pair' if tau is None else f'{tau:.3f} over {n} pairs'}.")
    rows = sorted(report.agreement, key=lambda row: (row.tau is None, row.tau))
    echo()
    print_rows(
        [
            {
                "subscenario": excerpt(row.subscenario, _NAME),
                "other": excerpt(row.other_subscenario, _NAME),
                "tau": number(row.tau, 3),
                "within": row.within,
            }
            for row in rows[:_PAIRS]
        ],
        empty="one subscenario: no pair",
    )
    if len(rows) > _PAIRS:
        print_text(f"... the {_PAIRS} that agree least of {len(rows)}: --json has all")


def _print_seeds(report: ReliabilityReport) -> None:
    for resampling, words in (("bootstrap", "with replacement"), ("subsample", "without replacement")):
        rows = [row for row in report.seed_designs if row.resampling == resampling]
        if rows:
            print_text(f"{resampling.capitalize()}, calls drawn {words}:")
        print_rows(
            [
                {
                    "calls": row.budget,
                    "width, all seeds": _bound_width(row.width_full, row.error_full),
                    "width, uniform": _bound_width(row.width_uniform, row.error_uniform),
                    "mean, all seeds": _bound_width(row.mean_width_full, row.mean_error_full),
                    "mean, uniform": _bound_width(row.mean_width_uniform, row.mean_error_uniform),
                    "ranking, all seeds": number(row.ranking_full, 3),
                    "ranking, uniform": number(row.ranking_uniform, 3),
                }
                for row in rows
            ],
            minor=("ranking, all seeds", "ranking, uniform"),
            empty="no runs with several few-shot seeds" if resampling == "bootstrap" else "",
        )
        echo()
    if report.seed_designs:
        print_text(
            "width: of the central 95 % of mean win rates, mean over models; mean: the same of the mean score over data"
            " sets, in units of the scores; calls are of each subscenario."
        )


def _bound_width(width: float, error: float | None) -> str:
    return f"{width:.4f}" + ("" if error is None else f" ±{error:.4f}")
