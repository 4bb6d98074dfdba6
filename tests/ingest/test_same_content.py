"""Rows of one run that hold the same question: draws of one prompt, or prompts told
apart, as the mapping says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller
from tests.support.stores import select, store_at
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.ingest.pipeline import ingest
from warehouse.ingest.report import IngestReport
from warehouse.store.load.state import LoadOptions
from warehouse.store.open import open_store

MAPPING = """
{key}
[run]
model = {{ const = "m" }}
benchmark = {{ const = "b" }}
[sample]
{sample}
[metadata]
question = "q"
answer = "a"
[[scores]]
metric = {metric}
value = "v"
"""
KEY = 'key = ["question", "answer"]'
ROWS = [
    ("1+1", "2", 1.0),
    ("2+2", "4", 0.0),
    ("1+1", "2", 0.5),
    ("2+2", "4", 0.25),
    ("1+1", "2", 0.75),
]


def load(
    url: str,
    folder: Path,
    rows: list[dict[str, Any]],
    key: str = "",
    sample: str = "",
    metric: str = '"acc"',
) -> tuple[IngestReport, list[dict[str, Any]]]:
    """What became of the rows, and the prompts, draws and values that are stored."""
    (folder / "r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "m.toml").write_text(
        MAPPING.format(key=key, sample=sample, metric=metric)
    )
    with open_store(url, create=True) as store:
        report = ingest(store, [folder / "r.jsonl"], mapping=folder / "m.toml")
        facts = select(
            store,
            "select p.key, p.occurrence, s.draw, s.value from score as s join prompt "
            "as p on p.id = s.prompt_id"
            " order by s.value",
        )
    return report, facts


def rows_of(*extra: dict[str, Any]) -> list[dict[str, Any]]:
    more = extra or ({},) * len(ROWS)
    return [
        {"q": q, "a": a, "v": v} | other
        for (q, a, v), other in zip(ROWS, more, strict=True)
    ]


def test_a_key_makes_equal_questions_draws(store_url: str, tmp_path: Path) -> None:
    report, facts = load(store_url, tmp_path, rows_of(), KEY)
    assert report.total("n_samples") == 2 and {
        fact["occurrence"] for fact in facts
    } == {0}
    assert [(fact["value"], fact["draw"]) for fact in facts] == [
        (0.0, 0),
        (0.25, 1),
        (0.5, 1),
        (0.75, 2),
        (1.0, 0),
    ]
    (note,) = report.sources[0].notes
    # standard errors by hand: means .75 and .125 of two prompts; five values of mean .5
    assert note == (
        "5 rows hold 2 different questions: taken for draws of 2 prompts (acc ± "
        "0.312), by "
        'key = ["question", "answer"]; [sample] position = "@index" tells them apart: '
        "5 prompts (acc ± 0.177)"
    )


def test_a_position_tells_them_apart(store_url: str, tmp_path: Path) -> None:
    report, facts = load(store_url, tmp_path, rows_of(), KEY, 'position = "@index"')
    assert report.total("n_samples") == 5 and not report.sources[0].notes
    assert {fact["occurrence"] for fact in facts} == {0, 1, 2} and {
        fact["draw"] for fact in facts
    } == {0}


def test_without_a_statement_a_note_has_both_readings(
    store_url: str, tmp_path: Path
) -> None:
    report, _ = load(store_url, tmp_path, rows_of(), sample='text = "q"\ntarget = "a"')
    assert report.total("n_samples") == 5
    assert (
        "5 rows hold 2 different questions: taken for 5 prompts (acc ± 0.177), told "
        "apart by place; "
        'key = ["text", "target"] in a mapping takes them for draws of 2 prompts (acc '
        "± 0.312)"
    ) in report.sources[0].notes


def test_ids_that_differ_are_noted_where_it_matters(
    store_url: str, tmp_path: Path
) -> None:
    numbered = rows_of(*({"id": n} for n in range(5)))
    report, _ = load(
        store_url,
        tmp_path,
        numbered,
        sample='prompt_id = "id"\ntext = "q"\ntarget = "a"',
    )
    assert report.total("n_samples") == 5
    assert any("told apart by ids" in note for note in report.sources[0].notes)


def test_ids_are_not_noted_where_the_readings_have_one_error_but_places_are(
    store_url: str, tmp_path: Path
) -> None:
    """Each question is once right and once wrong: as draws the means are equal, and the
    error is 0."""
    rows = [
        {"q": q, "a": a, "v": v}
        for q, a in (("1+1", "2"), ("2+2", "4"))
        for v in (1.0, 0.0)
    ]
    numbered = [row | {"id": n} for n, row in enumerate(rows)]
    told = 'text = "q"\ntarget = "a"'
    by_id, _ = load(store_url, tmp_path, numbered, sample=f'prompt_id = "id"\n{told}')
    assert by_id.total("n_samples") == 4 and not by_id.sources[0].notes
    by_place, _ = load(
        store_url, tmp_path, [row | {"q": f"{row['q']}?"} for row in rows], sample=told
    )
    assert any(
        "taken for 4 prompts" in note and "told apart by place" in note
        for note in by_place.sources[0].notes
    )


def test_stated_draws_and_copies_of_a_question(store_url: str, tmp_path: Path) -> None:
    drawn = rows_of(*({"d": d} for d in (0, 0, 1, 1, 0)))
    _, facts = load(store_url, tmp_path, drawn, KEY, 'draw = "d"')
    found = {fact["value"]: (fact["occurrence"], fact["draw"]) for fact in facts}
    assert found == {1.0: (0, 0), 0.0: (0, 0), 0.5: (0, 1), 0.25: (0, 1), 0.75: (1, 0)}


def test_metrics_below_each_other_share_their_prompts(
    store_url: str, tmp_path: Path
) -> None:
    named = rows_of(*({"m": m} for m in ("acc", "acc", "f1", "f1", "acc")))
    report, facts = load(store_url, tmp_path, named, KEY, metric='{ path = "m" }')
    assert report.total("n_samples") == 2
    assert {fact["value"]: fact["draw"] for fact in facts} == {
        1.0: 0,
        0.0: 0,
        0.5: 0,
        0.25: 0,
        0.75: 1,
    }


def test_rows_of_one_id_about_different_prompts(store_url: str, tmp_path: Path) -> None:
    rows = [
        {"id": 1, "q": "1+1", "a": "2", "v": 1},
        {"id": 1, "q": "2+2", "a": "4", "v": 0},
    ]
    report, _ = load(store_url, tmp_path, rows, sample='prompt_id = "id"')
    (refused,) = report.refused
    assert (
        "rows of one id are about different prompts, in 1 place; first: id 1, rows 1 "
        "and 2" in refused.error
    )
    assert "--on-duplicate" not in refused.error


@pytest.mark.parametrize(
    ("column", "second"),
    [
        ("language", 1),
        ("lang", 1),
        ("lang", 0),
        ("locale", 0),
        ("subject", 1),
        ("category", 0),
        ("config", 1),
        ("subset", 0),
    ],
)
def test_rows_of_one_id_in_several_parts_are_named_with_what_keeps_them_apart(
    tmp_path: Path, run: Caller, column: str, second: int
) -> None:
    """They are collapsed where they agree, and refused where not."""
    table, db = str(tmp_path / "r.csv"), store_at(tmp_path / "s.db")
    Path(table).write_text(
        f"model,benchmark,id,{column},score\nm,b,1,en,1\nm,b,1,de,{second}\n"
    )
    said = run("ingest", table, db=db)
    assert (
        said.code == (0 if second else 3)
        and f'prompt_id = {{ template = "{{ID}} {{{column}}}" }}' in said.err
    )
    if column != "lang":  # what is advised is the same of all
        return
    template = f'prompt_id = {{ template = "{{id}} {{{column}}}" }}'
    text = (
        "[run]\n"
        'model = "model"\n'
        'benchmark = "benchmark"\n'
        "[sample]\n"
        f"{template}\n"
        "[[scores]]\n"
    )
    (tmp_path / "m.toml").write_text(text + 'metric = "acc"\nvalue = "score"\n')
    kept = run(
        "ingest",
        table,
        "--map",
        str(tmp_path / "m.toml"),
        db=store_at(tmp_path / "t.db"),
    )
    assert kept.code == 0 and "2 answers" in kept.out


@pytest.mark.parametrize("second", [1, 0])
def test_no_option_drops_another_question(
    store_url: str, tmp_path: Path, second: int
) -> None:
    rows = [
        {"id": 1, "q": "1+1", "a": "2", "v": 1},
        {"id": 1, "q": "2+2", "a": "4", "v": second},
    ]
    load(store_url, tmp_path, rows[:1], sample='prompt_id = "id"\ntext = "q"')
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with open_store(store_url, write=True) as store:
        for word in ("error", "first", "last"):
            report = ingest(
                store,
                [tmp_path / "r.jsonl"],
                mapping=tmp_path / "m.toml",
                options=LoadOptions(on_duplicate=word),
            )
            assert (
                "rows of one id are about different prompts" in report.refused[0].error
            )


def test_equal_questions_of_verifiers(
    store_url: str, tmp_path: Path, data_dir: Path
) -> None:
    """15 rows are 5 questions asked 3 times; the data's README has the standard error
    over questions, 0.1310."""
    folder = (
        data_dir
        / "verifiers/math_python/outputs/evals/math-python--gpt-4.1-mini/49a7458f"
    )
    lines = [
        json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()
    ]
    rows = [
        {"q": line["prompt"], "a": line["answer"], "v": line["reward"]}
        for line in lines
    ]
    report, _ = load(store_url, tmp_path, rows, KEY)
    assert report.total("n_samples") == 5
    with open_store(store_url) as store:
        (row,) = leaderboard(store, "b", metric="acc").rows
    assert (round(row.figure.estimate, 10), round(row.figure.standard_error, 10)) == (
        0.7933333333,
        0.1309792180,
    )
