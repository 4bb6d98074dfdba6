"""pass@k and pass^k of runs, from right draws that are counted or stored as rates."""

from __future__ import annotations

from dataclasses import dataclass, replace

from warehouse.analysis.results import ConditionRow, Result, shared_fields
from warehouse.analysis.selection.scores import draws_declared, right_draws
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.selection.targets import Target, find_targets
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.questions.variance import PassRates
from warehouse.stats import PassRate, pass_at_k, pass_hat_k
from warehouse.stats.core.results import ends_text
from warehouse.store.connection import Store


@dataclass(frozen=True)
class PassRow(ConditionRow):
    """pass@k or pass^k of one condition."""

    statistic: str  #: ``"pass@5"``, ``"pass^2"``, …
    k: int  #: draws that the figure is about.
    estimate: float | None  #: mean over the prompts that have k draws, in [0, 1]; None with a ``reason``.
    standard_error: float | None  #: of it; None where not defined or 0.
    ci_low: float | None  #: lower end of the interval, at least 0.
    ci_high: float | None  #: upper end of the interval, at most 1.
    level: float  #: nominal coverage of the interval.
    estimand: str  #: ``"prompts_sampled"`` or ``"prompts_fixed"``.
    n_prompts: int  #: prompts with a score.
    n_clusters: int | None  #: clusters among them, where the error allows for them.
    n_draws: int  #: generations behind the scores, over all repeats.
    n_short: int  #: prompts with too few draws for the figure, or for its error.
    method: str  #: of the interval.
    #: warnings of the statistics; ``rates_as_counts``: the metric is not declared 0/1, but its stored rates are whole
    #: numbers of right draws.
    flags: tuple[str, ...]
    reason: str  #: why this method, or why there is no figure or interval.
    runs: int  #: repeats that were pooled.
    run_ids: tuple[int, ...]  #: their ids.
    #: where some prompts have fewer than k draws, the lower end of bounds over all prompts, whatever those would have
    #: shown; else None.
    bound_low: float | None = None
    bound_high: float | None = None  #: upper end of them.


@dataclass(frozen=True)
class PassReport(Result):
    """pass@k and pass^k of each condition."""

    target: str  #: as given.
    rows: tuple[PassRow, ...]
    left_out: tuple[str, ...]  #: what has no scores, with the reason.

    @property
    def one_line(self) -> str:
        """The result in one line."""
        if len(self.rows) != 1:
            return f"{self.target}: {len(self.rows)} pass rates"
        row = self.rows[0]
        if row.estimate is None:
            return f"{row.model} on {row.benchmark}: no {row.statistic}: {row.reason}"
        interval = "" if row.ci_low is None or row.ci_high is None else f" {ends_text(row.ci_low, row.ci_high)}"
        wording = row.estimand.replace("_", " ")
        return f"{row.model} on {row.benchmark}: {row.statistic} {row.estimate:.4g}{interval} ({wording})"


@answers(PassRates)
def pass_rates(store: Store, question: PassRates) -> PassReport:
    """One row for each condition and k."""
    if not question.at and not question.hat:
        raise MisuseError("no k given; `at` takes those of pass@k, `hat` those of pass^k")
    targets = find_targets(store, question.target, selection_of(question))
    rows = [row for item in targets.scored for row in _rows(item, question)]
    return PassReport(question.target, tuple(rows), targets.left_out)


def _rows(target: Target, question: PassRates) -> list[PassRow]:
    correct, reason = right_draws(target.scores, target.metric)
    clusters = target.clusters.labels(target.scores.prompts)
    flags = () if reason or draws_declared(target.scores, target.metric) else ("rates_as_counts",)
    rows = []
    rates = [(pass_at_k, k) for k in question.at] + [(pass_hat_k, k) for k in question.hat]
    for function, k in rates:
        row = function(
            correct, target.scores.n_draws, k, clusters=clusters, estimand=question.estimand, level=question.level
        )
        if reason:
            row = replace(
                row,
                estimate=None,
                standard_error=None,
                ci_low=None,
                ci_high=None,
                bound_low=None,
                bound_high=None,
                n_clusters=None,
                method="none",
                reason=reason,
                flags=(),
            )
        rows.append(_make_row(target, row, flags))
    return rows


def _make_row(target: Target, rate: PassRate, flags: tuple[str, ...]) -> PassRow:
    own = {
        "n_draws": int(target.scores.n_draws.sum()),
        "flags": rate.flags + flags,
        "runs": len(target.condition.runs),
        "run_ids": target.condition.run_ids,
    }
    return PassRow(**shared_fields(rate, PassRow, **target.head, **own))
