"""Verdicts of people on keys, read from a table of theirs, and how well a list agrees
with it."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.audit.rows import AuditAgreementRow, EffectRow
from warehouse.analysis.results import part_fields
from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.scored_conditions import (
    ScoredCondition,
    coverage_flags,
    coverage_of,
    is_partial,
)
from warehouse.analysis.selection.scores import PromptScores
from warehouse.errors import InputError, MisuseError, StatisticsError
from warehouse.records.own_files import own_text
from warehouse.stats import PairedDifference, paired_difference
from warehouse.stats.core.sample import find_link, linked
from warehouse.stats.labels.audit import AuditScore, score_audit

#: Columns that may name a prompt, and those that may hold a verdict; the first that is
#: there is taken.
PROMPT_COLUMNS = (
    *(
        "prompt",
        "prompt_id",
        "key",
        "id",
        "question_id",
        "tool_id",
        "doc_id",
        "example_id",
        "sample_id",
        "idx",
    ),
)
VERDICT_COLUMNS = (
    *(
        "wrong",
        "is_wrong",
        "wrong_key",
        "key_wrong",
        "verdict",
        "error_type",
        "label_error",
        "audit",
        "label",
    ),
)
_WRONG = {
    *(
        "1",
        "1.0",
        "true",
        "yes",
        "y",
        "wrong",
        "incorrect",
        "bad",
        "error",
        "wrong key",
        "wrong label",
    ),
    "wrong groundtruth",
}
_RIGHT = {"0", "0.0", "false", "no", "n", "ok", "right", "correct", "good", "sound"}
_OPEN = {
    "",
    "?",
    "-",
    "na",
    "n/a",
    "null",
    "none",
    "nan",
    "unknown",
    "unsure",
    "undecided",
    "not decided",
    "expert",
}


@dataclass(frozen=True)
class HumanVerdicts:
    """Verdicts of people on some prompts."""

    path: str  #: the file.
    column: str  #: that the verdicts are from.
    #: True wrong, False right, None not decided, by what names the prompt.
    by_prompt: dict[str, bool | None]


def read_verdicts(path: str | Path, wrong_is: Sequence[str] = ()) -> HumanVerdicts:
    """The verdicts in a table: CSV (comma, semicolon or tab) with a header, or JSON
    lines.

    Args:
        path: the file. One column names the prompt, one holds the verdict.
        wrong_is: verdicts that mean a wrong key; all others but those of no decision
            mean a right one. None: words such as 1, true, yes, wrong against 0, false,
            no, ok.

    Raises:
        InputError: no such file, no table, no such columns, a word that is no verdict,
            or a prompt with two verdicts.
        MisuseError: none of the verdicts is one of ``wrong_is``.
    """
    rows = table_rows(path)
    if not rows:
        raise InputError(
            "no rows", path=str(path), expected="a header and a row for each prompt"
        )
    columns = {_word(name): name for name in rows[0]}
    prompt = _column(
        columns, PROMPT_COLUMNS, "a column that names the prompt", str(path)
    )
    verdict = _column(columns, VERDICT_COLUMNS, "a column with the verdict", str(path))
    words = {_spoken(word) for word in wrong_is}
    said = [_spoken(row.get(verdict, "")) for row in rows]
    if words and not words & set(said):
        raise MisuseError(
            f"no verdict in {path} is {', '.join(wrong_is)}; column {verdict} has: "
            f"{_some(said)}"
        )
    by_prompt: dict[str, bool | None] = {}
    for line, (row, word) in enumerate(zip(rows, said, strict=True), start=2):
        name = row.get(prompt, "").strip()
        meaning = _meaning(word, words, f"row {line}", str(path), said)
        if name and by_prompt.get(name, meaning) is not meaning:
            raise InputError(
                f"two verdicts of {name!r}",
                path=str(path),
                place=f"row {line}",
                expected="one of each prompt",
            )
        if name:
            by_prompt[name] = meaning
    return HumanVerdicts(str(path), verdict, by_prompt)


def match_verdicts(
    verdicts: HumanVerdicts, prompts: Sequence[Mapping[str, Any]]
) -> tuple[NDArray[np.float64], int]:
    """Verdict of each prompt, 1 wrong, 0 right, NaN none; and how many verdicts are of
    no prompt here.

    Args:
        prompts: rows with ``id``, ``tool_id`` and ``key``.

    Raises:
        MisuseError: not one verdict is of a prompt that is here.
    """
    left = dict(verdicts.by_prompt)
    wrong = np.full(len(prompts), np.nan)
    unmatched = set(left)
    for index, row in enumerate(prompts):
        number = row["id"]
        names = (f"prompt:{number}", row["tool_id"], row["key"], str(number))
        name = next((name for name in names if name in unmatched), None)
        if name is not None:
            verdict = verdicts.by_prompt[name]
            if verdict is None:
                wrong[index] = np.nan
            else:
                wrong[index] = float(verdict)
            left.pop(name, None)
    if len(left) == len(verdicts.by_prompt):
        mine = next((row["tool_id"] or row["key"] for row in prompts), "")
        theirs = next(iter(verdicts.by_prompt), "")
        raise MisuseError(
            f"no prompt of {verdicts.path} is one of these {len(prompts)}: it names "
            f"them as {theirs!r}, the store as 'prompt:{prompts[0]['id']}' or {mine!r}"
        )
    return wrong, len(left)


def agreement(
    posterior: NDArray[np.float64],
    simple: Mapping[str, NDArray[np.float64]],
    wrong: NDArray[np.float64],
    strata: Sequence[str] | None,
    threshold: float,
) -> tuple[tuple[AuditAgreementRow, ...], AuditScore]:
    """How well the list, and simpler ones, agree with the verdicts.

    Args:
        posterior: probability of a wrong key, NaN where a prompt is refused, shape
            (J,).
        simple: other scores by name, shape (J,).
        wrong: verdicts, 1, 0 or NaN, shape (J,).
        strata: label of each prompt, or None.
        threshold: of the list, beside the usual ones.
    """
    thresholds = sorted({0.05, 0.1, 0.2, 0.5, threshold})
    if strata is None:
        labels = None
    else:
        labels = list(strata)
    full = score_audit(posterior, wrong, labels, thresholds=thresholds)
    rows = [*_figures("posterior", full), *_rates(full)]
    for name, score in simple.items():
        rows += _figures(name, score_audit(score, wrong, labels, thresholds=[]))
    return tuple(rows), full


def _figures(score: str, audit_score: AuditScore) -> list[AuditAgreementRow]:
    of = audit_score.overall

    def row(
        figure: str, value: float | None, random: float | None, at: float | None = None
    ) -> AuditAgreementRow:
        return AuditAgreementRow(
            score, figure, at, value, None, None, random, of.n_items, of.n_wrong
        )

    rows = [
        row("auc", of.auc, 0.5),
        row("average_precision", of.average_precision, of.base_rate),
    ]
    rows += [
        row("precision_at", value, of.base_rate, float(k))
        for k, value in audit_score.precision_at.items()
    ]
    within = audit_score.within
    if within is not None and within.n_strata:
        rows.append(row("auc_within", within.auc, 0.5))
        rows.append(
            row(
                "average_precision_within",
                within.average_precision,
                within.random_precision,
            )
        )
        of = within.without_largest or of
        if within.without_largest is not None:
            rows.append(row("auc_without_largest", of.auc, 0.5))
            rows.append(
                row(
                    "average_precision_without_largest",
                    of.average_precision,
                    of.base_rate,
                )
            )
    return rows


def _rates(audit_score: AuditScore) -> list[AuditAgreementRow]:
    rows = []
    for point in audit_score.calibration:
        counts = point.n_listed, point.n_wrong
        for figure, value, low, high in (
            ("expected_fdr", point.expected_fdr, None, None),
            (
                "observed_fdr",
                point.observed_fdr,
                point.observed_low,
                point.observed_high,
            ),
        ):
            rows.append(
                AuditAgreementRow(
                    "posterior",
                    figure,
                    point.threshold,
                    value,
                    low,
                    high,
                    None,
                    *counts,
                )
            )
    return rows


def table_rows(path: str | Path) -> list[dict[str, str]]:
    """The rows of a table as text, nothing where a value is missing: CSV with a header,
    or JSON lines.

    Raises:
        InputError: no such file, or none of either.
    """
    text = own_text(path, "a table as UTF-8", most=500_000_000)
    rows = (
        _json_lines
        if Path(path).suffix in (".jsonl", ".ndjson", ".json")
        else _csv_rows
    )
    records = []
    for row in rows(text, str(path)):
        records.append(
            {
                str(name): "" if value is None else str(value)
                for name, value in row.items()
                if name is not None
            }
        )
    return records


def _csv_rows(text: str, path: str) -> list[dict[Any, Any]]:
    header = text.partition("\n")[0]
    delimiter = max((",", ";", "\t"), key=header.count)
    # prompts may be longer than it
    limit = csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    try:
        return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise InputError(str(error), path=path, expected="CSV with a header") from error
    finally:
        csv.field_size_limit(limit)


def _json_lines(text: str, path: str) -> Iterator[dict[Any, Any]]:
    listed = text.lstrip().startswith("[")
    if listed:
        parts = [(1, text)]
    else:
        parts = [
            (n, line)
            for n, line in enumerate(text.splitlines(), start=1)
            if line.strip()
        ]
    for number, part in parts:
        try:
            document = json.loads(part)
        except ValueError as error:
            raise InputError(
                str(error), path=path, place=f"line {number}", expected="JSON"
            ) from error
        for row in document if listed else [document]:
            if not isinstance(row, dict):
                raise InputError(
                    repr(row)[:60],
                    path=path,
                    place=f"line {number}",
                    expected="an object",
                )
            yield row


def _column(
    columns: Mapping[str, str], names: Sequence[str], what: str, path: str
) -> str:
    for name in names:
        if name in columns:
            return columns[name]
    raise InputError(
        f"columns {', '.join(columns.values())}",
        path=path,
        expected=f"{what}: {', '.join(names)}",
    )


def _meaning(
    word: str, wrong: set[str], location: str, path: str, words: Sequence[str]
) -> bool | None:
    if word in wrong:
        return True
    if word in _OPEN:
        return None
    if wrong:
        return False
    if word in _WRONG | _RIGHT:
        return word in _WRONG
    raise InputError(
        f"verdict {word!r}",
        path=path,
        place=location,
        expected="words such as wrong and ok, 1 and 0",
        advice=(
            f"say which mean a wrong key, --wrong-is VERDICT; there are: {_some(words)}"
        ),
    )


def _some(words: Any) -> str:
    counts = Counter(words).most_common(8)
    return ", ".join(f"{word or 'nothing'} ({n})" for word, n in counts)


def _word(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_").replace(".", "_")


def _spoken(value: str) -> str:
    """A verdict in lower case, with blanks for underscores."""
    return " ".join(value.lower().replace("_", " ").split())


Ids = NDArray[np.int64]


@dataclass(frozen=True)
class _Line:
    """A condition, the scores that stay, and both figures."""

    entry: ScoredCondition
    scores: PromptScores
    kept: NDArray[np.bool_]
    estimate: float
    estimate_kept: float | None
    flags: tuple[str, ...]


def effect_of(
    entries: Sequence[ScoredCondition],
    suspects: Ids,
    heard: Sequence[str],
    clusters: ClusterMap,
    level: float,
) -> tuple[EffectRow, ...]:
    """Every condition with all prompts and without some, the best first.

    The differences are to the condition that leads with all prompts, on the prompts
    that both have.

    Args:
        entries: conditions that can stand side by side, with scores.
        suspects: prompts to leave out, ascending.
        heard: condition keys of the models whose votes found them.
        clusters: for the errors of the differences.
        level: nominal coverage of the intervals.
    """
    whole = coverage_of(entries)
    lines = [
        _line(entry, entry.usable, suspects, coverage_flags(entry, whole))
        for entry in entries
        if entry.usable is not None
    ]
    sign = 1 if lines and lines[0].entry.metric.higher_is_better is False else -1
    ranks = _ranks([line.estimate for line in lines], lines, sign)
    ranks_kept = _ranks([line.estimate_kept for line in lines], lines, sign)
    ordered = sorted(
        range(len(lines)),
        key=lambda i: (
            ranks[i] is None,
            sign * lines[i].estimate,
            lines[i].entry.label,
        ),
    )
    leader = lines[ordered[0]] if ordered else None
    rows = []
    for index in ordered:
        line = lines[index]
        before, after = (
            (None, None)
            if line is leader or leader is None
            else _differences(line, leader, clusters, level)
        )
        rows.append(
            EffectRow(
                model=line.entry.condition.model,
                condition=line.entry.label,
                heard=line.entry.condition.key in heard,
                n_prompts=line.scores.n,
                n_kept=int(line.kept.sum()),
                estimate=line.estimate,
                estimate_kept=line.estimate_kept,
                change=None
                if line.estimate_kept is None
                else line.estimate_kept - line.estimate,
                rank=ranks[index],
                rank_kept=ranks_kept[index],
                **part_fields(before, "difference", "ci_low", "ci_high"),
                **part_fields(
                    after,
                    difference_kept="difference",
                    ci_low_kept="ci_low",
                    ci_high_kept="ci_high",
                ),
                flags=line.flags,
            )
        )
    return tuple(rows)


def _line(
    entry: ScoredCondition, scores: PromptScores, suspects: Ids, flags: tuple[str, ...]
) -> _Line:
    kept = ~np.isin(scores.prompts, suspects)
    figure = _figure(entry, scores, np.ones(scores.n, dtype=bool))
    assert figure is not None  # usable scores are some
    return _Line(entry, scores, kept, figure, _figure(entry, scores, kept), flags)


def _figure(
    entry: ScoredCondition, scores: PromptScores, kept: NDArray[np.bool_]
) -> float | None:
    if not kept.any():
        return None
    return linked(
        find_link(entry.metric.link),
        float(np.average(scores.values[kept], weights=scores.weights[kept])),
    )


def _ranks(
    figures: Sequence[float | None], lines: Sequence[_Line], sign: int
) -> list[int | None]:
    """Places of the rows that cover the whole benchmark; where none does, of all."""
    some_whole = any(not is_partial(line.flags) for line in lines)
    ranked = [
        figure is not None and not (some_whole and is_partial(line.flags))
        for figure, line in zip(figures, lines, strict=True)
    ]
    values = [
        sign * figure
        for figure, is_in in zip(figures, ranked, strict=True)
        if is_in and figure is not None
    ]
    ranks: list[int | None] = []
    for figure, is_in in zip(figures, ranked, strict=True):
        if not is_in or figure is None:
            ranks.append(None)
            continue
        ranks.append(1 + sum(value < sign * figure for value in values))
    return ranks


def _differences(
    line: _Line, leader: _Line, clusters: ClusterMap, level: float
) -> tuple[PairedDifference | None, PairedDifference | None]:
    """To the leader, with all common prompts and with those that are kept."""
    _, own, of_leader = np.intersect1d(
        line.scores.prompts,
        leader.scores.prompts,
        assume_unique=True,
        return_indices=True,
    )
    kept = line.kept[own]
    return (
        _difference(line, leader, own, of_leader, clusters, level),
        _difference(line, leader, own[kept], of_leader[kept], clusters, level),
    )


def _difference(
    line: _Line,
    leader: _Line,
    own: NDArray[np.intp],
    of_leader: NDArray[np.intp],
    clusters: ClusterMap,
    level: float,
) -> PairedDifference | None:
    if not len(own):
        return None
    a, b = line.scores, leader.scores
    uneven = a.uneven_weights is not None or b.uneven_weights is not None
    try:
        weights_a = None
        weights_b = None
        if uneven:
            weights_a = a.weights[own]
            weights_b = b.weights[of_leader]
        return paired_difference(
            a.values[own],
            b.values[of_leader],
            clusters=clusters.labels(a.prompts[own]),
            level=level,
            weights_a=weights_a,
            weights_b=weights_b,
            link=line.entry.metric.link,
            bounds=line.entry.metric.bounds_of(
                min(a.values[own].min(), b.values[of_leader].min()),
                max(a.values[own].max(), b.values[of_leader].max()),
            ),
        )
    except StatisticsError:  # a figure without an error
        return None
