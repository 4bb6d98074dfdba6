"""The release gate in Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warehouse.metrics.gate import Gate, GateRow

_MARKS = {"pass": "✅ pass", "fail": "❌ fail", "undecided": "❔ undecided"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>&~$@:.-])")


def as_markdown(found: Gate) -> str:
    """A heading, a table, and what to do; names from dumps stand as text."""
    lines = [
        f"### {_MARKS[found.verdict]}: {_plain(found.candidate)} against {_plain(found.baseline)}",
        "",
        "| benchmark | verdict | candidate | baseline | difference | at least | margin | p"
        " | prompts | needed |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        *map(_line, found.rows),
        "",
        f"One-sided tests of paired differences on common prompts; p adjusted for"
        f" {len(found.rows)} benchmark{'s' * (len(found.rows) > 1)} (Holm), alpha {found.alpha:g}."
        " *At least*: lower confidence bound of the difference. *Needed*: prompts with which a"
        " candidate as good as the baseline passes with 80 % power.",
    ]
    notes = [f"{row.benchmark}: {row.reason}" for row in found.rows if row.reason]
    notes += [f"left out {reason}" for reason in found.left_out]
    return "\n".join([*lines, *([""] if notes else []), *(f"- {_plain(one)}" for one in notes), ""])


def _line(row: GateRow) -> str:
    name = f"{row.benchmark} ({row.split})" if row.split else row.benchmark
    p = row.p_fail if row.verdict == "fail" else row.p_pass
    cells = [
        _plain(name), _MARKS[row.verdict], f"{row.candidate:.4f}", f"{row.baseline:.4f}",
        f"{row.difference:+.4f}", "" if row.low is None else f"{row.low:+.4f}",
        f"{row.margin:g}", "" if p is None else f"{p:.2g}", str(row.n_prompts),
        "" if row.prompts_if_equal is None else str(row.prompts_if_equal),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Text without a meaning in Markdown, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
