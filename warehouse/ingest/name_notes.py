"""Notes on models, benchmarks and prompts that two sources name alike, but not the
same."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.ingest.report import MOST_NAMED, some
from warehouse.store.connection import Store
from warehouse.store.load.state import LoadReport
from warehouse.store.sql.query_files import query_text


def notes_on_named(
    store: Store, reports: Sequence[LoadReport], model: str | None
) -> list[str]:
    """Which files became repeats of one model because the user named it for all of
    them."""
    new = [
        min(report.run_ids) for report in reports if report.run_ids and report.n_runs
    ]
    if model is None or len(new) < 2 or not any(report.n_repeats for report in reports):
        return []
    rows = store.rows(
        query_text("store", "sources_of_one_model"),
        {"first_run": min(new), "model": model},
    )
    if not rows:
        return []
    forget = " && ".join(
        f"warehouse fix forget {row['source_id']}" for row in rows[:MOST_NAMED]
    )
    return [
        f"{some([row['path'] for row in rows])} became repeats of one model, {model}, "
        f"which you named for all; if each is another model: {forget}, then name each "
        "by itself, or with a mapping from its file's name (`warehouse mapping FILE` "
        "offers the pattern)"
    ]


def last_ids(store: Store) -> dict[str, int]:
    """The last id of what notes ask about: which of it is new."""
    columns = ", ".join(
        f"(select coalesce(max(id), 0) from {kind}) as {kind}"
        for kind in ("prompt", "model", "benchmark")
    )
    return dict(store.rows(f"select {columns}")[0])


def notes_on_names(
    store: Store, before: Mapping[str, int], after: Mapping[str, int]
) -> list[str]:
    """Which new models and benchmarks differ from others in nothing but how their names
    are written."""
    notes = []
    for kind in ("model", "benchmark"):
        alike: dict[str, list[Mapping[str, Any]]] = {}
        select = f"select id, name from {kind} where canonical_id is null order by id"
        for row in store.rows(select) if after[kind] > before[kind] else ():
            alike.setdefault(_plain_name(row["name"]), []).append(row)
        twins = [
            found
            for found in alike.values()
            if len(found) > 1 and found[-1]["id"] > before[kind]
        ]
        names = []
        for found in twins:
            own = [str(row["name"]) for row in found]
            owners = {name.casefold().rpartition("/")[0] for name in own}
            if len(owners - {""}) < 2:
                names.append(own)
        if names:
            way = (
                f"warehouse fix alias {shlex.quote(names[0][-1])} "
                f"{shlex.quote(names[0][0])}"
            )
            pairs = [f"{found[-1]!r} and {found[0]!r}" for found in names]
            shown = some(pairs)
            notes.append(
                f"{kind}s that differ only in how they are written: {shown}; if two "
                f"are one: {way}"
            )
    return notes


def _plain_name(name: str) -> str:
    """A name without its organisation, case and marks, but for those between digits
    (``3-5`` is ``3.5``, not ``35``) and those that tell apart: ``humaneval+`` is not
    ``humaneval``."""
    last = unicodedata.normalize("NFKC", name).casefold().rpartition("/")[2]
    marks = r"(?:[^\w+#]|_)+"
    return re.sub(
        rf"(?<=\d){marks}(?=\d)",
        ".",
        re.sub(rf"{marks}(?!\d)|(?<!\d){marks}", "", last),
    )


def notes_on_ids(
    store: Store, reports: Sequence[LoadReport], before: int, after: int
) -> list[str]:
    """Which benchmarks have prompts after those ``before`` whose ids others write
    otherwise (``1`` and ``1.0``), where that makes at least half of what they have more
    than their largest run; which have models that share none."""
    new = [
        min(report.run_ids) for report in reports if report.run_ids and report.n_runs
    ]
    if (
        not new
        or after == before
        or not store.rows(query_text("store", "may_be_apart"), {"last_prompt": before})
    ):
        return []
    alike: dict[tuple[str, str, int], dict[str, dict[str, int]]] = {}
    sizes = {"last_prompt": before, "most_prompts": _MOST_PROMPTS}
    for row in store.rows(query_text("store", "prompt_ids_apart"), sizes):
        by_plain = alike.setdefault((row["benchmark"], row["split"], row["n_more"]), {})
        keys = by_plain.setdefault(_plain(row["key"]), {})
        keys.setdefault(row["key"], row["id"])
    notes: dict[tuple[str, str], str] = {}
    for (benchmark, split, n_more), by_plain in alike.items():
        twins = [ids for ids in by_plain.values() if len(ids) > 1]
        if 2 * len(twins) < max(n_more, 1):
            continue
        (both,) = store.rows(
            query_text("store", "runs_with_both"), {"prompts": [*twins[0].values()]}
        )
        if not both["n"]:
            notes[benchmark, split] = _on_ids(benchmark, len(twins), *sorted(twins[0]))
    of_split: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in store.rows(
        query_text("store", "models_apart"),
        {"first_run": min(new), "last_prompt": before},
    ):
        of_split.setdefault((row["benchmark"], row["split"]), []).append(row)
    for benchmark_split, rows in of_split.items():
        pair = _lone_pair(rows)
        if pair is not None:
            notes.setdefault(benchmark_split, _on_lone(*pair, sum(map(_is_lone, rows))))
    return [*notes.values()]


#: Prompts of a model below which others may well be others by design.
_FEWEST_ALONE = 5


def _lone_pair(
    rows: Sequence[Mapping[str, Any]],
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """The first model that shares next to no prompt, and one that has as many."""
    for lone in filter(_is_lone, rows):
        for other in rows:
            if lone is not other and _are_of_one_size(lone, other):
                return lone, other
    return None


def _is_lone(row: Mapping[str, Any]) -> bool:
    """True if a model has next to no prompt that another has."""
    return bool(
        row["n_found"] >= _FEWEST_ALONE and 20 * row["n_own"] >= 19 * row["n_found"]
    )


def _are_of_one_size(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """True if two models have about as many prompts, as they have of the same
    questions."""
    few, many = sorted((a["n_found"], b["n_found"]))
    return bool(5 * few >= 4 * many)


def _on_lone(row: Mapping[str, Any], other: Mapping[str, Any], n_lone: int) -> str:
    more = ""
    if n_lone > 2:
        more = f", nor do {n_lone - 2} more models with others"
    return (
        f"{row['benchmark']}: {row['model']} ({row['n_found']} prompts) and "
        f"{other['model']} ({other['n_found']}) share next to none{more}, so that "
        "nothing compares them; if these are the same questions, their ids do not say "
        "so (rows numbered through all models, ids drawn for each run, a text that the "
        "model wrote): `warehouse fix forget` the sources, and ingest again with a mapping "
        "that has another prompt_id or key"
    )


def _plain(key: str) -> str:
    """An id without how it is written: blanks, case, zeros before it, ``.0`` behind it,
    forms of letters."""
    return re.sub(
        r"^0+(?=.)|[.]0+$", "", unicodedata.normalize("NFKC", key).strip().casefold()
    )


def _on_ids(benchmark: str, n: int, one: str, other: str, *_: str) -> str:
    return (
        f"{benchmark}: {n} prompts have ids that others write otherwise, such as {one!r} and {other!r}: models share no"
        " prompt by these; `warehouse fix forget` one of the sources, and ingest it again with a mapping that writes"
        " them alike (`prompt_id = { path = …, pattern = … }`)"
    )


#: Prompts of a benchmark up to which their ids are held against one another.
_MOST_PROMPTS = 100_000
