"""How far the verdicts of a suite depend on what it is made of: the answer, and the
tables of each part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from warehouse.analysis.reliability.brief import brief_parts
from warehouse.analysis.reliability.results import (
    AgreementRow,
    DatasetRow,
    ModelRow,
    PoolRow,
    RankRow,
    ReliabilityRow,
    SeedDesignRow,
    SwitchRow,
)
from warehouse.analysis.results import Result
from warehouse.tables.view import Table, View
from warehouse.tables.words import count_range, excerpt, number, percentage

if TYPE_CHECKING:
    from warehouse.analysis.reliability.results import (
        AgreementRow,
        DatasetRow,
        ModelRow,
        ReliabilityRow,
        SeedDesignRow,
        SwitchRow,
    )

#: What a view is made of.
Parts = list[str | Table]

_WORDS = {
    "scenarios": "scenarios",
    "subscenarios": "subscenarios of each scenario",
    "prompts": "prompts of a scenario",
    "seeds": "few-shot seeds",
}
_NAME = 30
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("weighted", "e", "prompts a model", "rank ±")
#: Columns of parts that stand under ``--explain``.
_DETAILS = ("weighted", "e", "mean", "mean z", "BT", "by parts", "models", "best")
#: Rows of pairs of subscenarios that people see.
_PAIRS = 20
#: Ranking from which on few prompts give nearly the order of all.
_ENOUGH = 0.9
_AGGREGATES = (
    "by ...: rank by the mean, the mean z-score, Bradley-Terry, and win rates over "
    "subscenarios."
)


#: An order, or a winner, counts as settled from here on.
SETTLED = 0.95


_ENOUGH_TAU = 0.9


@dataclass(frozen=True)
class ReliabilityReport(Result):
    """The reliability of a suite's verdicts."""

    DRAWN_BY = "warehouse.analysis.reliability.charts:suite_charts"

    notebook_columns: ClassVar[tuple[str, ...]] = (
        *(
            "granularity",
            "size",
            "ranking",
            "quality",
            "best",
            "same_order",
            "rank_resolution",
            "reason",
        ),
    )
    suite: str  #: name of it.
    metric: str  #: names of the metrics of its benchmarks.
    #: n_models, n_scenarios, n_subscenarios, n_prompts: of the suite.
    n_models: int
    n_scenarios: int
    n_subscenarios: int
    n_prompts: int
    #: field of prompts that makes the scenarios; empty for the benchmark tree.
    scenarios_by: str
    level: float  #: of the bounds.
    seed: int  #: of the random draws.
    rows: tuple[ReliabilityRow, ...]  #: by granularity and size, all of it last.
    ranks: tuple[RankRow, ...]  #: of each model by prompts, best first.
    #: each subscenario by itself, by prompts; empty unless asked for.
    datasets: tuple[DatasetRow, ...]
    models: tuple[ModelRow, ...]  #: best first.
    pool: tuple[PoolRow, ...]  #: what each model's leaving does.
    switches: tuple[SwitchRow, ...]  #: windows of adjacent models by size.
    agreement: tuple[AgreementRow, ...]  #: pairs of subscenarios.
    #: tau_within, tau_across: mean τ of pairs within a scenario, and across; None
    #: without any.
    tau_within: float | None
    tau_across: float | None
    #: few-shot seeds, full cross and uniform; empty without seeds.
    seed_designs: tuple[SeedDesignRow, ...]
    notes: tuple[str, ...]  #: what a reader should know.

    @property
    def one_line(self) -> str:
        return (
            f"{_order_in_words(self.prompt_rows, self.level)}; "
            f"{_top_in_words(self.prompt_rows)}"
        )

    def view(self, *, verbose: bool = False, part: str | None = None) -> View:
        """The answer, and the command's tables.

        Args:
            verbose: every figure of them, with Monte Carlo errors.
            part: of which the tables are; None: those of most use.
        """
        if verbose:
            return reliability_view(self, part)
        if part is None:
            return View(tuple(brief_parts(self, _suite(self))), self.notes)
        shown = [
            piece.without(_DETAILS) if isinstance(piece, Table) else piece
            for piece in reliability_view(self, part).parts
        ]
        return View(tuple(shown), self.notes)

    @property
    def prompt_rows(self) -> list[ReliabilityRow]:
        """Rows of other prompts, by size, all of them last."""
        return [row for row in self.rows if row.granularity == "prompts"]


