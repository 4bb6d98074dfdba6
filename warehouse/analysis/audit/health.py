"""Faults in the data of a store: part by part, with the command that mends it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.audit.question import Audit
from warehouse.analysis.audit.report import BLIND
from warehouse.analysis.selection.benchmarks import direction_unknown
from warehouse.errors import MisuseError, StatisticsError
from warehouse.records import parse_json
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

Row = dict[str, Any]

#: Rows of a part that are shown.
MOST = 50
#: Scores from which on published figures are recomputed only where that is asked for.
MANY_SCORES = 1_000_000
#: Models that must have answered a benchmark for its keys to be suspected by their
#: answers.
FEWEST_MODELS = 5


@dataclass(frozen=True)
class HealthPart:
    """One thing that may be wrong."""

    name: str  #: of the part, for links.
    title: str  #: in words.
    meaning: str  #: what it does to figures, and what to do.
    #: what was found, the worst or the newest first; ``command`` mends it.
    rows: tuple[Row, ...]
    #: how many there are; None where that takes long, and was not asked for.
    n: int | None

    @property
    def columns(self) -> list[str]:
        """Names of what rows have, the command left out, and what says nothing in any
        of them."""
        names = {}
        if self.rows:
            names = self.rows[0]
        telling = []
        for name in names:
            if name != "command" and any(
                row[name] not in (None, "", 0) for row in self.rows
            ):
                telling.append(name)
        return telling


#: What a note says that the command lacked.
_DEFAULT = re.compile(r"--default [\w=/]+")

#: Name, title and meaning of each part, in the order of what to look at first.
_PARTS = {
    "refused": (
        "Sources and rows that were refused",
        "What could not be read counts nowhere. Mend the file, then read it again.",
    ),
    "left_out": (
        "Runs that are left out, or cover less than they say",
        "Invalidated runs stand in no view; a truncated run stands on the prompts that "
        "it has.",
    ),
    "truncated": (
        "Responses that a limit ended",
        "A response that was cut says little of the model. Ask again with a higher "
        "limit; a run of which most were cut can be taken out until then.",
    ),
    "unscored": (
        "Samples without a score",
        "Missing is not zero: these are in no mean. If many are missing, the others "
        "are no fair sample.",
    ),
    "published": (
        "Published figures that the samples do not give",
        "contradicts: the samples give another figure; null_as_worst: missing scores "
        "were counted as the worst; truncated: there are fewer samples than the figure "
        "is of.",
    ),
    "directions": (
        "Metrics of unknown direction",
        "Nobody is first where nobody has said whether higher is better. The command "
        "says that it is; --lower-is-better says the opposite.",
    ),
    "shared": (
        "Benchmarks that share prompts",
        "Prompts of the same text are not evidence twice. Means over benchmarks pair "
        "them; a link joins them.",
    ),
    "shared_votes": (
        "Votes that two sources hold",
        "The same voters on the same answers: they count twice until one of the "
        "sources is removed.",
    ),
    "keys": (
        "Benchmarks whose keys can be judged",
        "A recorded answer against which many models agree is probably wrong. Choose a "
        "benchmark: its answers are read then.",
    ),
    "superseded": (
        "Runs that others have taken the place of",
        "They stand in no view, and nothing is to be mended: the command shows the run "
        "that counts.",
    ),
}


_SIZE = (
    "select sum(n_scores) as n_scores, (select count(*) from published_score) as "
    "n_published from run"
)


def read_health(
    store: Store, *, part: str | None = None, audit: str | None = None
) -> list[HealthPart]:
    """Faults in the data of a store, by part (MisuseError: there is no such part or
    benchmark).

    Args:
        part: only this one; None for all.
        audit: benchmark whose keys are judged.
    """
    if part is not None and part not in _PARTS:
        raise MisuseError(
            f"no part of the data is called {part!r}; there are: {', '.join(_PARTS)}"
        )
    if part is not None:
        return [_part(store, part, audit)]
    (size,) = store.rows(_SIZE)
    parts = [_part(store, name, audit) for name in _PARTS if name != "published"]
    if size["n_published"]:
        late = (size["n_scores"] or 0) > MANY_SCORES
        if late:
            found = HealthPart("published", *_PARTS["published"], (), None)
        else:
            found = _part(store, "published", audit)
        parts.insert([*_PARTS].index("published"), found)
    return parts


def _part(store: Store, name: str, audit: str | None) -> HealthPart:
    title, meaning = _PARTS[name]
    if name == "keys" and audit is not None:
        suspects, n_listed, note = _suspects(store, audit)
        return HealthPart(
            name, f"Keys that are probably wrong: {audit}", note, suspects, n_listed
        )
    command = _COMMANDS[name]
    rows, n = _found(store, name)
    return HealthPart(
        name, title, meaning, tuple(row | {"command": command(row)} for row in rows), n
    )


#: Room, name and parameters of the query of each part; some count in ``n_all`` what
#: they leave out.
_QUERIES: dict[str, tuple[str, str, dict[str, int]]] = {
    "refused": ("analysis", "health_sources", {"most": MOST}),
    "left_out": ("analysis/audit", "health_left_out", {"most": MOST, "replaced": 0}),
    "truncated": ("analysis/audit", "health_truncated", {"most": MOST}),
    "unscored": ("analysis", "report_unscored", {}),
    "published": ("analysis/audit", "health_published", {"most": MOST}),
    "directions": ("analysis/audit", "health_directions", {"most": MOST}),
    "shared": ("store", "shared_benchmarks", {"first_run": 0, "linked": 0}),
    "shared_votes": ("store", "shared_votes", {"sources": 0, "of_all": 1}),
    "keys": ("analysis/audit", "health_keys", {"fewest": FEWEST_MODELS}),
    "superseded": ("analysis/audit", "health_left_out", {"most": MOST, "replaced": 1}),
}


def _found(store: Store, name: str) -> tuple[list[Row], int]:
    """The first rows of a part, and how many there are in all."""
    room, query, params = _QUERIES[name]
    rows = store.rows(query_text(room, query), params)
    n = 0
    if rows:
        n = int(rows[0].get("n_all", len(rows)))
    for row in rows[:MOST]:
        row.pop("n_all", None)
        if "notes" in row:
            if isinstance(row["notes"], str):
                notes = parse_json(row["notes"])
            else:
                notes = row["notes"]
            note = None
            if isinstance(notes, list) and notes:
                note = str(notes[0])
            row["notes"] = note and note.removeprefix(f"{row['path']}: ")
    return rows[:MOST], n


def _suspects(store: Store, benchmark: str) -> tuple[tuple[Row, ...], int, str]:
    """The suspected keys of a benchmark, how many there are, and what to know of them."""
    try:
        report = Audit(benchmark).ask(store)
    except StatisticsError as error:
        raise MisuseError(f"{benchmark}: {error}") from None
    listed = [row for row in report.rows if row.listed]
    names = (
        "prompt",
        "key",
        "posterior",
        "recorded",
        "rival",
        "votes_key",
        "votes_rival",
        "n_models",
        "text",
    )
    command = shlex.join(["warehouse", "items", "audit", benchmark])
    rows = []
    for row in listed[:MOST]:
        told = {name: getattr(row, name) for name in names}
        rows.append(told | {"command": command})
    return (
        tuple(rows),
        len(listed),
        f"{report.one_line}. {BLIND[0].upper()}{BLIND[1:]}.",
    )


def _ingest(row: Row) -> str:
    if row["state"] == "loaded":
        what = ["list", "sources", f"{row['source_id']}"]
    else:
        what = ["ingest", row["path"]]
    more = []
    if row["state"] != "loaded":
        more = _DEFAULT.findall(row["notes"] or "")
    return " ".join([shlex.join(["warehouse", *what]), *more[:1]])


def _direction(row: Row) -> str:
    label = ",".join(filter(None, (row["metric"], row["metric_filter"])))
    return direction_unknown(label, row["benchmark"]).partition(": ")[2]


def _cut(row: Row) -> str:
    if 2 * row["n_truncated"] <= row["n_responses"]:
        return f"warehouse show run:{row['run_id']}"
    reason = f"{row['n_truncated']} of {row['n_responses']} responses were cut"
    return shlex.join(
        ["warehouse", "fix", "invalidate", f"run:{row['run_id']}", "--reason", reason]
    )


_COMMANDS: dict[str, Callable[[Row], str]] = {
    "refused": _ingest,
    "left_out": lambda row: f"warehouse show run:{row['run_id']}",
    "superseded": lambda row: f"warehouse show run:{row['superseded_by']}",
    "truncated": _cut,
    "unscored": lambda row: f"warehouse query unscored_samples -p run={row['run_id']}",
    "published": lambda row: shlex.join(
        [
            "warehouse",
            "query",
            "published_differences",
            "-p",
            f"benchmark={row['benchmark']}",
        ]
    ),
    "directions": _direction,
    "shared": lambda row: shlex.join(
        ["warehouse", "fix", "link", row["benchmark"], row["other"]]
    ),
    "shared_votes": lambda row: f"warehouse fix forget {row['source_id']}",
    "keys": lambda row: shlex.join(["warehouse", "items", "audit", row["benchmark"]]),
}
