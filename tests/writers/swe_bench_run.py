"""Writes the run of ``tests/data/swe_bench`` with the reporting code of the real
package.

    python -m venv /tmp/venv && /tmp/venv/bin/pip install swebench==5.0.2
    /tmp/venv/bin/python tests/writers/swe_bench_run.py FOLDER

The harness itself runs containers. Their outcome is made up here; the tests' status,
the data of the run and the run report come from the package's own functions.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from swebench.harness.constants import RUN_EVALUATION_LOG_DIR
from swebench.harness.grading import get_eval_tests_report
from swebench.harness.reporting import make_run_report
from swebench.harness.run_evaluation import write_run_metadata

MODEL, RUN = "org/tiny-1.5", "trial"
NAMES = [f"org__repo-{number}" for number in range(1, 8)]


def report(name: str, passed: list[str], failed: list[str]) -> None:
    """The log folder of an instance that was run."""
    gold = {"FAIL_TO_PASS": ["test_new"], "PASS_TO_PASS": ["test_old"]}
    status = dict.fromkeys(passed, "PASSED") | dict.fromkeys(failed, "FAILED")
    tests = get_eval_tests_report(status, gold)
    folder = RUN_EVALUATION_LOG_DIR / RUN / MODEL.replace("/", "__") / name
    folder.mkdir(parents=True, exist_ok=True)
    verdict = {
        "patch_is_None": False,
        "patch_exists": True,
        "patch_successfully_applied": True,
        "resolved": not failed,
        "infra_failure": False,
        "tests_status": tests,
    }
    (folder / "report.json").write_text(json.dumps({name: verdict}, indent=4))
    (folder / "patch.diff").write_text(f"patch of {name}\n")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    resolved, failed, lost, empty, error, absent, other = NAMES
    report(resolved, ["test_new", "test_old"], [])
    report(other, ["test_new", "test_old"], [])
    report(failed, ["test_old"], ["test_new"])
    report(lost, [], ["test_new", "test_old"])
    lost_folder = RUN_EVALUATION_LOG_DIR / RUN / MODEL.replace("/", "__") / lost
    (lost_folder / "test_output.txt").write_text("Cannot allocate memory\n")
    predicted = {
        name: {
            "instance_id": name,
            "model_name_or_path": MODEL,
            "model_patch": f"diff of {name}",
        }
        for name in NAMES
        if name != absent
    }
    predicted[empty]["model_patch"] = ""
    rows = [json.dumps(row) + "\n" for row in predicted.values()]
    Path("predictions.jsonl").write_text("".join(rows))
    write_run_metadata(RUN, "SWE-bench/SWE-bench_Verified", "test", None)
    make_run_report(predicted, [{"instance_id": name} for name in NAMES], RUN)
    (lost_folder / "test_output.txt").unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
