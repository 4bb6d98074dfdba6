"""``docs/reference/tried_dumps.md``: its commands read every set of real dumps, into
both engines."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import COMMAND
from tests.support.pages import ROOT, blocks

(COMMANDS,) = blocks(
    (ROOT / "docs" / "reference" / "tried_dumps.md").read_text(encoding="utf-8"),
    "sh",
    mark="all",
)


#: Mappings by the sources of tools: no published file of theirs is at hand.
WITHOUT_DATA = (
    *(
        "arena_55k",
        "arena_hard",
        "arena_hard_v01",
        "arena_log",
        "bigcodebench",
        "braintrust",
        "label_sheet",
    ),
    *("langfuse", "mt_bench_pair", "mt_bench_single", "tau2_simulations"),
    *("bigcode_harness", "euroeval", "hf_trainer", "ifeval", "nemo_skills"),
    *("reward_bench", "simpleqa", "trec_eval", "vlmevalkit", "openhands"),
    *("agent_company", "evalchemy", "mlflow_runs", "phoenix", "wandb_chart"),
    *("agent_rewards", "tau_bench", "judgebench", "mlflow_genai"),
    "mlflow_history",
)


def test_every_mapping_is_used_once() -> None:
    used = [*re.findall(r"--map (\S+)", COMMANDS), *WITHOUT_DATA]
    assert sorted(used) == sorted(
        path.stem for path in (ROOT / "docs/mappings").glob("*.toml")
    )


@pytest.mark.slow
def test_the_commands_read_all_data(data_dir: Path, store_url: str) -> None:
    script = re.sub(r"^DATA=.*$", f"DATA='{data_dir}'", COMMANDS, flags=re.MULTILINE)
    path = f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-eu", "-c", script],
        cwd=ROOT,
        text=True,
        capture_output=True,
        env=os.environ | {"PATH": path, "WAREHOUSE_URL": store_url},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "refused" in done.stdout and not re.search(r"[1-9]\d* refused", done.stdout)
    assert "schema drift: none\nintegrity: clean\n" in done.stdout
