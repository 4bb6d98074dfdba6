"""What goes with figures of prompts: their features out of the store, and every row
against the statistic itself."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse.errors import MisuseError
from warehouse.stats import holm
from warehouse.stats.items.features import joint_test, slope

MODELS, PROMPTS = 12, 240
DICE = np.random.default_rng(3)
LENGTHS = np.exp(DICE.normal(2.5, 0.8, PROMPTS)).astype(int) + 2
SUBJECTS = np.array(["physics", "history", "art"])[np.arange(PROMPTS) % 3]
YEARS = DICE.integers(1990, 2020, PROMPTS)
PASSAGES = DICE.integers(0, 30, PROMPTS)
HARD = 0.8 * np.log2(LENGTHS) - 2.5 + 1.2 * (SUBJECTS == "physics")
SCORES = (
    DICE.random((PROMPTS, MODELS))
    < 1 / (1 + np.exp(HARD[:, None] - (np.arange(MODELS) - 6) / 2))
).astype(float)


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    """Long prompts are hard, those of physics harder still; the year says nothing, and
    some have none."""
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    for p in range(PROMPTS):
        text = " ".join(["word"] * (LENGTHS[p] - 1)) + f" {'[header]' if p % 2 else p}"
        number = rows.prompt("quiz", f"p{p:03}", text=text)
        document = {
            **{
                "subject": str(SUBJECTS[p]),
                "id": 1000 + p,
                "kind": "test",
                "passage": int(PASSAGES[p]),
            },
            **({} if p < 30 else {"year": int(YEARS[p])}),
            **{
                "nothing": None,
                "name": f"n{p}",
                "tags": ["long", "hard"] if LENGTHS[p] > 15 else ["short"],
            },
        }
        options = ["one", "two", "three", "four"][: 3 + p % 2]
        rows.rows["prompt"][number - 1] |= {
            "metadata": document,
            "choices": options,
            "target": "ABC"[p % 3],
        }
    for m in range(MODELS):
        rows.scores(
            rows.run(f"org/m{m:02}", "quiz"),
            {f"p{p:03}": float(SCORES[p, m]) for p in range(PROMPTS)},
        )
    rows.describe("bare", rows.metric())
    for m in range(3):
        for key in "xyz":
            rows.prompt("bare", key, text="nothing")
        rows.scores(
            rows.run(f"org/m{m:02}", "bare"), {"x": 0.0, "y": 1.0, "z": float(m > 1)}
        )
    for row in rows.rows["prompt"]:
        row |= {"metadata": row.get("metadata"), "choices": row.get("choices")}
    return rows


def test_every_row_is_that_of_the_statistic(url: str) -> None:
    report = warehouse.connect(url).item_features("quiz")
    by = {(row.figure, row.feature, row.level): row for row in report.rows}
    means = SCORES.mean(axis=1)
    length, found = by["mean score", "length", None], slope(means, np.log2(LENGTHS))
    assert (length.estimate, length.ci_low, length.p_value) == pytest.approx(
        (found.estimate, found.ci_low, found.p_value), rel=1e-9
    )
    assert length.per_sd == pytest.approx(
        (found.estimate or 0) * np.log2(LENGTHS).std(ddof=1), rel=1e-9
    )
    year = by["mean score", "metadata.year", None]
    assert (year.kind, year.n_prompts) == ("slope", PROMPTS - 30)
    assert year.p_value == pytest.approx(
        slope(means[30:], YEARS[30:].astype(float)).p_value, rel=1e-9
    )
    subject = by["mean score", "metadata.subject", None]
    dummies = np.column_stack([name == SUBJECTS for name in ("history", "art")])
    assert subject.p_value == pytest.approx(
        joint_test(means, dummies).p_value, rel=1e-9
    )
    physics = by["mean score", "metadata.subject", "physics"]
    assert (physics.n_level, physics.kind) == (80, "value")
    assert physics.estimate == pytest.approx(
        means[SUBJECTS == "physics"].mean() - means[SUBJECTS != "physics"].mean()
    )
    assert by["mean score", "position", "2"].n_level == 80
    assert by["mean score", "options", None].p_holm is not None
    made = [row for row in report.tests if row.p_value is not None]
    assert [row.p_holm for row in made] == pytest.approx(
        holm([row.p_value for row in made]).tolist()
    )
    assert (
        report.n_tests == len(made) == len(report.tests) - 3
    )  # tags that say the same
    assert (
        "mean score goes with length" in report.one_line
        and "metadata.subject" in report.one_line
    )
    assert (
        Counter(row.figure for row in report.tests)["discrimination"]
        == Counter(row.figure for row in report.tests)["mean score"]
    )


def test_what_cannot_be_compared_is_said(url: str) -> None:
    notes = " | ".join(warehouse.connect(url).item_features("quiz").notes)
    assert "the same for all prompts: metadata.kind" in notes
    assert (
        "another number for each prompt: metadata.id" in notes
        and "more than 40 values: metadata.name" in notes
    )
    assert "metadata.year: 30 of 240 prompts do not have it" in notes
    named = warehouse.connect(url).item_features(
        "quiz", by=["metadata.kind", "has:[header]"]
    )
    kinds = {
        (row.feature, row.level): row
        for row in named.rows
        if row.figure == "mean score"
    }
    assert (
        kinds["metadata.kind", None].p_value is None
        and kinds["metadata.kind", None].reason
    )
    assert kinds["has:[header]", "yes"].n_level == 120
    why = (
        r".the same for all prompts: length; no prompt has it: options, position.; load"
    )
    with pytest.raises(
        MisuseError, match=f"nothing is known of the prompts of bare .* {why}"
    ):
        warehouse.connect(url).item_features("bare", by=[])
    with pytest.raises(
        MisuseError, match="unknown feature 'lenght'; there are: length"
    ):
        warehouse.connect(url).item_features("quiz", by=["lenght"])
    with pytest.raises(
        MisuseError, match=r"no prompt has metadata.x; fields there are: id, kind"
    ):
        warehouse.connect(url).item_features("quiz", by=["metadata.x"])


def test_tags_overlap_and_are_each_compared_with_the_rest(url: str) -> None:
    found = warehouse.connect(url).item_features("quiz", by=["metadata.tags"])
    rows = {row.level: row for row in found.rows if row.figure == "mean score"}
    long = LENGTHS > 15
    assert set(rows) == {None, "long", "hard", "short"} and rows[None].p_value is None
    means = SCORES.mean(axis=1)
    assert rows["hard"].estimate == pytest.approx(
        means[long].mean() - means[~long].mean()
    )


def test_clusters_are_respected(own_url: str, run: Caller) -> None:
    assert run("--db", own_url, "fix", "cluster", "quiz", "passage").code == 0
    report = warehouse.connect(own_url).item_features(
        "quiz", by=["words"], cluster="passage"
    )
    assert "240 prompts in 30 clusters, 12 models" in report.one_line
    found = report.rows[0]
    alone = slope(SCORES.mean(axis=1), LENGTHS.astype(float), PASSAGES)
    assert (found.standard_error, found.df) == pytest.approx(
        (alone.standard_error, alone.df), rel=1e-9
    )
    assert found.n_clusters == 30


def test_the_command_shows_tests_and_the_largest_differences(
    url: str, run: Caller
) -> None:
    shown = run(
        "--db",
        url,
        "items",
        "difficulty",
        "quiz",
        "--features",
        "--by",
        "length,metadata.subject",
        "--top",
        "1",
    )
    assert shown.code == 0 and "per SD" in shown.out and "physics" in shown.out
    assert "history" not in shown.out and "2 more values: --top 0" not in shown.out
    assert "6 more values: --top 0 has all" in shown.err
    told = json.loads(
        run("--db", url, "items", "difficulty", "quiz", "--features", "--json").out
    )
    assert {
        "figure",
        "feature",
        "level",
        "estimate",
        "per_sd",
        "p_holm",
        "flags",
    } <= told[0].keys()
    for words in (
        *(
            "--by length",
            "--cluster none",
            "--features --seed 2",
            "--features --irt 1pl",
            "--features --splits",
        ),
    ):
        assert run("--db", url, "items", "difficulty", "quiz", *words.split()).code == 2


def test_slopes_are_drawn_below_one_another(url: str) -> None:
    spec = (
        warehouse.connect(url)
        .item_features("quiz", by=["length", "metadata.subject"])
        .plot()
        .to_dict()
    )
    assert len(spec["vconcat"]) == 3


LONG_KIND = (
    "a description of more than sixty characters whose end alone tells it from the "
    "other one: "
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A table: numbers are text there, options count from 1, not every model answered,
    errors are counted."""
    folder = tmp_path_factory.mktemp("features")
    lines = []
    for m, p in np.ndindex(4, 60):
        document = {
            "n": str(p % 5),
            "kind": f"{LONG_KIND}{p % 2}",
            "tags": ["x"] if p % 3 == 0 else [],
            "no": None,
        }
        document |= {"big": 0.5 * p if p < 57 else 1e200}
        scored = {
            "model": f"m{m}",
            "q": f"q{p}",
            "choices": ["w", "x", "y"],
            "gold": str(p % 3 + 1),
            "doc": document,
        }
        if (m, p) not in {(2, 7), (3, 7), (3, 8)}:
            lines.append(json.dumps(scored | {"errors": int(DICE.random() < 0.5)}))
    (folder / "errors.jsonl").write_text("\n".join(lines))
    (folder / "map.toml").write_text(
        'files = ["errors.jsonl"]\n'
        "[run]\n"
        'benchmark = { const = "errors" }\n'
        'model = "model"\n'
        "[sample]\n"
        'prompt_id = "q"\n'
        'choices = "choices"\n'
        'target = "gold"\n'
        "[metadata]\n"
        'n = "doc.n"\n'
        'kind = "doc.kind"\n'
        'tags = "doc.tags"\n'
        'no = "doc.no"\n'
        'big = "doc.big"\n'
        "[[scores]]\n"
        'metric = "errors"\n'
        'value = "errors"\n'
    )
    url = f"duckdb:///{folder / 'w.duckdb'}"
    warehouse.connect(url, create=True).ingest(
        folder / "errors.jsonl", mapping=folder / "map.toml", higher_is_better=False
    )
    return url


