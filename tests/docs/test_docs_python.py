"""Python of the pages: it runs as it stands, or, where it needs other programs, calls
what is there."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pandas
import pytest

import warehouse
from tests.support.pages import ROOT, blocks

DOCS = ROOT / "docs"


def python(page: str) -> list[str]:
    return blocks((DOCS / page).read_text(encoding="utf-8"), "python")


def run(code: str, **names: Any) -> dict[str, Any]:
    exec(code, names)
    return names


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, of a user who has some results and no settings."""
    monkeypatch.delenv("WAREHOUSE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_comparison(folder: Path) -> None:
    warehouse.connect().ingest(DOCS / "demo" / "results")
    (code,) = python("comparing.md")
    comparison = run(code, warehouse=warehouse)["comparison"]
    assert comparison.overall is not None and comparison.flips
    assert len(comparison.to_frame()) == len(comparison.rows) == 2


def test_the_first_steps_in_a_notebook(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "results").mkdir()
    scores = [
        f"{model},gsm8k,{n},{int(n % 3 < keep)}\n"
        for model, keep in (("a", 1), ("b", 2))
        for n in range(30)
    ]
    (folder / "results" / "all.csv").write_text(
        "model,benchmark,prompt_id,score\n" + "".join(scores)
    )
    names = run(python("notebooks.md")[0])
    assert len(names["board"].rows) == 2
    assert "gsm8k · score" in capsys.readouterr().out


@pytest.mark.parametrize("page", ["notebooks.md", "stopping.md"])
def test_what_other_programs_call_takes_what_the_page_gives_it(page: str) -> None:
    called = 0
    for code in python(page):
        tree = ast.parse(code)
        imports = (line for line in ast.walk(tree) if isinstance(line, ast.ImportFrom))
        ours = {alias.name: line.module for line in imports for alias in line.names}
        for call in ast.walk(tree):
            module = (
                ours.get(call.func.id)
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
                else None
            )
            if (
                isinstance(call, ast.Call)
                and module
                and module.startswith("warehouse.")
            ):
                positional, named = parameters(module, ast.unparse(call.func))
                assert len(call.args) <= len(positional)
                assert {keyword.arg for keyword in call.keywords} <= {
                    *positional[len(call.args) :],
                    *named,
                }
                called += 1
    assert called == 2


def parameters(module: str, function: str) -> tuple[list[str], list[str]]:
    """Positional and keyword parameters, read without the programs that the module
    imports."""
    text = (
        (ROOT / Path(*module.split("."))).with_suffix(".py").read_text(encoding="utf-8")
    )
    (found,) = (
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == function
    )
    return [one.arg for one in found.args.args], [
        one.arg for one in found.args.kwonlyargs
    ]


def test_a_table_of_mlflow(folder: Path) -> None:
    columns = [
        "inputs",
        "outputs",
        "targets",
        "correctness/v1/score",
        "correctness/v1/justification",
    ]
    rows = [["2+2", "4", "4", 1, "right"], ["2+3", "6", "5", 0, "wrong"]]
    (folder / "eval_results_table.json").write_text(
        json.dumps({"columns": columns, "data": rows})
    )
    (code,) = python("reference/code_and_agents.md")
    run(code, warehouse=warehouse, pandas=pandas)
    (row,) = warehouse.connect().leaderboard("support").rows
    assert (row.model, row.estimate, row.n_prompts) == ("org/name", 0.5, 2)


def test_no_python_of_a_page_is_without_a_test() -> None:
    tested = {
        *(
            "comparing.md",
            "extending.md",  # by test_docs_importers.py
            "notebooks.md",
            "refresh.md",
            "scale.md",
            "stopping.md",
        ),
        "reference/code_and_agents.md",
        "reference/extending_questions.md",
        "reference/extending_testing.md",
    }
    pages = (page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
    assert {page for page in pages if python(page)} == tested