def _order_in_words(rows: Sequence[ReliabilityRow], level: float) -> str:
    settled = next(
        (
            row
            for row in rows
            if row.same_order is not None and row.same_order >= SETTLED
        ),
        None,
    )
    whole = rows[-1]
    if whole.same_order is None or whole.ranking is None:
        return f"Nothing can be said of the order: {whole.reason}"
    if settled is not None:
        same = _percent(settled.same_order)
        if settled.size is None:
            return f"A resample of all prompts gives the same order in {same} of cases"
        return (
            f"{settled.size} prompts a scenario give the same order as all in {same} "
            "of resamples"
        )
    near = next(
        (row for row in rows if row.ranking is not None and row.ranking >= _ENOUGH_TAU),
        None,
    )
    again = (
        "a resample of all prompts gives the same order in "
        f"{_percent(whole.same_order)} of cases"
    )
    bound = f"in {50 * (1 + level):g} %"
    if near is None:
        return (
            f"No size settles the order of all models: {again} (τ at least "
            f"{whole.ranking:.2f} {bound})"
        )
    size = "all prompts" if near.size is None else f"{near.size} prompts a scenario"
    return (
        f"{size[0].upper()}{size[1:]} give nearly the order of all (τ at least "
        f"{near.ranking:.2f} {bound}), but {again}"
    )


def _top_in_words(rows: Sequence[ReliabilityRow]) -> str:
    if not rows[-1].best_errors:
        return "nor of the top two"
    settled = [
        bool(row.best_errors) and (row.best_errors[0] or 0.0) <= 1 - SETTLED
        for row in rows
    ]
    if rows[-1].best_errors[0] is None:
        return "the top two are not on the same scenarios"
    if not settled[-1]:
        return (
            f"the top two cannot be told apart{'' if any(settled) else ' at any size'}"
        )
    first = len(settled) - next(
        (i for i, is_settled in enumerate(reversed(settled)) if not is_settled),
        len(settled),
    )
    size = rows[first].size
    return "the top two are told apart " + (
        "by all prompts only" if size is None else f"from {size} prompts on"
    )


def _percent(share: float | None) -> str:
    if share is None:
        return "-"
    return f"{100 * share:.0f} %"


def reliability_view(report: ReliabilityReport, part: str | None) -> View:
    """The answer, and the tables of one part or those of most use."""
    tables = {
        None: _summary,
        "sizes": _sizes,
        "models": _models,
        "pool": _pool,
        "switches": _switches,
        "agreement": _agreement,
        "seeds": _seeds,
        "ranks": _ranks,
        "datasets": _datasets,
    }[part](report)
    return View((f"{report.one_line}.", _suite(report), "", *tables), report.notes)


def _suite(report: ReliabilityReport) -> str:
    kind = "scenario"
    if report.n_scenarios > 1:
        kind = "scenarios"
    scenarios = f"{report.n_scenarios} {kind}"
    if report.scenarios_by:
        scenarios += f" by {report.scenarios_by}"
    if report.n_subscenarios > report.n_scenarios:
        scenarios += f" in {report.n_subscenarios} subscenarios"
    return (
        f"{report.suite} by {report.metric}: {report.n_models} models, "
        f"{scenarios}, {report.n_prompts} prompts."
    )


def _summary(report: ReliabilityReport) -> Parts:
    whole = [row for row in report.rows if row.size is None]
    figures = [row for row in whole if row.ranking is not None]
    bounds = (
        f"at least so much in {50 * (1 + report.level):g} % of "
        f"{report.rows[0].n_resamples}"
    )
    parts: Parts = [f"Resamples of as many (DIoR: {bounds}):"]
    parts.append(
        Table.of([_cells(row, of=row.granularity) for row in figures], minor=_MINOR)
    )
    parts += [
        f"{row.granularity}: no figure: {row.reason}"
        for row in whole
        if row.ranking is None
    ]
    parts += ["", "Fewer prompts of each scenario, resampled:"]
    parts.append(Table.of(map(_cells, report.prompt_rows), minor=_MINOR))
    return [*parts, "", _below(report)]