def test_numbers_lists_long_values_and_options_of_tables_are_what_they_say(
    table: str,
) -> None:
    report = warehouse.connect(table).item_features("errors")
    rows = {
        (row.feature, row.level): row
        for row in report.rows
        if row.figure == "mean score"
    }
    assert rows["metadata.n", None].kind == "slope"
    assert rows["metadata.kind", f"{LONG_KIND}0"].n_prompts == 60
    assert {level for feature, level in rows if feature == "position"} == {
        None,
        "1",
        "2",
        "3",
    }
    assert (
        rows["metadata.big", None].n_prompts == 57
    )  # squares of the others are no numbers
    tags = rows["metadata.tags", "x"]
    assert (tags.n_prompts, tags.n_level) == (
        60,
        20,
    )  # no tag is none of them, not unknown


def test_few_models_and_lower_scores_are_said(table: str) -> None:
    report = warehouse.connect(table).item_features("errors", by=["metadata.n"])
    told = " | ".join(report.notes)
    assert "what raises the mean score makes prompts harder" in told
    assert "correlation is of the 58 prompts alone that every model answered" in told
    by = {row.figure: row.n_prompts for row in report.rows}
    assert (
        by["correlation"] <= by["discrimination"] <= 59 < by["mean score"]
    )  # of two models r is 1 or -1
    two = warehouse.connect(table).item_features(
        "errors", by=["metadata.n"], where=["model!=m2", "model!=m3"]
    )
    assert [bool(row.reason) for row in two.rows] == [False, True, True]


def test_columns_are_explained_where_the_last_figure_has_no_test(
    table: str, run: Caller
) -> None:
    two = ("--where", "model!=m2", "--where", "model!=m3")
    shown = run(
        "--db",
        table,
        "items",
        "difficulty",
        "errors",
        "--features",
        "--by",
        "metadata.n",
        *two,
    ).out
    assert (
        shown.count("nothing to test") == 2
        and "\neffect: change of the figure for one unit" in shown
    )
