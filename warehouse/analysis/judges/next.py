"""Drawing the answers that people are to label beside a judge, and the sheet that they fill in."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.judges.draws import SIMPLE, RunDraw, cut_points, rule_of, strata_by, stratum_values
from warehouse.analysis.judges.units import JudgedUnits, read_units
from warehouse.analysis.results import Result, Row
from warehouse.analysis.selection.scored_conditions import group_entries, list_differences
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
    """A stratum of a wave."""

    stratum: str  #: its number along what strata are made of; empty in a simple draw.
    n_prompts: int  #: prompts in it, N_h.
    n_drawn: int  #: of these drawn in all waves, n_h.
    n_new: int  #: of these in this wave.
    probability: float  #: n_h/N_h.
    spread: float | None  #: standard deviation of what the judge leaves unexplained, by labels at hand; None without.


@dataclass(frozen=True)
class LabelWave(Result):
    """A wave of prompts to be labelled."""

    benchmark: str  #: name.
    judge: str  #: label of the judge's metric.
    models: tuple[str, ...]  #: whose answers are to be labelled.
    wave: int  #: its number, from 1.
    seed: int | None  #: of the draw; None where nothing was drawn.
    rule: str  #: ``simple``, or what strata are made of, with the cuts.
    written: bool  #: whether it is in the store.
    rows: tuple[DrawnRow, ...]
    #: a row for each answer to be labelled, in random order, by the names of ``SHEET``.
    sheet: tuple[Mapping[str, str], ...]
    notes: tuple[str, ...]  #: what a reader should know.

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
    """The prompts that can be drawn."""

    units: tuple[JudgedUnits, ...]  #: of the models, on the prompts that the judge has scored for all of them.
    prompts: NDArray[np.int64]  #: ids, shape (N,).
    rows: tuple[Mapping[str, Any], ...]  #: of these prompts, in their order.
    names: tuple[str, ...]  #: theirs in hashes.
    before: RunDraw | None  #: the last wave of them all; None without.

    @property
    def taken(self) -> NDArray[np.bool_]:
        """Which were drawn before."""
        drawn = self.before.probability_of if self.before else {}
        return np.array([prompt in drawn for prompt in self.prompts.tolist()])

    def values(self, kind: str) -> FloatArray | None:
        """What strata are made of."""
        means, within = (np.array([getattr(one, name) for one in self.units]) for name in ("judge", "within"))
        return stratum_values(kind, means, within)


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
    units, _ = read_units(store, selection_of(question), question.judge, None, labels=False)
    frame, left = _frame(store, units, question)
    name, before = frame.units[0].condition.benchmark_split[0], frame.before
    if question.n is not None:
        drawn = _draw(store, question, frame, name)
    elif before is not None:
        values = frame.values(before.kind)
        strata = np.zeros(len(frame.prompts), np.intp) if values is None else strata_by(values, before.cuts)
        drawn = _Draw(before.rule, strata, frame.taken, np.zeros(len(strata), bool), None)
    else:
        raise MisuseError(f"nothing of {name} was drawn to be labelled: say how many prompts, --n K")
    wave = (before.wave if before else 0) + (question.n is not None)
    if write:
        _write(store, frame, drawn, wave, question.seed)
    asked = drawn.new if question.n is not None else drawn.taken
    sheet, missing = ((), 0) if question.dry_run else _sheet(store, frame, asked, name, question.seed)
    notes = [f"{left} prompts are left out: the judge has not scored them for all of these models"] * (left > 0)
    if question.human is not None and drawn.spread is None:
        notes.append(
            f"labels are too few to say where {question.judge} is worse ({FEWEST_IN_STRATUM} in each stratum): each"
            " stratum gets its share"
        )
    if missing:
        notes.append(f"{missing} answers of {len(sheet)} have no stored response: their cells are empty")
    return LabelWave(
        benchmark=name,
        judge=frame.units[0].entry.metric.label,
        models=tuple(one.condition.model for one in frame.units),
        wave=wave,
        seed=None if question.n is None else question.seed,
        rule=drawn.rule,
        written=write,
        rows=tuple(_strata_rows(drawn)),
        sheet=sheet,
        notes=tuple(notes),
    )


def _frame(store: Store, units: Sequence[JudgedUnits], question: NextLabels) -> tuple[_Frame, int]:
    """The prompts that the judge has scored for all models chosen, and how many it has for some.

    Raises:
        MisuseError: models that cannot be compared or told apart, or were drawn apart, or without a prompt in common.
    """
    groups = group_entries(one.entry for one in units)
    if len(groups) > 1:
        raise MisuseError(
            f"scores of {question.judge} differ in {'; '.join(list_differences(groups))}: choose with --where or"
            " --metric"
        )
    names = [one.condition.model for one in units]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise MisuseError(
            f"{twice[0]} has several runs of different settings: a sheet names models alone; choose with --where or"
            " --latest"
        )
    before = units[0].draw
    if any(not before.same_as(one.draw) if before else one.draw for one in units):
        models = [one.condition.model for one in units if one.draw]
        raise MisuseError(
            f"earlier waves are not the same for all models here ({', '.join(models[:5])} have one): take those"
            " of one wave with --where model=..."
        )
    prompts = reduce(np.intersect1d, [one.prompts for one in units])
    if not len(prompts):
        raise MisuseError(f"no prompt is scored for all of {', '.join(names)}; choose with --where")
    by_id = {row["id"]: row for row in plan_rows(store, prompts)}
    rows = tuple(by_id[prompt] for prompt in prompts.tolist())
    keys = tuple(f"{row['benchmark_id']}/{row['plan_id']}" for row in rows)
    left = len(reduce(np.union1d, [one.prompts for one in units])) - len(prompts)
    return _Frame(tuple(one.at(prompts) for one in units), prompts, rows, keys, before), left


def _draw(store: Store, question: NextLabels, frame: _Frame, name: str) -> _Draw:
    """Strata as the last wave had them, and in each the smallest hashes among what is left."""
    kind, taken, n, before = question.strata or SIMPLE, frame.taken, question.n or 0, frame.before
    if before and before.kind != SIMPLE:
        if before.kind != kind:
            raise MisuseError(f"the last wave of {name} was drawn by {before.kind}: go on with --strata {before.kind}")
        if before.metric_id not in {one.entry.metric.id for one in frame.units}:
            raise MisuseError(f"the strata of the last wave of {name} are another judge's: go on with that --judge")
    cuts: Sequence[float] = []
    values = frame.values(kind)
    if kind != SIMPLE:
        if values is None:
            raise MisuseError(
                f"{question.judge} does not say how sure it is: a single verdict of each answer, none between 0 and 1;"
                " --strata score goes by the verdicts"
            )
        count = max(1, min(MOST_STRATA, (n + int(taken.sum())) // LEAST_IN_STRATUM))
        cuts = before.cuts if before and before.kind == kind else cut_points(values, count)
    strata = np.zeros(len(taken), np.intp) if values is None else strata_by(values, cuts)
    codes = np.unique(strata, return_inverse=True)[1]
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
    for row, entry in enumerate(one.entry for one in frame.units):
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
    for row, entry in enumerate(one.entry for one in frame.units):
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
    for row, entry in enumerate(one.entry for one in frame.units):
        for place in at.tolist():
            prompt = frame.rows[place]
            response = responses.get((row, int(frame.prompts[place])), {}).get("response")
            missing += response is None
            cells = (
                *(entry.condition.model, str(entry.condition.setting("benchmark_recorded") or name)),
                str(entry.condition.setting("split") or ""),
                *(str(prompt["tool_id"] or prompt["key"]), prompt["text"] or "", response or "", ""),
            )
            rows.append((f"{entry.condition.model}|{frame.names[place]}", dict(zip(SHEET, cells, strict=True))))
    order = hashed("sheet", seed, [key for key, _ in rows])
    return tuple(cells for _, (_, cells) in sorted(zip(order, rows, strict=True), key=lambda one: one[0])), missing