def _sizes(report: ReliabilityReport) -> Parts:
    parts: Parts = []
    for granularity, words in _WORDS.items():
        rows = [row for row in report.rows if row.granularity == granularity]
        if rows[-1].ranking is None:
            parts.append(f"{granularity}: no figure: {rows[-1].reason}")
        else:
            parts += [f"Other {words}:", Table.of(map(_cells, rows), minor=_MINOR)]
        parts.append("")
    return parts


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
    return f"{value:.3f}" + (
        "" if low is None or high is None else f" ±{(high - low) / 2:.3f}"
    )


def _below(report: ReliabilityReport) -> str:
    words = [
        "ranking: Kendall's tau with the ranking on all; quality: 1 - change of win "
        "rates; best: 1 - how often the second beats the first (upper end); ± is Monte "
        "Carlo error. Fresh prompts would agree less than resamples."
    ]
    if report.tau_within is not None and report.tau_across is not None:
        words.append(
            f"Subscenarios of one scenario agree with tau {report.tau_within:.2f}, "
            f"those of two with {report.tau_across:.2f}."
        )
    moved = [row for row in report.models if row.rank_low != row.rank_high]
    if moved:
        worst = max(moved, key=lambda row: (row.rank_high or 0) - (row.rank_low or 0))
        words.append(
            f"{len(moved)} of {report.n_models} models change rank with the aggregate, "
            f"most of all {worst.model} ({worst.rank_low} to {worst.rank_high})."
        )
    pool = [row for row in report.pool if row.n_reversed]
    if report.pool:
        leaders = sum(row.leader_changes for row in report.pool)
        words.append(
            f"{len(pool)} models turn pairs of others round when they leave; {leaders} "
            "of them change who is first."
        )
    return " ".join(words)


def _models(report: ReliabilityReport) -> Parts:
    minor = ("mean z", "BT", "quality", "mean", "by parts", "rank ±")
    return [
        Table.of(map(_model_cells, report.models), counts=("lacks",), minor=minor),
        _AGGREGATES,
    ]


