"""A random sample of a benchmark's keys as a table for people to judge, and what their
verdicts say of all keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.audit.against import read_verdicts, table_rows
from warehouse.analysis.audit.rows import JudgedRow, SampleRow
from warehouse.analysis.audit.votes import AuditData
from warehouse.analysis.selection.prompts import options
from warehouse.errors import InputError, MisuseError
from warehouse.stats.labels.audit import THRESHOLDS
from warehouse.stats.labels.audit_sample import (
    AuditSample,
    JudgedPart,
    Recalibration,
    WrongRate,
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
    """How a sample was drawn."""

    seed: int  #: of the draw.
    size: int  #: keys of the sample.
    certain: int  #: the most suspect of them, which are in it for certain.
    keys: int  #: those that could be judged then.
    strata: str | None  #: field that the sample is spread over; None without.

    def __str__(self) -> str:
        return (
            f"seed={self.seed} size={self.size} certain={self.certain} "
            f"keys={self.keys} strata={self.strata or ''}"
        )


def draw_rows(
    data: AuditData,
    judgement: WrongKeys,
    labels: Sequence[str] | None,
    design: SampleDesign,
    benchmark: str,
) -> tuple[SampleRow, ...]:
    """The sample, in random order, without what the models say: who judges should not
    know.

    Raises:
        StatisticsError: a size that is none.
    """
    frame = np.flatnonzero(~np.isnan(judgement.posterior))
    most = frame[np.argsort(-judgement.posterior[frame], kind="stable")][
        : design.certain
    ]
    sample = _drawn(data, frame, most, labels, design)
    names = _names(data, frame)
    items = sorted(
        np.flatnonzero(sample.selected).tolist(),
        key=lambda i: hashed("order", design.seed, [names[i]])[0],
    )
    return tuple(
        SampleRow(
            benchmark=benchmark,
            sample=str(design),
            key=names[item],
            id=str(data.prompts[frame[item]]["tool_id"] or ""),
            stratum=None if labels is None else labels[frame[item]],
            probability=float(sample.probability[item]),
            question=str(data.prompts[frame[item]]["text"] or ""),
            options="\n".join(_lettered(data, int(frame[item]))),
            recorded=data.recorded(int(frame[item])) or "",
            wrong="",
        )
        for item in items
    )


def _drawn(
    data: AuditData,
    frame: NDArray[np.intp],
    certain: NDArray[np.intp],
    labels: Sequence[str] | None,
    of: SampleDesign,
) -> AuditSample:
    """The sample of the keys that can be judged, certain ones by their number in the
    data."""
    if labels is None:
        strata = None
    else:
        strata = [labels[item] for item in frame.tolist()]
    numbers = np.flatnonzero(np.isin(frame, certain))
    return draw_audit_sample(
        _names(data, frame), of.size, certain=numbers, strata=strata, seed=of.seed
    )


def _names(data: AuditData, frame: NDArray[np.intp]) -> list[str]:
    """Names of prompts in every store."""
    rows = (data.prompts[item] for item in frame.tolist())
    return [f"{row['split']}:{row['key']}:{row['occurrence']}" for row in rows]


def _lettered(data: AuditData, item: int) -> Iterator[str]:
    for index, text in enumerate(options(data.prompts[item]["choices"])):
        yield f"{chr(ord('A') + index) if index < 26 else index}. {text}"


@dataclass(frozen=True)
class JudgedTable:
    """A sample as people filled it in."""

    path: str  #: of the file.
    design: SampleDesign  #: how the sample was drawn.
    #: where each stands, its key and the probability that stands there.
    rows: tuple[tuple[str, str, str], ...]
    #: True wrong, False right, None without one, by key.
    verdicts: Mapping[str, bool | None]


def read_judged(
    path: str | Path, benchmark: str, wrong_is: Sequence[str]
) -> JudgedTable:
    """The table that people filled in, as far as it can be looked at without a store.

    Raises:
        InputError: not a sample's table, that of another benchmark, rows lost, or a
            word that is no verdict.
    """
    rows, name = table_rows(path), str(path)
    lacking = sorted(set(SampleRow.columns()) - set(rows[0] if rows else ()))
    match = None if lacking else _WRITTEN.fullmatch(rows[0]["sample"])
    if match is None:
        found = (
            f"no column {lacking[0]}" if lacking else f"sample {rows[0]['sample']!r}"
        )
        expected = "the table that audit --sample wrote, with verdicts"
        raise InputError(
            found,
            path=name,
            expected=expected,
            advice="verdicts from elsewhere: --against FILE",
        )
    numbered = [f"row {number}" for number in range(2, len(rows) + 2)]
    for line, row in zip(numbered, rows, strict=True):
        for column, same in (("benchmark", benchmark), ("sample", match[0])):
            if row.get(column) != same:
                raise InputError(
                    f"{column} {row.get(column)!r}",
                    path=name,
                    place=line,
                    expected=f"{same!r}",
                )
    seed, size, certain, keys = map(int, match.groups()[:4])
    if len(rows) != size:
        advice = "leave rows without a verdict in the table: they are counted"
        raise InputError(
            f"{len(rows)} rows",
            path=name,
            expected=f"the {size} of the sample",
            advice=advice,
        )
    verdicts = read_verdicts(path, wrong_is).by_prompt
    if all(verdict is None for verdict in verdicts.values()):
        raise InputError(
            "no verdict",
            path=name,
            expected="1 or 0, or such words, in the column wrong",
        )
    lines = tuple(
        (line, row.get("key", ""), row.get("probability", ""))
        for line, row in zip(numbered, rows, strict=True)
    )
    return JudgedTable(
        name, SampleDesign(seed, size, certain, keys, match[5] or None), lines, verdicts
    )


@dataclass(frozen=True, eq=False)
class Judged:
    """Verdicts beside all keys of a benchmark."""

    wrong: Floats  #: 1, 0, NaN without a verdict, shape (J,).
    sampled: Mask  #: in the sample, shape (J,).
    certain: Mask  #: in it for certain.


def match_judged(
    table: JudgedTable,
    data: AuditData,
    judgement: WrongKeys,
    labels: Sequence[str] | None,
) -> Judged:
    """The verdicts, if the table is what this seed draws from these keys.

    Raises:
        MisuseError: other keys than then, or a table whose rows or probabilities were
            changed.
    """
    frame, design = np.flatnonzero(~np.isnan(judgement.posterior)), table.design
    if len(frame) != design.keys:
        raise MisuseError(
            f"{table.path} is a sample of {design.keys} keys, and {len(frame)} can be "
            "judged now: ask with the same --metric, --where and --options as then, or "
            "draw another sample"
        )
    item_of = dict(zip(_names(data, frame), frame.tolist(), strict=True))
    chances: dict[int, float] = {}
    for line, key, written in table.rows:
        try:
            # as spreadsheets of some languages write it
            chances[item_of[key]] = float(written.replace(",", "."))
        except KeyError:
            raise MisuseError(
                f"{table.path}, {line}: no key {key!r} in this benchmark"
            ) from None
        except ValueError:
            raise MisuseError(
                f"{table.path}, {line}: probability {written!r} is no number"
            ) from None
    # Where all are drawn each has the chance 1, and none need be told apart.
    sure = [
        item
        for item, chance in chances.items()
        if chance == 1 and design.size < len(frame)
    ]
    fits = len(sure) == (design.certain if design.size < len(frame) else 0)
    sample = None
    if fits:
        sample = _drawn(data, frame, np.array(sure, np.intp), labels, design)
    if sample is None or set(frame[sample.selected].tolist()) != set(chances):
        raise MisuseError(
            f"the rows of {table.path} are not those that seed {design.seed} draws "
            "from these keys: rows or probabilities were changed, or the prompts; only "
            "with known probabilities does it say something of all"
        )
    drawn_with = dict(zip(frame.tolist(), sample.probability.tolist(), strict=True))
    wrong, certain = (
        np.full(len(judgement.posterior), np.nan),
        np.zeros(len(judgement.posterior), bool),
    )
    sampled, certain[sure] = certain.copy(), True
    for line, key, written in table.rows:
        item, verdict = item_of[key], table.verdicts.get(key)
        # NaN too
        if not abs(chances[item] - drawn_with[item]) <= _ROUNDED * drawn_with[item]:
            raise MisuseError(
                f"{table.path}, {line}: probability {written}, but this key was drawn "
                f"with {drawn_with[item]:.6g}; leave the column as it was written"
            )
        sampled[item] = True
        wrong[item] = np.nan if verdict is None else float(verdict)
    return Judged(wrong, sampled, certain)


def judged_rows(
    judged: Judged,
    judgement: WrongKeys,
    labels: Sequence[str] | None,
    threshold: float,
    level: float,
) -> tuple[tuple[JudgedRow, ...], Recalibration]:
    """All that the verdicts say of all keys, and the recalibrated posterior.

    Args:
        threshold: of the list, beside the usual ones.
        level: of the intervals.
    """
    posterior = judgement.posterior
    has_posterior = ~np.isnan(posterior)
    weight = _weights(judged, has_posterior)
    strata = None if labels is None else np.array(labels, dtype=object)
    fit = recalibrate(
        posterior, judged.wrong, weight, certain=judged.certain, level=level
    )
    rows = [_rate(judged, has_posterior, level, "wrong_rate", None)]
    for cut in sorted({*THRESHOLDS, threshold}):
        rows.append(
            _rate(judged, has_posterior & (posterior >= cut), level, "wrong_rate", cut)
        )
    if fit.coefficients is not None and fit.errors is not None and fit.t is not None:
        for name, value, error in zip(
            ("intercept", "slope"),
            fit.coefficients.tolist(),
            fit.errors.tolist(),
            strict=True,
        ):
            ends = value - fit.t * error, value + fit.t * error
            rows.append(
                JudgedRow(
                    name,
                    score="posterior",
                    value=value,
                    standard_error=error,
                    low=ends[0],
                    high=ends[1],
                )
            )
    for low, high in zip(_EDGES, _EDGES[1:], strict=False):
        inside = has_posterior & (posterior >= low) & ((posterior < high) | (high == 1))
        if inside.any():
            said = float(posterior[inside].mean())
            mean = None
            if fit.posterior is not None:
                mean = float(fit.posterior[inside].mean())
            rows.append(_rate(judged, inside, level, "calibration", low, said, mean))
    with np.errstate(invalid="ignore", divide="ignore"):
        simple = 1 - judgement.votes_key / judgement.n_answered
    for name, score in (
        ("posterior", posterior),
        ("share_wrong", np.where(has_posterior, simple, np.nan)),
    ):
        order = weighted_order(score, judged.wrong, weight, strata)
        rows += [
            JudgedRow(figure, score=name, value=value)
            for figure, value in order.items()
        ]
    return tuple(rows), fit


def _weights(judged: Judged, has_posterior: Mask) -> Floats:
    """Keys that each judged one stands for, by the verdicts that there are."""
    weight = np.full(len(has_posterior), np.nan)
    for part in (judged.certain, ~judged.certain):
        own = has_posterior & part
        n = int((own & ~np.isnan(judged.wrong)).sum())
        if n:
            weight[own] = own.sum() / n
        else:
            weight[own] = np.nan
    return weight


def _rate(
    judged: Judged,
    which: Mask,
    level: float,
    figure: str,
    at: float | None,
    said: float | None = None,
    now: float | None = None,
) -> JudgedRow:
    """The share of wrong keys among some; where verdicts are missing, also if all of
    these were right, or wrong."""
    has = ~np.isnan(judged.wrong)
    wrong = judged.wrong == 1
    sides = [which & part for part in (judged.certain, ~judged.certain)]
    counts = np.array(
        [
            [
                s.sum(),
                (s & has).sum(),
                (s & wrong).sum(),
                (s & judged.sampled & ~has).sum(),
            ]
            for s in sides
        ]
    )
    keys, n_judged, n_wrong, missing = counts.T.tolist()

    def share(added: Sequence[int], found: Sequence[int]) -> WrongRate:
        parts = zip(keys, n_judged, n_wrong, added, found, strict=True)
        return wrong_rate(
            [JudgedPart(n, m + a, x + b) for n, m, x, a, b in parts], level=level
        )

    rate = share([0, 0], [0, 0])
    lost = sum(missing)
    bound_low = None
    if lost:
        bound_low = share(missing, [0, 0]).low
    return JudgedRow(
        figure, at=at, value=rate.estimate, low=rate.low, high=rate.high,
        bound_low=bound_low,
        bound_high=share(missing, missing).high if lost else None,
        expected=said, recalibrated=now, n=sum(keys), n_judged=sum(n_judged), n_wrong=sum(n_wrong), n_missing=lost,
    )  # fmt: skip
