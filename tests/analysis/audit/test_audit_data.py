"""``audit`` on MMLU-Redux, ingested as the documentation says, against the people's
verdicts in it."""

from __future__ import annotations

import csv
import json
import tomllib
from pathlib import Path

import pytest

from tests.support.stores import store_at
from tests.support.tabular import ROOT
from warehouse.analysis.audit.answer import audit
from warehouse.ingest.pipeline import ingest
from warehouse.store.connection import Store
from warehouse.store.open import open_store

# By day tests/stats/test_wrong_keys_data.py has the figures of this dump, test_audit.py
# the way from a store to them.
pytestmark = pytest.mark.slow
MAPPINGS = [
    ROOT / "docs" / "mappings" / f"{name}.toml"
    for name in ("mmlu_redux", "mmlu_redux_older")
]
MODELS = [
    name
    for path in MAPPINGS
    for name in tomllib.loads(path.read_text())["each"]["column"]
]


@pytest.fixture(scope="module")
def url(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    url = store_at(tmp_path_factory.mktemp("mmlu_redux") / "audit.duckdb")
    with open_store(url, write=True) as store:
        for mapping in MAPPINGS:
            assert not ingest(
                store, [data_dir / "mmlu_redux" / "outputs"], mapping=mapping
            ).refused
    return url


def verdicts(store: Store, path: Path) -> Path:
    rows = store.arrow("select key, metadata from prompt").to_pylist()
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["key", "error_type"])
        table.writerows(
            [row["key"], json.loads(row["metadata"]).get("error_type")] for row in rows
        )
    return path


def test_a_judged_sample_says_how_many_keys_are_wrong(url: str, tmp_path: Path) -> None:
    """As documented: both shares are within the intervals, and many verdicts give the
    slope that is known."""
    with open_store(url) as store:
        rows = store.arrow(
            "select split, key, occurrence, metadata from prompt"
        ).to_pylist()
        people = {
            f"{row['split']}:{row['key']}:{row['occurrence']}": str(
                json.loads(row["metadata"]).get("error_type")
            )
            for row in rows
        }
        for size, certain in ((200, 50), (1000, 60)):
            drawn = audit(
                store,
                "mmlu_redux",
                strata="subject",
                sample=size,
                certain=certain,
                seed=3,
            )
            table = list(csv.DictReader(drawn.sample_csv().splitlines(keepends=True)))
            with (tmp_path / "judged.csv").open("w", newline="") as file:
                writer = csv.DictWriter(file, list(table[0]))
                writer.writeheader()
                writer.writerows(
                    row | {"wrong": people[row["key"]].strip().lower()} for row in table
                )
            report = audit(
                store,
                "mmlu_redux",
                verdicts=tmp_path / "judged.csv",
                wrong_is=["wrong groundtruth"],
            )
            rates = {row.at: row for row in report.judged if row.figure == "wrong_rate"}
            for at, truth in ((None, 47 / 2893), (0.1, 14 / 59)):
                low, high = rates[at].low, rates[at].high
                assert (
                    low is not None
                    and high is not None
                    and low - 1e-3 <= truth <= high + 1e-3
                )
        slope = next(row for row in report.judged if row.figure == "slope")
        assert (
            slope.low is not None
            and slope.high is not None
            and slope.low < 0.71 < slope.high
        )
        assert (
            rates[None].value == pytest.approx(0.016, abs=5e-4)
            and rates[None].n_missing == 3
        )


@pytest.mark.parametrize("models", [3, 20])
def test_better_than_low_accuracy(url: str, models: int, tmp_path: Path) -> None:
    """Figures of the 20 models are those of the documentation."""
    with open_store(url) as store:
        report = audit(
            store,
            "mmlu_redux",
            strata="subject",
            where=[f"model!={name}" for name in MODELS[models:]],
            against=verdicts(store, tmp_path / "people.csv"),
            wrong_is=["wrong_groundtruth"],
        )
    found = {(row.score, row.figure, row.at): row for row in report.agreement}
    assert (
        len(report.models) == models and found["posterior", "auc", None].n_wrong == 47
    )

    def value(score: str, figure: str, at: float | None = None) -> float:
        known = found[score, figure, at].value
        assert known is not None
        return known

    for figure in ("average_precision", "average_precision_within"):
        assert value("posterior", figure) > max(
            value("share_wrong", figure), value("rival_votes", figure)
        )
    assert (
        abs(
            value("posterior", "expected_fdr", 0.1)
            - value("posterior", "observed_fdr", 0.1)
        )
        < 0.08
    )
    if models == 20:
        assert report.one_line.startswith(
            "59 of 2900 keys are suspect at 0.1 (mmlu_redux, 20 models)"
        )
        assert value("posterior", "average_precision") == pytest.approx(0.194, abs=5e-4)
        assert value("share_wrong", "average_precision") == pytest.approx(
            0.128, abs=5e-4
        )
        assert value("posterior", "average_precision_within") == pytest.approx(
            0.490, abs=5e-4
        )
