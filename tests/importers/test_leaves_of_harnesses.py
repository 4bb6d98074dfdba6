"""Every leaf of what a dump says of how a run was made is read, or stands in the table:
agents, boards, tools."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.dumps import DATA
from tests.support.setting_leaves import leaves_in
from warehouse.importers.aider import IMPORTER as AIDER
from warehouse.importers.bigbench.importer import IMPORTER as BIGBENCH
from warehouse.importers.harbor import IMPORTER as HARBOR
from warehouse.importers.model_cards import IMPORTER as MODEL_CARDS
from warehouse.importers.nemo_evaluator import IMPORTER as NEMO
from warehouse.importers.promptfoo import IMPORTER as PROMPTFOO
from warehouse.importers.pydantic_evals import IMPORTER as PYDANTIC
from warehouse.importers.swe_bench.importer import IMPORTER as SWE_BENCH
from warehouse.importers.tau2_bench import IMPORTER as TAU2
from warehouse.importers.terminal_bench import IMPORTER as TERMINAL_BENCH
from warehouse.importers.verifiers.importer import IMPORTER as VERIFIERS

#: Importer, harness, folder of the dump, its run-level documents, and what in them is
#: outcome or of a sample.
DUMPS: dict[str, tuple[Any, str, str, str, str]] = {
    "aider": (AIDER, "aider", "aider", "*.yml", ""),
    "model_cards": (
        MODEL_CARDS,
        "model_cards",
        "model_cards/eval_results",
        "*.yaml",
        "value",
    ),
    "swe_bench": (SWE_BENCH, "swe_bench", "swe_bench", "**/run.json", ""),
    "swe_bench_site": (
        SWE_BENCH,
        "swe_bench",
        "swe_bench_site",
        "*.json",
        r"per_instance_details|assets",
    ),
    "tau2_bench": (
        TAU2,
        "tau2_bench",
        "tau2_bench",
        "**/submission.json",
        r"pass_\d|contact_info",
    ),
    "terminal_bench": (
        TERMINAL_BENCH,
        "terminal_bench",
        "terminal_bench",
        "**/run_metadata.json",
        r"pass_at_k",
    ),
    "verifiers": (
        VERIFIERS,
        "verifiers",
        "verifiers",
        "**/metadata.json",
        r"^avg_|^pass_|^usage|^cost",
    ),
    "nemo_evaluator": (
        NEMO,
        "nemo_evaluator",
        "nemo_evaluator",
        "**/eval-*.json",
        r"^benchmark|^n_results",
    ),
    "pydantic_evals": (
        PYDANTIC,
        "pydantic_evals",
        "pydantic_evals",
        "*.json",
        r"^(cases|failures|analyses|report_)",
    ),
    "harbor": (
        HARBOR,
        "harbor",
        "harbor",
        "**/sort__0000001/result.json",
        r"^(?!config)|^config\.(task|trial_name|trials_dir|job_id|source_trial|artifacts)",
    ),
    "promptfoo": (
        PROMPTFOO,
        "promptfoo",
        "promptfoo",
        "*.json",
        r"^(?!config)|tests|scenarios|sharing|prompts",
    ),
    "bigbench": (
        BIGBENCH,
        "bigbench",
        "bigbench/made_numbers",
        "**/full-log_*.json",
        r"^(?!model)",
    ),
}


@pytest.mark.rare
@pytest.mark.parametrize("name", DUMPS)
def test_every_leaf_is_read(tmp_path: Path, name: str) -> None:
    importer, harness, folder, documents, outcomes = DUMPS[name]
    copied = Path(shutil.copytree(DATA / folder, tmp_path / "dump"))
    found = sorted(copied.glob(documents))
    assert found
    values = {"model": "m"} if name in ("pydantic_evals", "model_cards") else {}
    assert (
        leaves_in(importer, harness, copied, found[:2], outcomes, values).dropped()
        == []
    )


def test_entries_of_aider_that_differ_by_marks_alone_are_repeats(
    tmp_path: Path,
) -> None:
    copied = Path(shutil.copytree(DATA / "aider", tmp_path / "dump"))
    leaves = leaves_in(
        AIDER, "aider", copied, sorted(copied.glob("*.yml")), "^versions$"
    )  # that of the agent counts
    assert leaves.counted_against_the_table() == []
