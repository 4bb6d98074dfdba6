"""What people found wrong, read from a table of theirs, and how well a list agrees with it."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.audit.row import AgreementRow
from warehouse.errors import InputError, MisuseError
from warehouse.stats.labels.audit import AuditScore, score_audit

#: Columns that may name a prompt, and those that may hold a verdict; the first that is there is taken.
PROMPT_COLUMNS = (
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
)
VERDICT_COLUMNS = (
    "wrong",
    "is_wrong",
    "wrong_key",
    "key_wrong",
    "verdict",
    "error_type",
    "label_error",
    "audit",
    "label",
)
_WRONG = {
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
    "wrong groundtruth",
}
_RIGHT = {"0", "0.0", "false", "no", "n", "ok", "right", "correct", "good", "sound"}
_OPEN = {"", "?", "-", "na", "n/a", "null", "none", "nan", "unknown", "unsure", "undecided", "not decided", "expert"}


@dataclass(frozen=True)
class Verdicts:
    """What people say of some prompts.

    Attributes:
        path: the file.
        column: that the verdicts are from.
        by_prompt: True wrong, False right, None not decided, by what names the prompt.
    """

    path: str
    column: str
    by_prompt: dict[str, bool | None]


def read_verdicts(path: str | Path, wrong_is: Sequence[str] = ()) -> Verdicts:
    """The verdicts in a table: CSV (comma, semicolon or tab) with a header, or JSON lines.

    Args:
        path: the file. One column names the prompt, one holds the verdict.
        wrong_is: verdicts that mean a wrong key; all others but those of no decision mean a right one.
            None: words such as 1, true, yes, wrong against 0, false, no, ok.

    Raises:
        InputError: no such file, no table, no such columns, a word that is no verdict, or a prompt with
            two verdicts.
        MisuseError: none of the verdicts is one of ``wrong_is``.
    """
    rows = list(_rows(Path(path)))
    if not rows:
        raise InputError("no rows", path=str(path), expected="a header and a row for each prompt")
    columns = {_word(name): str(name) for name in rows[0]}
    prompt = _column(columns, PROMPT_COLUMNS, "a column that names the prompt", str(path))
    verdict = _column(columns, VERDICT_COLUMNS, "a column with the verdict", str(path))
    words = {_spoken(word) for word in wrong_is}
    verdicts = [
        (str(row.get(prompt) or "").strip(), _spoken(row.get(verdict)), line) for line, row in enumerate(rows, start=2)
    ]
    if words and not words & {word for _, word, _ in verdicts}:
        raise MisuseError(
            f"no verdict in {path} is {', '.join(wrong_is)}; column {verdict} has: {_some(w for _, w, _ in verdicts)}"
        )
    by_prompt: dict[str, bool | None] = {}
    for name, word, line in verdicts:
        meaning = _meaning(word, words, f"row {line}", str(path), [w for _, w, _ in verdicts])
        if name and by_prompt.get(name, meaning) is not meaning:
            raise InputError(
                f"two verdicts of {name!r}", path=str(path), place=f"row {line}", expected="one of each prompt"
            )
        if name:
            by_prompt[name] = meaning
    return Verdicts(str(path), verdict, by_prompt)


def match_verdicts(verdicts: Verdicts, prompts: Sequence[Mapping[str, Any]]) -> tuple[NDArray[np.float64], int]:
    """Verdict of each prompt, 1 wrong, 0 right, NaN none; and how many verdicts are of no prompt here.

    Args:
        prompts: rows with ``id``, ``tool_id`` and ``key``.

    Raises:
        MisuseError: not one verdict is of a prompt that is here.
    """
    left = dict(verdicts.by_prompt)
    wrong = np.full(len(prompts), np.nan)
    known = set(left)
    for place, row in enumerate(prompts):
        names = (f"prompt:{row['id']}", row["tool_id"], row["key"], str(row["id"]))
        name = next((name for name in names if name in known), None)
        if name is not None:
            verdict = verdicts.by_prompt[name]
            wrong[place] = np.nan if verdict is None else float(verdict)
            left.pop(name, None)
    if len(left) == len(verdicts.by_prompt):
        mine = next((row["tool_id"] or row["key"] for row in prompts), "")
        theirs = next(iter(verdicts.by_prompt), "")
        raise MisuseError(
            f"no prompt of {verdicts.path} is one of these {len(prompts)}: it names them as {theirs!r}, the store as"
            f" 'prompt:{prompts[0]['id']}' or {mine!r}"
        )
    return wrong, len(left)


def agreement(
    posterior: NDArray[np.float64],
    simple: Mapping[str, NDArray[np.float64]],
    wrong: NDArray[np.float64],
    strata: Sequence[str] | None,
    threshold: float,
) -> tuple[tuple[AgreementRow, ...], AuditScore]:
    """How well the list, and simpler ones, agree with the verdicts.

    Args:
        posterior: probability of a wrong key, NaN where a prompt is refused, shape (J,).
        simple: other scores by name, shape (J,).
        wrong: verdicts, 1, 0 or NaN, shape (J,).
        strata: label of each prompt, or None.
        threshold: of the list, beside the usual ones.
    """
    thresholds = sorted({0.05, 0.1, 0.2, 0.5, threshold})
    labels = None if strata is None else list(strata)
    full = score_audit(posterior, wrong, labels, thresholds=thresholds)
    rows = [*_figures("posterior", full), *_rates(full)]
    for name, score in simple.items():
        rows += _figures(name, score_audit(score, wrong, labels, thresholds=[]))
    return tuple(rows), full


def _figures(score: str, audit_score: AuditScore) -> list[AgreementRow]:
    of = audit_score.overall

    def row(
        figure: str,
        value: float | None,
        random: float | None,
        at: float | None = None,
        n: int = of.n_items,
        w: int = of.n_wrong,
    ) -> AgreementRow:
        return AgreementRow(score, figure, at, value, None, None, random, n, w)

    rows = [row("auc", of.auc, 0.5), row("average_precision", of.average_precision, of.base_rate)]
    rows += [row("precision_at", value, of.base_rate, float(k)) for k, value in audit_score.precision_at.items()]
    within = audit_score.within
    if within is not None and within.n_strata:
        rows.append(row("auc_within", within.auc, 0.5))
        rows.append(row("average_precision_within", within.average_precision, within.random_precision))
        other = within.without_largest
        if other is not None:
            rows.append(row("auc_without_largest", other.auc, 0.5, None, other.n_items, other.n_wrong))
            rows.append(
                row(
                    "average_precision_without_largest",
                    other.average_precision,
                    other.base_rate,
                    None,
                    other.n_items,
                    other.n_wrong,
                )
            )
    return rows


def _rates(audit_score: AuditScore) -> list[AgreementRow]:
    rows = []
    for one in audit_score.calibration:
        n, n_wrong = one.n_listed, one.n_wrong
        ends = (one.observed_low, one.observed_high)
        rows.append(
            AgreementRow("posterior", "expected_fdr", one.threshold, one.expected_fdr, None, None, None, n, n_wrong)
        )
        rows.append(AgreementRow("posterior", "observed_fdr", one.threshold, one.observed_fdr, *ends, None, n, n_wrong))
    return rows


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=str(path), expected="a table as UTF-8") from error
    if path.suffix in (".jsonl", ".ndjson", ".json"):
        yield from _json_lines(text, path)
        return
    header = text.partition("\n")[0]
    delimiter = max((",", ";", "\t"), key=header.count)
    yield from csv.DictReader(text.splitlines(keepends=True), delimiter=delimiter)


def _json_lines(text: str, path: Path) -> Iterator[dict[str, Any]]:
    listed = text.lstrip().startswith("[")
    parts = [(1, text)] if listed else [(n, line) for n, line in enumerate(text.splitlines(), start=1) if line.strip()]
    for number, part in parts:
        try:
            document = json.loads(part)
        except ValueError as error:
            raise InputError(str(error), path=str(path), place=f"line {number}", expected="JSON") from error
        for row in document if listed else [document]:
            if not isinstance(row, dict):
                raise InputError(repr(row)[:60], path=str(path), place=f"line {number}", expected="an object")
            yield row


def _column(columns: Mapping[str, str], wanted: Sequence[str], what: str, path: str) -> str:
    for name in wanted:
        if name in columns:
            return columns[name]
    raise InputError(f"columns {', '.join(columns.values())}", path=path, expected=f"{what}: {', '.join(wanted)}")


def _meaning(word: str, wrong: set[str], place: str, path: str, words: Sequence[str]) -> bool | None:
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
        place=place,
        expected="words such as wrong and ok, 1 and 0",
        advice=f"say which mean a wrong key, --wrong-is VERDICT; there are: {_some(words)}",
    )


def _some(words: Any) -> str:
    counts = Counter(words).most_common(8)
    return ", ".join(f"{word or 'nothing'} ({n})" for word, n in counts)


def _word(name: Any) -> str:
    return str(name).strip().lower().replace(" ", "_").replace("-", "_").replace(".", "_")


def _spoken(value: Any) -> str:
    """A verdict in lower case, with blanks for underscores."""
    if isinstance(value, bool):
        return str(int(value))
    return "" if value is None else " ".join(str(value).lower().replace("_", " ").split())
