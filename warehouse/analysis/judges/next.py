"""Drawing the answers that people are to label beside a judge, and the sheet that they fill in."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.judges.draws import SIMPLE, RunDraw, cut_points, read_draws, rule_of, strata_by, stratum_values
from warehouse.analysis.judges.scorers import metrics_by
from warehouse.analysis.judges.units import read_units
from warehouse.analysis.results import Result, Row
from warehouse.analysis.selection.benchmarks import read_benchmark
from warehouse.analysis.selection.reference import choose_conditions
from warehouse.analysis.selection.scored_conditions import (
    ScoredCondition,
    group_entries,
    list_differences,
    read_entries,
)
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.subsets.make import plan_rows
from warehouse.errors import MisuseError
from warehouse.questions.labels import NextLabels
from warehouse.questions.question import answers
from warehouse.records.clock import utc_now
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.judges.plan import FEWEST_IN_STRATUM, allocate_labels, label_weight
from warehouse.stats.subsets.design import hashed
from warehouse.store.connection import Store
from warehouse.store.load.bulk_insert import append
from warehouse.store.open import StoreOpener
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

#: Strata of a draw at most, and new prompts for each of them at least.
MOST_STRATA, LEAST_IN_STRATUM = 5, 10
SHEET = ("model", "benchmark", "split", "prompt_id", "question", "response", "label")


@dataclass(frozen=True)
class DrawnRow(Row):
    """A stratum of a wave.

    Attributes:
        stratum: its number along what strata are made of; empty in a simple draw.
        n_prompts: prompts in it, N_h.
        n_drawn: of these drawn in all waves, n_h.
        n_new: of these in this wave.
        probability: n_h/N_h.
        spread: standard deviation of what the judge leaves unexplained, by labels at hand; None without.
    """

    stratum: str
    n_prompts: int
    n_drawn: int
    n_new: int
    probability: float
    spread: float | None


@dataclass(frozen=True)
class LabelWave(Result):
    """A wave of prompts to be labelled.

    Attributes:
        benchmark: name.
        judge: label of the judge's metric.
        models: whose answers are to be labelled.
        wave: its number, from 1.
        seed: of the draw; None where nothing was drawn.
        rule: ``simple``, or what strata are made of, with the cuts.
        written: whether it is in the store.
        sheet: a row for each answer to be labelled, in random order, by the names of ``SHEET``.
        notes: what a reader should know.
    """

    benchmark: str
    judge: str
    models: tuple[str, ...]
    wave: int
    seed: int | None
    rule: str
    written: bool
    rows: tuple[DrawnRow, ...]
    sheet: tuple[Mapping[str, str], ...]
    notes: tuple[str, ...]

    @property
    def one_line(self) -> str:
        """The result in one line."""
        new = sum(row.n_new for row in self.rows)
        return f"{self.benchmark}: wave {self.wave} of {new} prompts of {sum(row.n_prompts for row in self.rows)}"

    def sheet_csv(self) -> str:
        """The sheet as CSV; nothing in it says what the judge thinks."""
        text = io.StringIO()
        writer = csv.DictWriter(text, SHEET, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.sheet)
        return text.getvalue()


@dataclass(frozen=True)
class _Frame:
    """The prompts that can be drawn.

    Attributes:
        entries: of the models, one each, of one metric and split.
        prompts: ids of those that the judge has scored for all of them, shape (N,).
        names: their names in hashes and sheets.
        tool_ids: their ids in the dumps.
        texts: their questions.
        means: the judge's scores, shape (M, N).
        within: variance over its draws, shape (M, N).
        notes: what was left out.
    """

    entries: tuple[ScoredCondition, ...]
    prompts: NDArray[np.int64]
    names: tuple[str, ...]
    tool_ids: tuple[str, ...]
    texts: tuple[str, ...]
    means: FloatArray
    within: FloatArray
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Draw:
    """Strata and what is drawn of them: ``taken`` before, ``new`` now, all of shape (N,)."""

    rule: str
    stratum: NDArray[np.intp]
    taken: NDArray[np.bool_]
    new: NDArray[np.bool_]
    spread: FloatArray | None


@answers(NextLabels)
def next_labels(opener: StoreOpener, question: NextLabels) -> LabelWave:
    """What is drawn stands in the store, in one transaction, before anybody can have a label of it."""
    only_looks = question.dry_run or question.n is None
    with opener.reading() if only_looks else opener.writing() as store:
        return _wave(store, question, write=not only_looks)


def _wave(store: Store, question: NextLabels, *, write: bool) -> LabelWave:
    frame, name = read_frame(store, question)
    metrics = sorted({entry.metric.id for entry in frame.entries})
    benchmarks = sorted({int(entry.condition.setting("benchmark_id")) for entry in frame.entries})
    before = _earlier(frame, read_draws(store, benchmarks, metrics), name)
    if question.n is None:
        if before is None:
            raise MisuseError(
                f"nothing of {name} was drawn to be labelled beside {question.judge}: say how many, --n K"
            )
        drawn = _as_before(frame, before)
    else:
        drawn = _draw(store, question, frame, before, name)
    wave = (before.wave if before else 0) + (question.n is not None)
    if write:
        _write(store, frame, drawn, wave, question.seed)
    asked = drawn.new if question.n is not None else drawn.taken
    sheet, missing = ((), 0) if question.dry_run else _sheet(store, frame, asked, name, question.seed)
    notes = list(frame.notes)
    if question.human is not None and drawn.spread is None:
        notes.append(
            f"labels are too few to say where {question.judge} is worse ({FEWEST_IN_STRATUM} in each stratum): each"
            " stratum gets its share"
        )
    if missing:
        notes.append(f"{missing} answers of {len(sheet)} have no stored response: their cells are empty")
    return LabelWave(
        benchmark=name,
        judge=frame.entries[0].metric.label,
        models=tuple(entry.condition.model for entry in frame.entries),
        wave=wave,
        seed=None if question.n is None else question.seed,
        rule=drawn.rule,
        written=write,
        rows=tuple(_strata_rows(drawn)),
        sheet=sheet,
        notes=tuple(notes),
    )


def read_frame(store: Store, question: NextLabels) -> tuple[_Frame, str]:
    """The prompts that the judge has scored for all models chosen, and the name of the benchmark.

    Raises:
        MisuseError: unknown names, models that cannot be compared or told apart, no prompt in common.
    """
    benchmark, facts = read_benchmark(store, question.benchmark)
    conditions = choose_conditions(facts.runs, question.benchmark, question.where, question.latest)
    own = [one for one in facts.metrics if question.metric in (None, one.label, one.name)]
    entries = read_entries(store, conditions, metrics_by(question.judge, own, benchmark.name))
    usable = [entry for entry in entries if entry.usable is not None]
    if not usable:
        raise MisuseError(f"{question.judge} has scored no answer on {benchmark.name}")
    if len(groups := group_entries(usable)) > 1:
        raise MisuseError(
            f"scores of {question.judge} on {benchmark.name} differ in {'; '.join(list_differences(groups))}: choose"
            " with --where or --metric"
        )
    names = [entry.condition.model for entry in usable]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise MisuseError(
            f"{twice[0]} has several runs of different settings: a sheet names models alone; choose with --where or"
            " --latest"
        )
    prompts = usable[0].usable.prompts  # type: ignore[union-attr]
    everything = prompts
    for entry in usable[1:]:
        prompts = np.intersect1d(prompts, entry.usable.prompts)  # type: ignore[union-attr]
        everything = np.union1d(everything, entry.usable.prompts)  # type: ignore[union-attr]
    if not len(prompts):
        raise MisuseError(f"no prompt of {benchmark.name} is scored for all of {', '.join(names)}; choose with --where")
    rows = {row["id"]: row for row in plan_rows(store, prompts)}
    places = [np.searchsorted(entry.usable.prompts, prompts) for entry in usable]  # type: ignore[union-attr]
    left = len(everything) - len(prompts)
    notes = (f"{left} prompts are left out: not all models have a score by {question.judge} there",) if left else ()
    return (
        _Frame(
            tuple(usable),
            prompts,
            tuple(f"{rows[prompt]['benchmark_id']}/{rows[prompt]['plan_id']}" for prompt in prompts.tolist()),
            tuple(str(rows[prompt]["tool_id"] or rows[prompt]["key"]) for prompt in prompts.tolist()),
            tuple(str(rows[prompt]["text"] or "") for prompt in prompts.tolist()),
            np.array([entry.usable.values[at] for entry, at in zip(usable, places, strict=True)]),  # type: ignore[union-attr]
            np.array([entry.usable.within[at] for entry, at in zip(usable, places, strict=True)]),  # type: ignore[union-attr]
            notes,
        ),
        benchmark.name,
    )


def _earlier(frame: _Frame, draws: Mapping[int, RunDraw], name: str) -> RunDraw | None:
    """The wave to go on from: the same of all models.

    Raises:
        MisuseError: they were drawn on different prompts.
    """
    own = [next((draws[run] for run in entry.condition.run_ids if run in draws), None) for entry in frame.entries]
    first = own[0]
    if any(one is None or not one.same_as(first) for one in own if first) or any(own) and first is None:
        models = [entry.condition.model for entry, one in zip(frame.entries, own, strict=True) if one]
        raise MisuseError(
            f"earlier waves of {name} are not the same for all models here ({', '.join(models[:5])} have one): choose"
            " those of one wave with --where model=..."
        )
    return first


def _taken(frame: _Frame, before: RunDraw | None) -> NDArray[np.bool_]:
    drawn = before.probability_of if before else {}
    return np.array([prompt in drawn for prompt in frame.prompts.tolist()])


def _as_before(frame: _Frame, before: RunDraw) -> _Draw:
    taken = _taken(frame, before)
    return _Draw(before.rule, _strata(frame, before.kind, before.cuts), taken, np.zeros_like(taken), None)


def _strata(frame: _Frame, kind: str, cuts: Sequence[float]) -> NDArray[np.intp]:
    values = None if kind == SIMPLE else stratum_values(kind, frame.means, frame.within)
    return np.zeros(len(frame.prompts), np.intp) if values is None else strata_by(values, cuts)


def _draw(store: Store, question: NextLabels, frame: _Frame, before: RunDraw | None, name: str) -> _Draw:
    """Strata as the last wave had them, and in each the smallest hashes among what is left."""
    kind, taken, n = question.strata or SIMPLE, _taken(frame, before), question.n or 0
    if before and before.kind not in (SIMPLE, kind):
        raise MisuseError(f"the last wave of {name} was drawn by {before.kind}: go on with --strata {before.kind}")
    cuts: Sequence[float] = []
    if kind != SIMPLE:
        values = stratum_values(kind, frame.means, frame.within)
        if values is None:
            raise MisuseError(
                f"{question.judge} does not say how sure it is: a single verdict of each answer, none between 0 and 1;"
                " --strata score goes by the verdicts"
            )
        count = max(1, min(MOST_STRATA, (n + int(taken.sum())) // LEAST_IN_STRATUM))
        cuts = before.cuts if before and before.kind == kind else cut_points(values, count)
    codes = np.unique(_strata(frame, kind, cuts), return_inverse=True)[1]
    spread = None if question.human is None else _spread(store, question, frame, codes)
    counts = allocate_labels(
        np.bincount(codes), n, spread=spread, taken=np.bincount(codes[taken], minlength=codes.max() + 1)
    )
    hashes = np.array(hashed("draw", question.seed, frame.names))
    order = np.lexsort((hashes, taken, codes))
    rank = np.arange(len(order)) - np.searchsorted(codes[order], codes[order])
    new = np.zeros(len(order), bool)
    new[order] = (rank < counts[codes[order]]) & ~taken[order]
    return _Draw(rule_of(kind, cuts), codes.astype(np.intp), taken, new, spread)


def _spread(store: Store, question: NextLabels, frame: _Frame, codes: NDArray[np.intp]) -> FloatArray | None:
    """Standard deviation of what the judge leaves unexplained, by stratum; mean over the models' variances.

    None where a stratum has too few labels to say: then as many as its share.
    """
    units, _ = read_units(store, selection_of(question), question.judge, question.human)
    total, models = np.zeros(codes.max() + 1), 0
    for one in units:
        at = np.searchsorted(frame.prompts, one.prompts)
        own = codes[np.minimum(at, len(codes) - 1)][one.labelled]
        h, g = one.labels[one.labelled], one.judge[one.labelled]
        counts = np.bincount(own, minlength=len(total))
        if counts.min(initial=0) < FEWEST_IN_STRATUM:
            continue
        left = h - label_weight(h, g) * g
        means = np.bincount(own, left, len(total)) / counts
        total += np.bincount(own, (left - means[own]) ** 2, len(total)) / (counts - 1)
        models += 1
    return np.sqrt(total / models) if models else None


def _strata_rows(drawn: _Draw) -> list[DrawnRow]:
    rows = []
    for stratum in range(int(drawn.stratum.max()) + 1):
        inside = drawn.stratum == stratum
        n, in_all = int(inside.sum()), int((inside & (drawn.taken | drawn.new)).sum())
        if not n:
            continue
        rows.append(
            DrawnRow(
                _name(drawn, stratum),
                n,
                in_all,
                int((inside & drawn.new).sum()),
                in_all / n,
                None if drawn.spread is None else float(drawn.spread[stratum]),
            )
        )
    return rows


def _name(drawn: _Draw, stratum: int) -> str:
    return "" if drawn.rule == SIMPLE else str(stratum + 1)


def _write(store: Store, frame: _Frame, drawn: _Draw, wave: int, seed: int) -> None:
    """The rows of the wave: all that was drawn so far, by the chance that it has now."""
    chance = {row.stratum: row.probability for row in _strata_rows(drawn)}
    now = utc_now()
    rows: list[dict[str, Any]] = []
    at = np.flatnonzero(drawn.taken | drawn.new)
    responses = _responses(store, frame, at)
    variant = _plain_variant(store)
    for row, entry in enumerate(frame.entries):
        for place in at.tolist():
            prompt, stratum = int(frame.prompts[place]), _name(drawn, int(drawn.stratum[place]))
            said = responses.get((row, prompt), {})
            own = said if said.get("run_id") == entry.condition.run_ids[0] else {}
            rows.append(
                {
                    "benchmark_id": int(entry.condition.setting("benchmark_id")),
                    "metric_id": entry.metric.id,
                    "run_id": entry.condition.run_ids[0],
                    "prompt_id": prompt,
                    "variant_id": int(own.get("variant_id", variant)),
                    "draw": int(own.get("draw", 0)),
                    "wave": wave,
                    "seed": seed,
                    "rule": drawn.rule,
                    "stratum": stratum,
                    "probability": chance[stratum],
                    "drawn_at": now,
                }
            )
    with store.begin() as connection:
        append(connection, tables.label_draw, rows)


def _plain_variant(store: Store) -> int:
    found = store.rows("select min(id) as id from prompt_variant where perturbation = '' and fewshot_draw = ''")
    return int(found[0]["id"] or 1)


def _responses(store: Store, frame: _Frame, at: NDArray[np.intp]) -> dict[tuple[int, int], Mapping[str, Any]]:
    """The answer of each model to each prompt: the first draw of the first run that has one."""
    found: dict[tuple[int, int], Mapping[str, Any]] = {}
    for row, entry in enumerate(frame.entries):
        params = {"run_ids": [*entry.condition.run_ids], "prompt_ids": frame.prompts[at].tolist()}
        for said in store.rows(query_text("analysis", "label_sheet"), params):
            found.setdefault((row, said["prompt_id"]), said)
    return found


def _sheet(
    store: Store, frame: _Frame, asked: NDArray[np.bool_], name: str, seed: int
) -> tuple[tuple[Mapping[str, str], ...], int]:
    """A row for each answer, in an order that says nothing, and how many have no response."""
    at = np.flatnonzero(asked)
    responses = _responses(store, frame, at)
    rows, missing = [], 0
    for row, entry in enumerate(frame.entries):
        for place in at.tolist():
            response = responses.get((row, int(frame.prompts[place])), {}).get("response")
            missing += response is None
            cells = (
                *(entry.condition.model, str(entry.condition.setting("benchmark_recorded") or name)),
                str(entry.condition.setting("split") or ""),
                *(frame.tool_ids[place], frame.texts[place], response or "", ""),
            )
            rows.append((f"{entry.condition.model}|{frame.names[place]}", dict(zip(SHEET, cells, strict=True))))
    order = hashed("sheet", seed, [key for key, _ in rows])
    return tuple(cells for _, (_, cells) in sorted(zip(order, rows, strict=True), key=lambda one: one[0])), missing
