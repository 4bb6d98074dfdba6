"""Coarse-to-fine ranks on a suite: what a new model has to answer, and its rank after
each step."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.flash.question import Flash
from warehouse.analysis.flash.view import (
    brief_steps,
    check_table,
    next_table,
    steps_table,
    stops_table,
)
from warehouse.analysis.irt.fitting import excerpt_of
from warehouse.analysis.reliability.results import (
    FlashModelRow,
    FlashStepRow,
    NextPromptRow,
)
from warehouse.analysis.reliability.suite_data import SuiteData, read_suite
from warehouse.analysis.results import Result
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError, did_you_mean
from warehouse.questions.question import answers
from warehouse.stats.suites.flash import (
    SIZES,
    FlashCheck,
    flash_check,
    flash_path,
    flash_sizes,
)
from warehouse.stats.suites.instances import shared_sizes
from warehouse.stats.suites.score_table import (
    SuiteScores,
    best_first,
    mean_over_scenarios,
    mean_win_rate,
    ranks_of,
)
from warehouse.store.connection import Store
from warehouse.tables.view import Part, View


@dataclass(frozen=True)
class FlashReport(Result):
    """Ranks from few prompts."""

    notebook_columns: ClassVar[tuple[str, ...]] = ()
    suite: str  #: name of it.
    metric: str  #: names of the metrics.
    model: str  #: the one that is ranked; empty for the check alone.
    n_models: int  #: stored models, the ranked one not counted.
    n_prompts: int  #: of the suite.
    rows: tuple[FlashStepRow, ...]  #: steps of the model that its answers allow.
    #: prompts of a scenario of the next step; None where none is needed, or all are
    #: next.
    next_size: int | None
    #: what the model has not answered of it yet, in the order to ask.
    next_prompts: tuple[NextPromptRow, ...]
    is_settled: bool  #: a step was enough.
    saving: float | None  #: all prompts over those of the step that was; None before.
    #: each stored model ranked as if it were new; empty with ``no_check``.
    check: tuple[FlashModelRow, ...]
    #: mean_error, mean_saving, within: of the check, mean over models.
    mean_error: float | None
    mean_saving: float | None
    within: float | None
    #: share of the orders that stop before all prompts, over all models, whose rank
    #: lies within the resolution; None where none does.
    within_early: float | None
    early: float | None  #: share of orders that do, mean over models.
    #: prompts of a scenario at each step of the check; None: all.
    sizes: tuple[int | None, ...]
    resolutions: tuple[int, ...]  #: Res(S) of each over all stored models.
    tiers: tuple[int, ...]  #: best rank for which each is enough.
    stopped: tuple[float, ...]  #: share of models and orders that stop at each.
    no_check: str  #: why there is no check.
    seed: int  #: of the random orders.
    notes: tuple[str, ...]  #: what a reader should know.

    @property
    def one_line(self) -> str:
        if not self.model:
            return _check_in_words(self)
        last = next(
            (row for row in self.rows if row.is_enough),
            self.rows[-1] if self.rows else None,
        )
        n = len(self.next_prompts)
        if last is None:
            return f"{self.model} has no rank yet: it has to answer {n} prompts first"
        rank = f"{self.model} is at rank {last.rank}"
        if last.resolution:
            rank += f" ± {last.resolution}"
        rank += (
            f" of {self.n_models + 1} after {last.n_prompts} of {self.n_prompts} "
            "prompts"
        )
        if self.is_settled:
            return f"{rank}: settled"
        return f"{rank}; {n} more prompts would come next"

    def view(self, *, verbose: bool = False, check: bool = False) -> View:
        """The rank of a model after each step, and how well the rule did on those that
        are stored.

        Args:
            verbose: with the resolution of each step, and where it is enough.
            check: these one by one; without a model they are shown anyway.
        """
        parts: list[Part] = [f"{self.one_line}."]
        if self.model and not verbose:
            table = brief_steps(self.rows)
            parts = [f"{_place(self)}.", "", table, *_after_steps(self)]
        elif self.model:
            parts += _steps(self)
        if check or not self.model:
            parts += _checked(self)
        elif self.mean_error is not None:
            parts.append(
                f"Ranked as if new, the {self.n_models} stored models end "
                f"{self.mean_error:.2g} places from their full rank on average, with "
                f"{self.mean_saving:.3g} times fewer prompts (--check)."
            )
        return View(tuple(parts), self.notes)


def _place(report: FlashReport) -> str:
    """The place of a model among the stored ones, and whether it is settled."""
    last = next(
        (row for row in report.rows if row.is_enough),
        report.rows[-1] if report.rows else None,
    )
    if last is None:
        return report.one_line.replace("no rank yet", "no place yet")
    place = f"place {last.rank}"
    if last.best_rank != last.worst_rank:
        place = f"one of the places {last.best_rank} to {last.worst_rank}"
    said = (
        f"{report.model} has {place} of {report.n_models + 1}, by {last.n_prompts} of "
        f"{report.n_prompts} prompts"
    )
    if report.is_settled:
        return f"{said}: settled"
    return f"{said}; {len(report.next_prompts)} more come next"


def _steps(report: FlashReport) -> list[Part]:
    """The steps of a model, and what it was saved, or has to answer next."""
    return ["", steps_table(report.rows), *_after_steps(report)]


def _after_steps(report: FlashReport) -> list[Part]:
    """What was saved, or comes next."""
    parts: list[Part] = [""]
    if report.is_settled and report.saving == 1:
        return [*parts, "All prompts were needed."]
    if report.is_settled:
        return [*parts, f"That is {report.saving:.3g} times fewer prompts than all."]
    size = "all prompts"
    if report.next_size is not None:
        size = f"{report.next_size} prompts of each scenario"
    sentence = (
        f"Next come {len(report.next_prompts)} prompts, up to {size} (--ids lists them "
        "in order):"
    )
    return [*parts, sentence, next_table(report.next_prompts), ""]


def _checked(report: FlashReport) -> list[Part]:
    if not report.check:
        return ["", f"No check: {report.no_check}."]
    stops = stops_table(report.sizes, report.resolutions, report.tiers, report.stopped)
    return ["", stops, "", check_table(report.check)]


@answers(Flash)
def flash(store: Store, question: Flash) -> FlashReport:
    """The steps of a model that its answers allow, the prompts that come next, and the
    check of the stored ones."""
    model, seed, tiers, n_resamples = (
        question.model,
        question.seed,
        question.tiers,
        question.n_resamples,
    )
    steps_at = SIZES if question.sizes is None else question.sizes
    data = read_suite(
        store,
        question.suite,
        selection_of(question, cluster="none"),
        scenarios=question.scenarios,
        standalone=question.standalone,
        unfinished=() if model is None else (model, model.partition(" (")[0]),
    )
    column = None if model is None else _column_of(data, model, question.new)
    everyone = np.arange(len(data.scores.models))
    stored = (
        data.scores if column is None else data.scores.part(np.delete(everyone, column))
    )
    if len(stored.models) < 2:
        raise MisuseError(
            f"{data.name} has {len(stored.models)} model beside {model} on all "
            "prompts; a rank needs two"
        )
    check, why = _check(stored, steps_at, tiers, n_resamples, seed)
    full = ranks_of(mean_win_rate(stored.scores(stored.means), ties=0.5))
    steps, following, answered = [], None, None
    if model is not None:
        orders = [_order(rows, seed) for rows in data.prompts]
        if column is not None:
            steps = flash_path(
                data.scores,
                column,
                orders,
                sizes=steps_at,
                tiers=tiers,
                n_resamples=n_resamples,
                seed=seed,
            )
            answered = [
                ~np.isnan(part.scores[:, column]) for part in data.scores.subscenarios
            ]
        following = _following(data.scores, steps, steps_at)
    stop = next((step for step in steps if step.is_enough), None)
    size = None if following is None else following[0]
    return FlashReport(
        suite=data.name,
        metric=data.metric,
        model=model or "",
        n_models=len(stored.models),
        n_prompts=data.scores.n_prompts,
        rows=tuple(
            FlashStepRow(
                step.size,
                step.n_prompts,
                step.rank,
                step.resolution,
                step.best_rank,
                min(len(stored.models) + 1, step.rank + step.resolution),
                step.tier,
                step.is_enough,
            )
            for step in steps
        ),
        next_size=size,
        next_prompts=()
        if following is None
        else _next_prompts(data, orders, size, answered),
        is_settled=stop is not None,
        saving=None if stop is None else data.scores.n_prompts / stop.n_prompts,
        check=() if check is None else _check_rows(stored, check, full),
        mean_error=None if check is None else float(check.mean_error.mean()),
        mean_saving=None if check is None else float(check.saving.mean()),
        within=None if check is None else float(check.within.mean()),
        within_early=None if check is None else _within_early(check),
        early=None if check is None else float(_early(check).mean()),
        sizes=() if check is None else check.sizes,
        resolutions=() if check is None else check.resolutions,
        tiers=() if check is None else check.tiers,
        stopped=() if check is None else tuple(check.stopped.mean(axis=0).tolist()),
        no_check=why,
        seed=seed,
        notes=data.notes,
    )


def _column_of(data: SuiteData, model: str, new: bool) -> int | None:
    """Number of the model; None for one without answers."""
    names = data.scores.models
    fitting = [i for i, name in enumerate(names) if name == model]
    fitting = fitting or [i for i, name in enumerate(data.models) if name == model]
    if len(fitting) > 1:
        listed = "; ".join(names[i] for i in fitting[:5])
        raise MisuseError(
            f"{model} has several conditions: {listed}; name one, or choose with "
            "--where or --latest"
        )
    if new and fitting:
        raise MisuseError(f"{model} has answers on {data.name}: leave --new out")
    if not fitting and not new:
        hint = did_you_mean(
            model, names, "--new plans for a model that has no answers yet"
        )
        raise MisuseError(f"no answers of {model!r} on {data.name}; {hint}")
    if fitting:
        return fitting[0]
    return None


def _check(
    stored: SuiteScores,
    sizes: Sequence[int],
    tiers: Sequence[int] | None,
    n_resamples: int,
    seed: int,
) -> tuple[FlashCheck | None, str]:
    if len(stored.models) < 3:
        return (
            None,
            f"{len(stored.models)} stored models: leaving one out needs at least 3",
        )
    if not flash_sizes(stored, sizes):
        return (
            None,
            f"no scenario has more than {min(sizes)} prompts: there is nothing to save",
        )
    return flash_check(
        stored, sizes=sizes, tiers=tiers, n_resamples=n_resamples, seed=seed
    ), ""


def _check_rows(
    stored: SuiteScores, check: FlashCheck, full: NDArray[np.float64]
) -> tuple[FlashModelRow, ...]:
    means = mean_over_scenarios(stored.scores(stored.means))
    used = check.stopped @ np.array(check.n_prompts, dtype=np.float64)
    return tuple(
        FlashModelRow(
            model=stored.models[m],
            rank=None if np.isnan(full[m]) else int(full[m]),
            mean_error=float(check.mean_error[m]),
            largest_error=float(check.largest_error[m]),
            within=float(check.within[m]),
            within_early=None
            if np.isnan(check.within_early[m])
            else float(check.within_early[m]),
            saving=float(check.saving[m]),
            n_prompts=float(used[m]),
        )
        for m in best_first(-full, means, stored.models).tolist()
    )


def _early(check: FlashCheck) -> NDArray[np.float64]:
    """Share of orders that stop before all prompts, shape (M,)."""
    return 1 - check.stopped[:, -1]


def _within_early(check: FlashCheck) -> float | None:
    """The share, of all orders that stop before all prompts, those whose rank lies
    within the resolution."""
    weights = _early(check)
    if weights.any():
        return float(
            (np.nan_to_num(check.within_early) * weights).sum() / weights.sum()
        )
    return None


def _order(rows: Sequence[Mapping[str, Any]], seed: int) -> NDArray[np.intp]:
    """Rows of a subscenario's prompts in the order in which they are asked: by a hash
    of their keys, the same in every store."""

    def key(index: int) -> bytes:
        split, name, occurrence, _ = rows[index]["order"]
        benchmark = rows[index]["benchmark"]
        text = f"{seed}\0{benchmark}\0{split}\0{name}\0{occurrence}"
        return hashlib.sha256(text.encode()).digest()

    return np.array(sorted(range(len(rows)), key=key), dtype=np.intp)


def _following(
    scores: SuiteScores, steps: Sequence[Any], sizes: Sequence[int]
) -> tuple[int | None] | None:
    """The size that comes next, in a tuple; None where a step was enough."""
    if any(step.is_enough for step in steps):
        return None
    candidates: list[int | None] = [*flash_sizes(scores, sizes), None]
    return (candidates[len(steps)],)


def _next_prompts(
    data: SuiteData,
    orders: Sequence[NDArray[np.intp]],
    size: int | None,
    answered: Sequence[NDArray[np.bool_]] | None,
) -> tuple[NextPromptRow, ...]:
    next_prompts = []
    counts = shared_sizes(data.scores, size)
    for number, (part, rows, order) in enumerate(
        zip(data.scores.subscenarios, data.prompts, orders, strict=True)
    ):
        for index in order[: counts[number]].tolist():
            if answered is None or not answered[number][index]:
                row = rows[index]
                next_prompts.append(
                    NextPromptRow(
                        scenario=part.scenario,
                        subscenario=part.name,
                        benchmark=row["benchmark"],
                        prompt=f"prompt:{row['id']}",
                        key=str(row["tool_id"] or row["key"]),
                        text=excerpt_of(row["text"]),
                    )
                )
    return tuple(next_prompts)


def _check_in_words(report: FlashReport) -> str:
    if report.mean_error is None or report.mean_saving is None:
        return f"No check: {report.no_check}"
    within = "none stops before all prompts"
    if report.within_early is not None:
        within = (
            f"in {100 * (report.early or 0):.0f} % of orders fewer than all are "
            "enough, and of these the full rank lies within the resolution in "
            f"{100 * report.within_early:.0f} %"
        )
    return (
        f"Ranked as if new, the {report.n_models} models of {report.suite} end "
        f"{report.mean_error:.2g} places from their full rank on average, with "
        f"{report.mean_saving:.3g} times fewer prompts; {within}"
    )
