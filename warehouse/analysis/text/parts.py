"""Parts of a prompt that can be embedded: its question, its answer, its options, a
field of its document."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from warehouse.analysis.selection.prompts import expected_answer, options
from warehouse.errors import MisuseError
from warehouse.records import canonical_json, parse_json
from warehouse.store.computed.prompt_vectors import PROMPT, PartTexts
from warehouse.store.connection import Store
from warehouse.store.curate.field_clusters import field_at
from warehouse.store.sql.query_files import query_text

FIELD = "metadata."
#: Names of parts stand in SQL as they are.
_NAME = re.compile(r"prompt|target|choices|metadata\.[^'\"\\\\:%{}\x00-\x1f]+")
_BENCHMARKS = "select id from benchmark order by id"
#: Fields that an error names.
_MOST_NAMED = 20


def as_part(part: str) -> str:
    """The name of a part (MisuseError: none is called so)."""
    if not _NAME.fullmatch(part):
        raise MisuseError(
            f"no part of a prompt is called {part!r}; there are: prompt, target, "
            "choices, metadata.FIELD"
        )
    return part


def read_part(
    store: Store, part: str, benchmark_ids: Sequence[int] | None
) -> PartTexts | None:
    """Which texts a part of the prompts of some benchmarks (None: of all) has; None for
    the question, whose texts the store compares itself.

    One benchmark is read at a time, and only hashes of its texts are kept.

    Raises:
        MisuseError: no part is called so.
    """
    if as_part(part) == PROMPT:
        return None
    ids = (
        [row["id"] for row in store.rows(_BENCHMARKS)]
        if benchmark_ids is None
        else benchmark_ids
    )
    benchmarks: dict[int, int] = {}
    hashes: dict[int, bytes] = {}
    for benchmark_id in ids:
        for row in prompt_rows(
            store, part, "prompt.benchmark_id = :benchmark", {"benchmark": benchmark_id}
        ):
            benchmarks[row["id"]] = benchmark_id
            text = _text(part, row)
            if text is not None:
                hashes[row["id"]] = hashlib.sha256(normalised(text).encode()).digest()
    return PartTexts(part, benchmarks, hashes)


def texts_of_part(store: Store, part: str, prompts: Sequence[int]) -> dict[int, str]:
    """The texts of a part of some prompts, by id; those without are not in it."""
    if not len(prompts):
        return {}
    rows = prompt_rows(store, part, "prompt.id in (:ids)", {"ids": prompts})
    return {row["id"]: text for row in rows if (text := _text(part, row)) is not None}


def texts_of_benchmark(store: Store, part: str, benchmark: int) -> list[str]:
    """All texts of a part of a benchmark."""
    rows = prompt_rows(
        store, part, "prompt.benchmark_id = :benchmark", {"benchmark": benchmark}
    )
    return [text for row in rows if (text := _text(part, row)) is not None]


def missing_part(store: Store, part: str, benchmark_ids: Sequence[int] | None) -> str:
    """Which fields there are where a field is missing; empty for other parts."""
    if not part.startswith(FIELD):
        return ""
    condition = "prompt.benchmark_id in (:benchmarks)"
    if benchmark_ids is None:
        condition = "1 = 1"
    rows = prompt_rows(
        store,
        part,
        f"{condition} and metadata is not null",
        {"benchmarks": benchmark_ids or ()},
        " limit 200",
    )
    names = set(chain.from_iterable(document_of(row) for row in rows))
    shown = sorted(names)[:_MOST_NAMED]
    return f"; fields there are: {', '.join(shown) or 'none'}"


def normalised(text: str) -> str:
    """A text as texts are compared: in small letters, with single spaces."""
    return " ".join(text.lower().split())


def embed_command(part: str, *benchmarks: str) -> str:
    """The command that embeds a part of benchmarks."""
    of_part = ["--part", part]
    if part == PROMPT:
        of_part = []
    return shlex.join(
        ["warehouse", "text", "embed", *benchmarks, *of_part, "--embedder", "FOLDER"]
    )


def prompt_rows(
    store: Store, part: str, condition: str, params: Mapping[str, Any], limit: str = ""
) -> list[dict[str, Any]]:
    column = "null"
    if part.startswith(FIELD):
        column = "prompt.metadata"
    sql = query_text("analysis/text", "prompt_parts").format(
        column=column, condition=condition
    )
    return store.rows(sql + limit, params)


def _text(part: str, row: Mapping[str, Any]) -> str | None:
    """The text of a part; None where there is none, or only space."""
    if part == PROMPT:  # what is stored as a question is one, also where it is empty
        if row["text"] is None:
            return row["text"]
        return str(row["text"])
    if part == "target":
        found = expected_answer(row)
    elif part == "choices":
        found = "\n".join(options(row["choices"]))
    else:
        value = field_at(document_of(row), part.removeprefix(FIELD))
        if value is None or isinstance(value, str):
            found = value
        else:
            found = canonical_json(value).decode()
    if found and found.strip():
        return found
    return None


def document_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a prompt whose metadata were read; empty where it has none."""
    value = row["metadata"]
    found = value
    if isinstance(value, str):
        found = parse_json(value)
    if isinstance(found, dict):
        return found
    return {}
