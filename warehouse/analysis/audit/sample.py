"""A random sample of a benchmark's keys as a table for people to judge, and what their verdicts say of all keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.audit.against import read_verdicts, table_rows
from warehouse.analysis.audit.report import JudgedRow, SampleRow
from warehouse.analysis.audit.votes import AuditData
from warehouse.analysis.selection.prompts import options
from warehouse.errors import InputError, MisuseError
from warehouse.stats.labels.audit import THRESHOLDS
from warehouse.stats.labels.audit_sample import (
    AuditSample,
    JudgedPart,
    Recalibration,
    Slope,
    draw_audit_sample,
    recalibrate,
    weighted_order,
    wrong_rate,
)
from warehouse.stats.labels.wrong_keys import WrongKeys
from warehouse.stats.subsets.design import hashed

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]

_WRITTEN = re.compile(r"seed=(\d+) size=(\d+) certain=(\d+) keys=(\d+) strata=(.*)")
#: Between these a table shows how often the posterior is right.
_EDGES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_ROUNDED = 1e-3  # of a probability, in a table that a spreadsheet wrote again


@dataclass(frozen=True)
class SampleDesign:
    """How a sample was drawn.

    Attributes:
        seed: of the draw.
        size: keys of the sample.
        certain: the most suspect of them, which are in it for certain.
        keys: those that could be judged then.
        strata: field that the sample is spread over; None without.
    """

    seed: int
    size: int
    certain: int
    keys: int
    strata: str | None

    def __str__(self) -> str:
        return f"seed={self.seed} size={self.size} certain={self.certain} keys={self.keys} strata={self.strata or ''}"


def draw_rows(
    data: AuditData, judgement: WrongKeys, labels: Sequence[str] | None, design: SampleDesign, benchmark: str
) -> tuple[SampleRow, ...]:
    """The sample, in random order, without what the models say: who judges should not know.

    Raises:
        StatisticsError: a size that is none.
    """
    frame = np.flatnonzero(~np.isnan(judgement.posterior))
    most = frame[np.argsort(-judgement.posterior[frame], kind="stable")][: design.certain]
    sample = _drawn(data, frame, most, labels, design)
    names = _names(data, frame)
    places = sorted(np.flatnonzero(sample.selected).tolist(), key=lambda i: hashed("order", design.seed, [names[i]])[0])
    return tuple(
        SampleRow(
            benchmark=benchmark,
            sample=str(design),
            key=names[place],
            id=str(data.prompts[frame[place]]["tool_id"] or ""),
            stratum=None if labels is None else labels[frame[place]],
            probability=float(sample.probability[place]),
            question=str(data.prompts[frame[place]]["text"] or ""),
            options="\n".join(_lettered(data, int(frame[place]))),
            recorded=data.recorded(int(frame[place])) or "",
            wrong="",
        )
        for place in places
    )


def _drawn(
    data: AuditData, frame: NDArray[np.intp], certain: NDArray[np.intp], labels: Sequence[str] | None, of: SampleDesign
) -> AuditSample:
    """The sample of the keys that can be judged, certain ones by their place in the data."""
    strata = None if labels is None else [labels[item] for item in frame.tolist()]
    places = np.flatnonzero(np.isin(frame, certain))
    return draw_audit_sample(_names(data, frame), of.size, certain=places, strata=strata, seed=of.seed)


def _names(data: AuditData, frame: NDArray[np.intp]) -> list[str]:
    """What prompts are called in every store."""
    rows = (data.prompts[item] for item in frame.tolist())
    return [f"{row['split']}:{row['key']}:{row['occurrence']}" for row in rows]


def _lettered(data: AuditData, item: int) -> Iterator[str]:
    for index, text in enumerate(options(data.prompts[item]["choices"])):
        yield f"{chr(ord('A') + index) if index < 26 else index}. {text}"


@dataclass(frozen=True)
class _Line:
    """A row of the judged table: where it stands, which key, its chance and verdict."""

    place: str
    key: str
    probability: str
    wrong: bool | None


@dataclass(frozen=True)
class JudgedTable:
    """What people wrote into a sample."""

    path: str
    design: SampleDesign
    lines: tuple[_Line, ...]


def read_judged(path: str | Path, benchmark: str, wrong_is: Sequence[str]) -> JudgedTable:
    """The table that people filled in, as far as it can be looked at without a store.

    Raises:
        InputError: not a sample's table, that of another benchmark, rows lost, or a word that is no verdict.
    """
    rows = list(table_rows(Path(path)))
    own = set(SampleRow.columns()) - {"wrong"}
    lacking = sorted(own - set(rows[0])) if rows else sorted(own)
    if lacking:
        raise InputError(
            f"no column {lacking[0]}", path=str(path), expected="the table that audit --sample wrote, with verdicts",
            advice="verdicts from elsewhere: --against FILE",
        )  # fmt: skip
    for place, row in enumerate(rows, start=2):
        if row["benchmark"] != benchmark:
            raise InputError(
                f"keys of {row['benchmark']!r}", path=str(path), place=f"row {place}", expected=f"keys of {benchmark!r}"
            )
        if row["sample"] != rows[0]["sample"] or not _WRITTEN.fullmatch(row["sample"] or ""):
            raise InputError(
                f"sample {row['sample']!r}",
                path=str(path),
                place=f"row {place}",
                expected="one sample, as it was written",
            )
    match = _WRITTEN.fullmatch(rows[0]["sample"])
    assert match is not None  # or there was an error
    seed, size, certain, keys = map(int, match.groups()[:4])
    design = SampleDesign(seed, size, certain, keys, match[5] or None)
    if len(rows) != design.size:
        raise InputError(
            f"{len(rows)} rows", path=str(path), expected=f"the {design.size} of the sample",
            advice="leave rows without a verdict in the table: they are counted",
        )  # fmt: skip
    by_key = read_verdicts(path, wrong_is).by_prompt
    if all(verdict is None for verdict in by_key.values()):
        raise InputError("no verdict", path=str(path), expected="1 or 0, or such words, in the column wrong")
    lines = tuple(
        _Line(f"row {place}", row["key"], row["probability"], by_key.get(row["key"]))
        for place, row in enumerate(rows, start=2)
    )
    return JudgedTable(str(path), design, lines)


@dataclass(frozen=True, eq=False)
class Judged:
    """Verdicts beside all keys of a benchmark.

    Attributes:
        wrong: 1, 0, NaN without a verdict, shape (J,).
        sampled: in the sample, shape (J,).
        certain: in it for certain.
        design: how it was drawn.
    """

    wrong: Floats
    sampled: Mask
    certain: Mask
    design: SampleDesign

    @property
    def n_missing(self) -> int:
        """Keys of the sample without a verdict."""
        return int((self.sampled & np.isnan(self.wrong)).sum())


def match_judged(table: JudgedTable, data: AuditData, judgement: WrongKeys, labels: Sequence[str] | None) -> Judged:
    """The verdicts, if the table is what this seed draws from these keys.

    Raises:
        MisuseError: other keys than then, or a table whose rows or probabilities were changed.
    """
    frame = np.flatnonzero(~np.isnan(judgement.posterior))
    if len(frame) != table.design.keys:
        raise MisuseError(
            f"{table.path} is a sample of {table.design.keys} keys, and {len(frame)} can be judged now: ask with the"
            " same --metric, --where and --options as then, or draw another sample"
        )
    item_of = dict(zip(_names(data, frame), frame.tolist(), strict=True))
    for line in table.lines:
        if line.key not in item_of:
            raise MisuseError(f"{table.path}, {line.place}: no key {line.key!r} in this benchmark")
    items = [item_of[line.key] for line in table.lines]
    chances = np.array([_chance(line, table.path) for line in table.lines])
    certain = np.array(items)[chances == 1] if table.design.size < len(frame) else np.empty(0, np.intp)
    sample = None
    if len(certain) == table.design.certain or table.design.size == len(frame):
        sample = _drawn(data, frame, certain, labels, table.design)
    if sample is None or set(frame[sample.selected].tolist()) != set(items):
        raise MisuseError(
            f"the rows of {table.path} are not those that seed {table.design.seed} draws from these keys: rows or"
            " probabilities were changed, or the prompts; only with known probabilities does it say something of all"
        )
    expected = dict(zip(frame.tolist(), sample.probability.tolist(), strict=True))
    for line, item, chance in zip(table.lines, items, chances.tolist(), strict=True):
        if abs(chance - expected[item]) > _ROUNDED * expected[item]:
            raise MisuseError(
                f"{table.path}, {line.place}: probability {line.probability}, but this key was drawn with"
                f" {expected[item]:.6g}; leave the column as it was written"
            )
    shape = len(judgement.posterior)
    wrong, sampled, sure = np.full(shape, np.nan), np.zeros(shape, bool), np.zeros(shape, bool)
    wrong[items] = [np.nan if line.wrong is None else float(line.wrong) for line in table.lines]
    sampled[items], sure[certain] = True, True
    return Judged(wrong, sampled, sure, table.design)


def _chance(line: _Line, path: str) -> float:
    try:
        return float(line.probability.replace(",", "."))  # as spreadsheets of some languages write it
    except ValueError:
        raise MisuseError(f"{path}, {line.place}: probability {line.probability!r} is no number") from None


def judged_rows(
    judged: Judged, judgement: WrongKeys, labels: Sequence[str] | None, threshold: float, level: float
) -> tuple[tuple[JudgedRow, ...], Recalibration]:
    """All that the verdicts say of all keys, and the recalibrated posterior.

    Args:
        threshold: of the list, beside the usual ones.
        level: of the intervals.
    """
    posterior = judgement.posterior
    known = ~np.isnan(posterior)
    weight = _weights(judged, known)
    strata = None if labels is None else np.array(labels, dtype=object)
    fit = recalibrate(posterior, judged.wrong, weight, strata, level=level)
    rows = [_rate(judged, known, level, "wrong_rate", None)]
    for one in sorted({*THRESHOLDS, threshold}):
        rows.append(_rate(judged, known & (posterior >= one), level, "wrong_rate", one))
    slopes = {"intercept": fit.intercept, "slope": fit.slope, "slope_within": fit.within, "slope_between": fit.between}
    rows += [_slope(name, slope) for name, slope in slopes.items() if slope is not None]
    for low, high in zip(_EDGES, _EDGES[1:], strict=False):
        inside = known & (posterior >= low) & ((posterior < high) | (high == 1))
        if inside.any():
            said = float(posterior[inside].mean())
            mean = None if fit.posterior is None else float(fit.posterior[inside].mean())
            rows.append(_rate(judged, inside, level, "calibration", low, expected=said, recalibrated=mean))
    with np.errstate(invalid="ignore", divide="ignore"):
        simple = 1 - judgement.votes_key / judgement.n_answered
    for name, score in (("posterior", posterior), ("share_wrong", np.where(known, simple, np.nan))):
        order = weighted_order(score, judged.wrong, weight, strata)
        values = {"auc": order.overall, "auc_within": order.within, "auc_between": order.between}
        rows += [JudgedRow(figure, score=name, value=one) for figure, one in values.items() if one is not None]
    return tuple(rows), fit


def _weights(judged: Judged, known: Mask) -> Floats:
    """Keys that each judged one stands for, by the verdicts that there are."""
    weight = np.full(len(known), np.nan)
    for part in (judged.certain, ~judged.certain):
        own = known & part
        n = int((own & ~np.isnan(judged.wrong)).sum())
        weight[own] = own.sum() / n if n else np.nan
    return weight


def _rate(
    judged: Judged,
    which: Mask,
    level: float,
    figure: str,
    at: float | None,
    *,
    expected: float | None = None,
    recalibrated: float | None = None,
) -> JudgedRow:
    """The share of wrong keys among some; where verdicts are missing, also if all of these were right, or wrong."""
    sides = [which & part for part in (judged.certain, ~judged.certain)]
    has = ~np.isnan(judged.wrong)
    parts = [(int(s.sum()), int((s & has).sum()), int((s & (judged.wrong == 1)).sum())) for s in sides]
    missing = [int((side & judged.sampled & ~has).sum()) for side in sides]
    found = wrong_rate([JudgedPart(*part) for part in parts], level=level)
    low = high = None
    if sum(missing):
        pairs = list(zip(parts, missing, strict=True))
        low = wrong_rate([JudgedPart(n, m + lost, x) for (n, m, x), lost in pairs], level=level).low
        high = wrong_rate([JudgedPart(n, m + lost, x + lost) for (n, m, x), lost in pairs], level=level).high
    return JudgedRow(
        figure, at=at, value=found.estimate, low=found.low, high=found.high, bound_low=low, bound_high=high,
        n=found.n_items, n_judged=found.n_judged, n_wrong=found.n_wrong, n_missing=sum(missing), expected=expected, recalibrated=recalibrated,
    )  # fmt: skip


def _slope(figure: str, slope: Slope) -> JudgedRow:
    return JudgedRow(
        figure, score="posterior", value=slope.estimate, standard_error=slope.standard_error,
        low=slope.low, high=slope.high,
    )  # fmt: skip
