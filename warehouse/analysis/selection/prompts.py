"""Prompts as results show them: where they stand, what they ask, what is expected."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


def prompts_by_id(store: Store, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Some prompts with benchmark, text, target and choices, by id."""
    return {row["id"]: row for row in store.rows(query_text("analysis", "prompts"), {"prompt_ids": ids})}


def keyed_prompts(store: Store, ids: Collection[int] | NDArray[np.int64]) -> dict[int, dict[str, Any]]:
    """Some prompts with tool's id and text, by id; ``order`` is the natural key, to sort by."""
    rows = store.rows(query_text("analysis", "matrix_prompts").format(condition="id in (:ids)"), {"ids": ids})
    return {row["id"]: row | {"order": natural_key(row)} for row in rows}


def natural_key(row: Mapping[str, Any]) -> tuple[str, str, int, int]:
    """What orders prompts the same in every store: split, key and occurrence; then the id."""
    return str(row["split"]), str(row["key"]), row["occurrence"], row["id"]


def options(choices: Any) -> list[str]:
    """Texts of the options, from the column ``prompt.choices``; empty where none are stored."""
    parsed = json.loads(choices) if isinstance(choices, str) else choices
    return [str(one) for one in parsed] if isinstance(parsed, list) else []


def expected_answer(prompt: Mapping[str, Any]) -> str | None:
    """The target in words: a letter means the option that stands there."""
    target: str | None = prompt["target"]
    offered = options(prompt["choices"])
    letter = str(target).strip()
    if target is None or target in offered or len(letter) != 1:
        return target
    place = ord(letter.upper()) - ord("A")
    return offered[place] if 0 <= place < len(offered) else target


def find_prompt(store: Store, text: str, benchmark_ids: Sequence[int] | None) -> int | None:
    """The prompt that ``text`` names: ``prompt:ID``, its id, the tool's own id, or its key.

    Args:
        benchmark_ids: look among their prompts only; None: among all.

    Returns:
        its id; None where no prompt is called so.

    Raises:
        MisuseError: several are, or ``prompt:ID`` names none.
    """
    if text.startswith("prompt:"):
        number = text.removeprefix("prompt:")
        if number.isdecimal() and prompts_by_id(store, [int(number)]):
            return int(number)
        raise MisuseError(f"no prompt has the id {number!r}; see: warehouse show RUN")
    condition = "1 = 1" if benchmark_ids is None else "benchmark_id in (:benchmark_ids)"
    query = query_text("analysis", "prompts_called").format(condition=condition)
    rows = store.rows(query, {"text": text, "benchmark_ids": benchmark_ids or ()})
    by_tool = [row for row in rows if row["tool_id"] == text]
    by_id = [row for row in rows if str(row["id"]) == text]
    chosen = by_tool if len(by_tool) == 1 else by_id or by_tool or rows
    if len(chosen) > 1:
        ids = ", ".join(f"prompt:{row['id']}" for row in chosen)
        raise MisuseError(f"{text!r} names several prompts; choose one: {ids}")
    return int(chosen[0]["id"]) if chosen else None
