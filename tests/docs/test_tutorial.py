"""The tutorial notebook runs from top to bottom on the dumps that are shipped."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(DOCS / "demo" / "results", tmp_path / "demo" / "results")
    monkeypatch.chdir(tmp_path)
    cells = json.loads((DOCS / "tutorial.ipynb").read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = [
        run("".join(cell["source"]), names)
        for cell in cells
        if cell["cell_type"] == "code"
    ]
    assert not any(
        cell.get("outputs") for cell in cells
    )  # no output of another version is kept
    pages = [one._repr_html_() for one in shown if hasattr(one, "_repr_html_")]
    assert len(pages) >= 6 and all("<table" in page for page in pages)
    assert names["difference"].pvalue < 0.001


def run(source: str, names: dict[str, Any]) -> Any:
    """What a cell shows: its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return (
        None
        if last is None
        else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    )
