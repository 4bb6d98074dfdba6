"""Drawing the answers that people are to label beside a judge, and the sheet that they
fill in."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.judge.question import NextLabels
from warehouse.analysis.judge.units import (
    JudgedUnits,
    RunDraw,
    read_units,
    shared_scores,
)
from warehouse.analysis.results import Result, Row
from warehouse.analysis.selection.scored_conditions import (
    group_entries,
    list_differences,
)
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.subsets.make import plan_rows
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.records.clock import utc_now
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.judges.plan import allocate_labels, score_cuts, strata_by
from warehouse.stats.judges.prediction import label_spread
from warehouse.stats.subsets.design import hashed
from warehouse.store.connection import Store
from warehouse.store.load.bulk_insert import append
from warehouse.store.open import StoreOpener
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text
from warehouse.tables.view import Part, Table, View
from warehouse.tables.words import number

SHEET = ("model", "benchmark", "split", "prompt_id", "question", "response", "label")


@dataclass(frozen=True)
class DrawnRow(Row):
    """How many prompts a wave is of, in all or in one stratum."""

    n_prompts: int  #: prompts that the judge has scored for all of the models, N.
    n_drawn: int  #: of these drawn in all waves, n.
    n_new: int  #: of these in this wave.
    probability: float  #: n/N.
    stratum: str = ""  #: the lowest score of the judge in it; empty for all.


@dataclass(frozen=True)
class LabelWave(Result):
    """A wave of prompts to be labelled."""

    benchmark: str  #: name.
    models: tuple[str, ...]  #: whose answers are to be labelled.
    wave: int  #: its number, from 1.
    seed: int | None  #: of the draw; None where nothing was drawn.
    written: bool  #: whether it is in the store.
    #: of all, then of each stratum where it is drawn by strata.
    rows: tuple[DrawnRow, ...]
    #: a row for each answer to be labelled, in random order, by the names of ``SHEET``.
    sheet: tuple[Mapping[str, str], ...]
    notes: tuple[str, ...]  #: what a reader should know.

    @property
    def one_line(self) -> str:
        return (
            f"{self.benchmark}: wave {self.wave} of {self.rows[0].n_new} prompts of "
            f"{self.rows[0].n_prompts}"
        )

    def view(self, *, verbose: bool = False, out: str | None = None) -> View:
        """How many prompts are drawn, of which strata, and what to do with the answers.

        Args:
            out: file that has the sheet.
        """
        parts: list[Part] = []
        if self.seed is not None:
            parts += [self._drawn, *_strata(self.rows[1:])]
        if out is not None:
            parts.append(
                f"{out} has {len(self.sheet)} answers; fill in the column label "
                f"(empty: not judged), then: warehouse ingest {out} --map label_sheet"
            )
        elif self.written:
            parts.append(
                "They are written down; --out FILE, without --n, writes their sheet."
            )
        return View(tuple(parts), self.notes)

    @property
    def _drawn(self) -> str:
        row = self.rows[0]
        verb = "would be drawn"
        if self.written:
            verb = "are drawn"
        chance = str(number(row.probability, 3))
        if len(self.rows) > 1:
            chance += " on average"
        of = "1 model"
        if len(self.models) != 1:
            of = f"{len(self.models)} models"
        return (
            f"{row.n_new} prompts {verb} (wave {self.wave}), with the answers of {of} "
            f"to label: {row.n_drawn} of {row.n_prompts} in all, each by a chance of "
            f"{chance}."
        )

    def sheet_csv(self) -> str:
        """The sheet as CSV; nothing in it says what the judge thinks."""
        text = io.StringIO()
        writer = csv.DictWriter(text, SHEET, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.sheet)
        return text.getvalue()


def _strata(rows: Sequence[DrawnRow]) -> list[Table]:
    """The draw by strata; nothing without any."""
    cells = [
        {
            "scores from": number(float(row.stratum), 3),
            "prompts": row.n_prompts,
            "drawn": row.n_drawn,
            "new": row.n_new,
            "chance": number(row.probability, 3),
        }
        for row in rows
    ]
    if cells:
        return [Table.of(cells)]
    return []


@dataclass(frozen=True)
class _Frame:
    """The prompts that can be drawn."""

    #: of the models, on the prompts that the judge has scored for all of them.
    units: tuple[JudgedUnits, ...]
    prompts: NDArray[np.int64]  #: ids, shape (N,).
    rows: tuple[Mapping[str, Any], ...]  #: of these prompts, in their order.
    names: tuple[str, ...]  #: theirs in hashes.
    before: RunDraw | None  #: the last wave of them all; None without.
    #: the lowest score of each stratum; None for a simple draw.
    cuts: FloatArray | None = None

    @cached_property
    def stratum(self) -> NDArray[np.intp]:
        """The stratum of each prompt, all 0 for a simple draw."""
        if self.cuts is None:
            return np.zeros(len(self.prompts), np.intp)
        return strata_by(self.cuts, self.scores)

    @cached_property
    def scores(self) -> FloatArray:
        """The scores that strata go by."""
        return shared_scores([judged.judge for judged in self.units])

    @property
    def taken(self) -> NDArray[np.bool_]:
        """Which were drawn before."""
        if self.before:
            earlier = self.before.prompts
        else:
            earlier = ()
        return np.isin(self.prompts, earlier)


@answers(NextLabels)
def next_labels(opener: StoreOpener, question: NextLabels) -> LabelWave:
    """The next wave of labels: what is drawn stands in the store, in one transaction,
    before anybody can have a label of it."""
    only_looks = question.dry_run or question.n is None
    with opener.reading() if only_looks else opener.writing() as store:
        return _wave(store, question, write=not only_looks)


def _wave(store: Store, question: NextLabels, *, write: bool) -> LabelWave:
    units, _ = read_units(
        store, selection_of(question), question.judge, None, labels=False
    )
    frame, left = _frame(store, units, question)
    name, before = frame.units[0].condition.benchmark_split[0], frame.before
    taken, n = frame.taken, question.n
    if n is None and before is None:
        raise MisuseError(
            f"nothing of {name} was drawn to be labelled: say how many prompts, --n K"
        )
    if n is not None:
        frame = replace(frame, cuts=_cuts(frame, question))
    spread = (
        None
        if frame.cuts is None or before is None
        else _spread(store, frame, question)
    )
    new = (
        np.zeros(len(taken), bool)
        if n is None
        else _draw(frame, n, question.seed, spread)
    )
    wave = (before.wave if before else 0) + (n is not None)
    rows = _drawn_rows(frame, taken, new)
    if write:
        _write(
            store,
            frame,
            np.flatnonzero(taken | new),
            rows[1:] or rows,
            wave=wave,
            seed=question.seed,
            rule=_rule(frame, spread is not None),
        )
    sheet: tuple[Mapping[str, str], ...] = ()
    missing = 0
    if not question.dry_run:
        to_label = np.flatnonzero(taken if n is None else new)
        sheet, missing = _sheet(store, frame, to_label, name, question.seed)
    notes = []
    if left > 0:
        notes.append(
            f"{left} prompts are left out: the judge has not scored them for all of "
            "these models"
        )
    if frame.cuts is not None and before is not None:
        how = "more where they vary more"
        if spread is None:
            how = "in proportion, until each has five of one scorer"
        notes.append(f"the strata are those of the first wave, labels {how}")
    if missing:
        notes.append(
            f"{missing} answers of {len(sheet)} have no stored response: their cells "
            "are empty"
        )
    return LabelWave(
        benchmark=name,
        models=tuple(judged.condition.model for judged in frame.units),
        wave=wave,
        seed=None if n is None else question.seed,
        written=write,
        rows=tuple(rows),
        sheet=sheet,
        notes=tuple(notes),
    )


def _drawn_rows(
    frame: _Frame, taken: NDArray[np.bool_], new: NDArray[np.bool_]
) -> list[DrawnRow]:
    """Counts of what is drawn: of all prompts, then of each stratum."""
    strata = [(np.ones(len(taken), bool), "")]
    if frame.cuts is not None:
        for code, cut in enumerate(frame.cuts.tolist()):
            strata.append((frame.stratum == code, repr(cut)))
    rows = []
    for inside, cut in strata:
        drawn = int((taken | new)[inside].sum())
        size = int(inside.sum())
        n_new = int(new[inside].sum())
        rows.append(DrawnRow(size, drawn, n_new, drawn / size, cut))
    return rows


def _rule(frame: _Frame, by_spread: bool) -> str:
    """The rule by which a wave was drawn."""
    if frame.cuts is None:
        return "simple"
    if by_spread:
        return "neyman"
    return "proportional"


def _frame(
    store: Store, units: Sequence[JudgedUnits], question: NextLabels
) -> tuple[_Frame, int]:
    """The prompts that the judge has scored for all models chosen, and how many it has
    for some.

    Raises:
        MisuseError: models that cannot be compared or told apart, or were drawn apart,
            or without a prompt in common.
    """
    groups = group_entries(judged.entry for judged in units)
    if len(groups) > 1:
        raise MisuseError(
            f"scores of {question.judge} differ in "
            f"{'; '.join(list_differences(groups))}: choose with --where or --metric"
        )
    names = [judged.condition.model for judged in units]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise MisuseError(
            f"{twice[0]} has several runs of different settings: a sheet names models "
            "alone; choose with --where or --latest"
        )
    before = units[0].draw
    if any(judged.draw != before for judged in units):
        models = [judged.condition.model for judged in units if judged.draw]
        raise MisuseError(
            "earlier waves are not the same for all models here "
            f"({', '.join(models[:5])} have one): take those of one wave with --where "
            "model=..."
        )
    prompts = reduce(np.intersect1d, [judged.prompts for judged in units])
    if not len(prompts):
        raise MisuseError(
            f"no prompt is scored for all of {', '.join(names)}; choose with --where"
        )
    if before and question.n is not None and len(prompts) > before.n_prompts:
        raise MisuseError(
            f"the last wave was drawn from {before.n_prompts:,} prompts, and "
            f"{question.judge} has scored {len(prompts):,} now: go on with the "
            "--judge, and the models, that it was drawn for"
        )
    by_id = {row["id"]: row for row in plan_rows(store, prompts)}
    rows = tuple(by_id[prompt] for prompt in prompts.tolist())
    keys = tuple(f"{row['benchmark_id']}/{row['plan_id']}" for row in rows)
    left = len(reduce(np.union1d, [judged.prompts for judged in units])) - len(prompts)
    return _Frame(
        tuple(judged.at(prompts) for judged in units), prompts, rows, keys, before
    ), left


def _cuts(frame: _Frame, question: NextLabels) -> FloatArray | None:
    """The lowest score of each stratum: of the first wave, or of the K that are asked
    for.

    Raises:
        MisuseError: another stratification than the first wave's, or one that cannot
            be.
    """
    before, k = frame.before, question.strata
    if before is not None and not before.is_stratified:
        question.refuse(
            "cannot begin now: the first wave was drawn without strata", "strata"
        )
        return None
    if before is not None:
        if before.codes(frame.prompts, frame.scores) is None:
            raise MisuseError(
                "the first wave was drawn by strata of other scores than "
                f"{question.judge} gives these prompts now: go on with the --judge, "
                "and the models, that it was drawn for"
            )
        if k is not None and not np.array_equal(
            score_cuts(frame.scores, k), before.cuts
        ):
            question.refuse(
                f"asks for others than the {len(before.cuts)} of the first wave: leave "
                "it out",
                "strata",
            )
        return before.cuts
    if k is None:
        return None
    cuts = score_cuts(frame.scores, k)
    if len(cuts) < 2:
        raise MisuseError(
            f"{question.judge} scores all prompts alike, so there are no strata: leave "
            "out --strata"
        )
    if (question.n or 0) < 2 * len(cuts):
        raise MisuseError(
            f"{len(cuts)} strata take two labels each: --n {2 * len(cuts)} or more, or "
            "fewer --strata"
        )
    return cuts


def _spread(store: Store, frame: _Frame, question: NextLabels) -> FloatArray | None:
    """How far apart judge and people are in each stratum; None where nobody, or
    several, have labelled."""
    try:
        units, _ = read_units(store, selection_of(question), question.judge, None)
    except MisuseError:
        return None
    own = [judged.at(frame.prompts) for judged in units]
    return label_spread(
        [(judged.labels, judged.judge) for judged in own], frame.stratum
    )


def _draw(
    frame: _Frame, n: int, seed: int, spread: FloatArray | None = None
) -> NDArray[np.bool_]:
    """The smallest hashes among what is left, of each stratum."""
    free = np.flatnonzero(~frame.taken)
    if n > len(free):
        raise MisuseError(f"{len(free):,} prompts are left to draw, {n:,} are wanted")
    new = np.zeros(len(frame.prompts), bool)
    of = frame.stratum
    ordered = free[
        np.argsort(
            hashed("draw", seed, [frame.names[row] for row in free.tolist()]),
            kind="stable",
        )
    ]
    sizes = np.bincount(of)
    for code, size in enumerate(
        allocate_labels(
            sizes, n, np.bincount(of[frame.taken], minlength=len(sizes)), spread
        )
    ):
        new[ordered[of[ordered] == code][:size]] = True
    return new


def _write(
    store: Store,
    frame: _Frame,
    at: NDArray[np.intp],
    strata: Sequence[DrawnRow],
    *,
    wave: int,
    seed: int,
    rule: str,
) -> None:
    """The rows of the wave: all that was drawn so far, by the chance that it has now."""
    now = utc_now()
    rows = list[dict[str, Any]]()
    responses = _responses(store, frame, at)
    variant = _plain_variant(store)
    for row, entry in enumerate(judged.entry for judged in frame.units):
        run_id = entry.condition.run_ids[0]
        for prompt, code in zip(
            frame.prompts[at].tolist(), frame.stratum[at].tolist(), strict=True
        ):
            said = responses.get((row, prompt), {})
            if said.get("run_id") == run_id:
                own = said
            else:
                own = {}
            rows.append(
                {
                    "benchmark_id": int(entry.condition.setting("benchmark_id")),
                    "metric_id": entry.metric.id,
                    "run_id": run_id,
                    "prompt_id": prompt,
                    "variant_id": int(own.get("variant_id", variant)),
                    "draw": int(own.get("draw", 0)),
                    "wave": wave,
                    "seed": seed,
                    "rule": rule,
                    "stratum": strata[code].stratum,
                    "probability": strata[code].probability,
                    "drawn_at": now,
                }
            )
    with store.begin() as connection:
        append(connection, tables.label_draw, rows)


def _plain_variant(store: Store) -> int:
    found = store.rows(
        "select min(id) as id from prompt_variant where perturbation = '' and "
        "fewshot_draw = ''"
    )
    return int(found[0]["id"] or 1)


def _responses(
    store: Store, frame: _Frame, at: NDArray[np.intp]
) -> dict[tuple[int, int], Mapping[str, Any]]:
    """The answer of each model to each prompt: the first draw of the first run that has
    one."""
    found: dict[tuple[int, int], Mapping[str, Any]] = {}
    for row, entry in enumerate(judged.entry for judged in frame.units):
        params = {
            "run_ids": [*entry.condition.run_ids],
            "prompt_ids": frame.prompts[at].tolist(),
        }
        for said in store.rows(query_text("analysis/judge", "label_sheet"), params):
            found.setdefault((row, said["prompt_id"]), said)
    return found


def _sheet(
    store: Store, frame: _Frame, at: NDArray[np.intp], name: str, seed: int
) -> tuple[tuple[Mapping[str, str], ...], int]:
    """A row for each answer, in an order that says nothing, and how many have no
    response."""
    responses = _responses(store, frame, at)
    rows, missing = [], 0
    for row, entry in enumerate(judged.entry for judged in frame.units):
        for index in at.tolist():
            prompt = frame.rows[index]
            response = responses.get((row, int(frame.prompts[index])), {}).get(
                "response"
            )
            missing += response is None
            cells = (
                *(
                    entry.condition.model,
                    str(entry.condition.setting("benchmark_recorded") or name),
                ),
                str(entry.condition.setting("split") or ""),
                *(
                    str(prompt["tool_id"] or prompt["key"]),
                    prompt["text"] or "",
                    response or "",
                    "",
                ),
            )
            rows.append(
                (
                    f"{entry.condition.model}|{frame.names[index]}",
                    dict(zip(SHEET, cells, strict=True)),
                )
            )
    order = hashed("sheet", seed, [key for key, _ in rows])
    return tuple(
        cells
        for _, (_, cells) in sorted(
            zip(order, rows, strict=True), key=lambda item: item[0]
        )
    ), missing