def _model_cells(row: ModelRow) -> dict[str, Any]:
    return {
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


def _pool(report: ReliabilityReport) -> Parts:
    cells = [
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
    return [Table.of(cells, empty="no model can leave: there are two")]


def _ranks(report: ReliabilityReport) -> Parts:
    rows: dict[str, dict[str, Any]] = {}
    for row in report.ranks:
        cells = rows.setdefault(
            row.model, {"rank": row.rank, "model": excerpt(row.model, _NAME)}
        )
        ends = ""
        if row.rank_low is not None:
            ends = f" ({count_range(row.rank_low, row.rank_high or row.rank_low)})"
        cells[_size(row.size)] = f"{number(row.mean_rank, 1) or '-'}{ends}"
    sizes = dict.fromkeys(_size(row.size) for row in report.ranks)
    middle = [size for size in sizes if size != "all"]
    minor = [
        *middle[1::2],
        *middle[2::2],
    ]  # a narrow terminal keeps the least, the middle and all
    lie = f"where {100 * report.level:g} % of ranks lie"
    return [
        f"Mean rank with so many prompts of a scenario, and {lie}:",
        Table.of(rows.values(), minor=minor, empty=report.prompt_rows[-1].reason),
    ]


def _size(size: int | None) -> str:
    if size is None:
        return "all"
    return str(size)


def _switches(report: ReliabilityReport) -> Parts:
    windows = sorted({row.window for row in report.switches})
    of = {(row.size, row.window): row for row in report.switches}
    rows = []
    for size in dict.fromkeys(row.size for row in report.switches):
        shares = {f"{window} models": _switch(of[size, window]) for window in windows}
        rows.append({"size": "all" if size is None else size, **shares})
    hide_empty = tuple(f"{window} models" for window in windows)
    return [
        "How often the last of so many adjacent models beats the first, by prompts of "
        "a scenario:",
        Table.of(rows, hide_empty=hide_empty, empty=report.prompt_rows[-1].reason),
        "Means over windows, a tie is half a switch; ± is half the width of the "
        f"{100 * report.level:g} % Monte Carlo interval, < its upper end where none "
        "did. --json has both ends, the windows that begin with the first five models "
        "(first), and the worst window (most).",
    ]


def _switch(row: SwitchRow) -> str | None:
    if row.probability == 0 and row.high is not None:
        return f"< {row.high:.3f}"
    return _bound(row.probability, row.low, row.high)


def _datasets(report: ReliabilityReport) -> Parts:
    """Each data set on all its prompts, and how few of them give nearly the same
    ranking."""
    whole = [row for row in report.datasets if row.size is None]
    cells = [_dataset_cells(row, _enough(report, row)) for row in whole]
    parts: Parts = [
        "Each data set as if it were the whole benchmark, its prompts resampled:"
    ]
    parts.append(Table.of(cells, minor=("leader", "e", "same order", "models")))
    parts.append("enough: the fewest prompts tried whose ranking is at least 0.9.")
    for reason in dict.fromkeys(row.reason for row in whole if row.reason):
        names = ", ".join(row.subscenario for row in whole if row.reason == reason)
        parts.append(f"{names}: {reason}")
    return parts


def _dataset_cells(row: DatasetRow, enough: str) -> dict[str, Any]:
    return {
        "data set": excerpt(row.subscenario, _NAME),
        "models": row.n_models,
        "prompts": round(row.n_prompts),
        "ranking": number(row.ranking, 3),
        "quality": number(row.quality, 3),
        "best": number(row.best, 3),
        "e": number(row.best_error, 3),
        "same order": percentage(row.same_order),
        "rank ±": row.rank_resolution,
        "enough": enough,
        "leader": excerpt(row.leader, _NAME),
    }


def _enough(report: ReliabilityReport, whole: DatasetRow) -> str:
    sizes = [
        row
        for row in report.datasets
        if (row.scenario, row.subscenario) == (whole.scenario, whole.subscenario)
    ]
    near = next(
        (row for row in sizes if row.ranking is not None and row.ranking >= _ENOUGH),
        None,
    )
    if near is None:
        return "none"
    return str(round(near.n_prompts))


def _agreement(report: ReliabilityReport) -> Parts:
    rows = sorted(report.agreement, key=lambda row: (row.tau is None, row.tau))
    parts: Parts = [
        _mean_tau(
            "within scenarios", report.tau_within, [row for row in rows if row.within]
        ),
        _mean_tau("across", report.tau_across, [row for row in rows if not row.within]),
        "",
    ]
    cells = [
        {
            "subscenario": excerpt(row.subscenario, _NAME),
            "other": excerpt(row.other_subscenario, _NAME),
            "tau": number(row.tau, 3),
            "within": row.within,
        }
        for row in rows[:_PAIRS]
    ]
    parts.append(Table.of(cells, empty="one subscenario: no pair"))
    if len(rows) > _PAIRS:
        parts.append(
            f"... the {_PAIRS} that agree least of {len(rows)}: --json has all"
        )
    return parts


def _mean_tau(words: str, tau: float | None, rows: Sequence[AgreementRow]) -> str:
    if tau is None:
        return f"Mean tau {words}: no pair."
    n_pairs = sum(row.tau is not None for row in rows)
    return f"Mean tau {words}: {tau:.3f} over {n_pairs} pairs."


def _seeds(report: ReliabilityReport) -> Parts:
    parts: Parts = []
    for resampling, words in (
        ("bootstrap", "with replacement"),
        ("subsample", "without replacement"),
    ):
        rows = [row for row in report.seed_designs if row.resampling == resampling]
        if rows:
            parts.append(f"{resampling.capitalize()}, calls drawn {words}:")
        empty = ""
        if resampling == "bootstrap":
            empty = "no runs with several few-shot seeds"
        minor = ("ranking, all seeds", "ranking, uniform")
        parts += [Table.of(map(_design_cells, rows), minor=minor, empty=empty), ""]
    if report.seed_designs:
        parts.append(
            "width: of the central 95 % of mean win rates, mean over models; mean: the "
            "same of the mean score over data sets, in units of the scores; calls are "
            "of each subscenario."
        )
    return parts


def _design_cells(row: SeedDesignRow) -> dict[str, Any]:
    return {
        "calls": row.budget,
        "width, all seeds": _bound_width(row.width_full, row.error_full),
        "width, uniform": _bound_width(row.width_uniform, row.error_uniform),
        "mean, all seeds": _bound_width(row.mean_width_full, row.mean_error_full),
        "mean, uniform": _bound_width(row.mean_width_uniform, row.mean_error_uniform),
        "ranking, all seeds": number(row.ranking_full, 3),
        "ranking, uniform": number(row.ranking_uniform, 3),
    }


def _bound_width(width: float, error: float | None) -> str:
    if error is None:
        return f"{width:.4f}"
    return f"{width:.4f} ±{error:.4f}"
