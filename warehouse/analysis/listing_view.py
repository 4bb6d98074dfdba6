"""Lists of what a store holds, as people are shown them: which fields, and which a
narrow page does without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from warehouse.analysis.selection.listed_runs import ListedRun
from warehouse.tables.units import Unit
from warehouse.tables.view import Table
from warehouse.tables.words import WrittenNumber

_OF_MODELS = ("family", "developer", "parameter_count", "release_date")
_OF_BENCHMARKS = ("version", "clustering", "parent", "n_models")
_RUN_COLUMNS = (
    *("run_id", "model", "condition", "training_seed", "benchmark", "split", "score"),
    *(
        "n_scores",
        "status",
        "started_at",
        "file",
        "checkpoint",
        "agent",
        "tags",
        "note",
    ),
)
#: Columns of runs that are left out where they say nothing, or the same of all.
_RUN_MAY_BE_EMPTY = (
    *("settings", "seed", "checkpoint", "agent", "split", "score", "when", "file"),
    *("status", "replaced by", "tags", "note"),
)
#: Columns of runs that a narrow terminal does without, the first of them first.
_MINOR_RUN_COLUMNS = (
    *("agent", "checkpoint", "split", "status", "note", "when", "questions", "seed"),
    *("file", "settings"),
)
#: Parts of a path that a list shows.
_PATH_PARTS = 2
_SOURCE_COLUMNS = (
    *(
        "source_id",
        "path",
        "format",
        "state",
        "n_runs",
        "n_seen_again",
        "n_superseded",
        "n_samples",
        "n_scores",
    ),
    *("n_votes", "n_rejected", "n_current", "loaded_at"),
)
_DECLARED = (
    *("about", "benchmark", "subject", "said", "wrong_value"),
    *("digest", "declared_at"),
)
_MINOR_SOURCE_COLUMNS = (
    *(
        "n_seen_again",
        "n_superseded",
        "n_scores",
        "n_votes",
        "n_samples",
        "n_current",
        "n_rejected",
        "format",
    ),
    "loaded_at",
)
#: How a list of each kind of record is shown: its fields, those that are left out where
#: they say nothing, and those that a narrow page does without, the first of them first.
_LOOKS: dict[str, dict[str, Sequence[str]]] = {
    "Declaration": {
        "shown": _DECLARED,
        "hide_empty": ("said", "wrong_value", "digest"),
        "minor": ("digest", "wrong_value"),
    },
    "ModelEntry": {
        "hide_empty": _OF_MODELS,
        "counts": ("n_votes",),
        "minor": _OF_MODELS,
    },
    "BenchmarkEntry": {
        "hide_empty": ("parent", "version", "clustering"),
        "counts": ("n_votes", "n_benchmarks"),
        "minor": _OF_BENCHMARKS,
    },
    "ListedRun": {"shown": _RUN_COLUMNS},
    "SourceEntry": {
        "shown": _SOURCE_COLUMNS,
        "counts": ("n_votes",),
        "minor": _MINOR_SOURCE_COLUMNS,
    },
}


def look_of(
    kind: str, entries: Sequence[Any], *, everything: bool = False
) -> dict[str, Any]:
    """How records are shown; names without what each is shown as where all keep their
    own.

    Args:
        kind: name of the records' class.
        entries: the records.
        everything: runs that were superseded are among them.
    """
    look = _LOOKS[kind]
    further = ("superseded_by",) if everything else ()
    if "shown" in look:
        return look | {"shown": (*look["shown"], *further)}
    own = []
    if entries:
        own = [item.name for item in fields(entries[0])]
    renamed = any(getattr(entry, own[0]) != entry.shown_as for entry in entries)
    return look | {"shown": [name for name in own if renamed or name != "shown_as"]}


def shown_of(entry: Any, name: str) -> Any:
    """A field of a record as a table has it: what a suite has none of itself is not 0
    there."""
    value = getattr(entry, name)
    if value != 0 or not hasattr(entry, "n_benchmarks"):
        return value
    is_suite = entry.n_benchmarks > 0
    if name == "n_benchmarks" or (is_suite and name in OF_LEAVES):
        return None
    return value


#: Counts of benchmarks that a suite of them has none of.
OF_LEAVES = ("n_prompts", "n_runs", "n_models")


def _score(run: ListedRun, unit: Unit) -> Any:
    """The figure of a run; where several scorers gave one, how many did."""
    if run.n_scorers > 1:
        return WrittenNumber(f"by {run.n_scorers} scorers")
    return unit.figure(run.score)


def runs_table(runs: Sequence[ListedRun]) -> Table:
    """A row for each run: what it is, its score, and the file that it came from."""
    units = {}
    for is_share in (True, False):
        alike = [run.standard_error for run in runs if run.is_share == is_share]
        units[is_share] = Unit.of(alike, in_percent=is_share)
    cells = []
    for run in runs:
        cells.append(
            {
                "run": run.run_id,
                "model": run.model,
                "settings": _settings(run),
                "seed": _seed(run),
                "checkpoint": run.checkpoint,
                "agent": run.agent,
                "benchmark": run.benchmark,
                "split": run.split,
                "score": _score(run, units[run.is_share]),
                "questions": _questions(run),
                "when": run.started_at and f"{run.started_at:%Y-%m-%d %H:%M}",
                "file": _short(run.file),
                "status": "" if run.status == "complete" else run.status,
                "replaced by": run.superseded_by,
                "tags": run.tags,
                "note": run.note,
            }
        )
    for name in ("split", "checkpoint"):
        if len({own[name] for own in cells}) == 1:
            for own in cells:
                del own[name]
    return Table.of(
        cells,
        empty="no such runs",
        hide_empty=_RUN_MAY_BE_EMPTY,
        minor=_MINOR_RUN_COLUMNS,
    )


def _questions(run: ListedRun) -> int | str | None:
    """How many questions a run has, and on how many its figure rests where these are
    fewer."""
    if run.score is None or not run.n_scored or not run.n_found:
        return run.n_found
    if run.n_scored >= run.n_found:
        return run.n_found
    return f"{run.n_scored} of {run.n_found}"


def _seed(run: ListedRun) -> str:
    """The seed that tells a run from others: of its training, or of its sampling."""
    if run.training_seed:
        return run.training_seed
    if run.sampling_seed is None:
        return ""
    return str(run.sampling_seed)


def _settings(run: ListedRun) -> str:
    """What sets a run apart, but for what a column of its own says."""
    parts = run.condition.split(", ")
    return ", ".join(part for part in parts if not part.startswith("training_seed="))


def _short(path: str) -> str:
    """The last parts of a path."""
    parts = path.replace("\\", "/").split("/")
    if len(parts) <= _PATH_PARTS:
        return path
    return "/".join(("…", *parts[-_PATH_PARTS:]))


def listing_table(entries: Sequence[Any]) -> Table:
    """A row for each record of one kind."""
    if isinstance(entries[0], ListedRun):
        return runs_table(entries)
    look = look_of(type(entries[0]).__name__, entries)
    names = tuple(look.pop("shown"))
    rows = []
    for entry in entries:
        rows.append(tuple(shown_of(entry, name) for name in names))
    return Table(names, tuple(rows), **look)
