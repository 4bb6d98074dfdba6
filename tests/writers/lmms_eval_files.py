"""Writes ``tests/data/lmms_eval`` with the tracker of the real package.

    pip download --no-deps lmms-eval==0.7.3 && unzip -q lmms_eval-0.7.3-*.whl -d
    /tmp/lmms python tests/writers/lmms_eval_files.py tests/data/lmms_eval /tmp/lmms

What the tracker imports but does not need (torch, transformers, hubs) is left out: the
functions that it uses are taken out of ``lmms_eval/utils.py`` one by one. The
evaluator's part, results and samples, is made here after ``evaluator.py``: documents
with images, two filters without labels, repeats, objects as scores, log-likelihoods.
"""

from __future__ import annotations

import ast
import dataclasses
import datetime
import hashlib
import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

STAMP = "20260304_050607"
Row = dict[str, Any]


def tracker(package: Path) -> Any:
    """The tracker's class, with the package's own small functions."""
    source = (package / "lmms_eval" / "utils.py").read_text()
    wanted = {
        "sanitize_list",
        "sanitize_model_name",
        "sanitize_task_name",
        "hash_string",
        "handle_non_serializable",
    }
    found = [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name in wanted
    ]
    utils = ModuleType("lmms_eval.utils")
    utils.__dict__.update(
        re=re,
        hashlib=hashlib,
        np=MagicMock(),
        dataclasses=dataclasses,
        datetime=datetime,
    )
    utils.__dict__.update(
        is_dataclass=dataclasses.is_dataclass, asdict=dataclasses.asdict, json=json
    )
    exec(compile(ast.Module(found, []), "utils.py", "exec"), utils.__dict__)
    for name in (
        "eval_logger",
        "get_file_datetime",
        "get_file_task_name",
        "get_results_filenames",
    ):
        setattr(utils, name, MagicMock())
    utils.get_sample_results_filenames = MagicMock()  # type: ignore[attr-defined]
    for name in (
        "datasets",
        "datasets.utils",
        "datasets.utils.metadata",
        "huggingface_hub",
        "huggingface_hub.utils",
    ):
        sys.modules[name] = MagicMock()
    sys.modules["lmms_eval"], sys.modules["lmms_eval.utils"] = (
        ModuleType("lmms_eval"),
        utils,
    )
    path = package / "lmms_eval" / "loggers" / "evaluation_tracker.py"
    spec = importlib.util.spec_from_file_location("evaluation_tracker", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["evaluation_tracker"] = module
    spec.loader.exec_module(module)
    return module.EvaluationTracker


def sample(
    number: int, target: Any, resps: list[Any], filtered: list[Any], **metrics: Any
) -> Row:
    asked = "Is there a dog?" if number % 2 else "How many cats?"
    return {
        "doc_id": number,
        "doc": {"question": asked},
        "target": target,
        "arguments": [asked, {"max_new_tokens": 16}],
        "resps": resps,
        "filtered_resps": filtered,
        "token_counts": [{"input_tokens": 100 + number, "output_tokens": 2}],
        "doc_hash": f"{number:064x}",
        **metrics,
    }


def samples() -> dict[str, list[Row]]:
    vqa = [
        sample(n, "no", [["Yes."]], [("yes", "no")[block]], exact_match=float(block))
        for block in range(2)
        for n in range(3)
    ]
    perception = [
        sample(
            n,
            "Yes",
            [["Yes"]],
            ["Yes"],
            perception_score={"question_id": n, "score": n % 2, "pred_answer": "yes"},
        )
        | {"input_media": [f"<image {n}>"]}
        for n in range(4)
    ]
    judged = [
        sample(
            n,
            "2",
            [["two"]],
            ["two"],
            judged_score={"pred_answer": "two", "answer": "2"},
        )
        for n in range(2)
    ]
    often = [
        sample(n, "3", [["3", "4", "3"]], [["3", "4", "3"]], acc=2 / 3)
        for n in range(2)
    ]
    choice = [
        sample(
            n,
            1,
            [[[-1.5, False]], [[-0.5, True]]],
            [[-1.5, False], [-0.5, True]],
            acc=1.0 - n,
        )
        for n in range(2)
    ]
    return {
        "vqa": vqa,
        "perception": perception,
        "judged": judged,
        "often": often,
        "choice": choice,
    }


def results(found: dict[str, list[Row]]) -> Row:
    figures: Row = {
        "vqa": {
            "exact_match,first": 0.0,
            "exact_match_stderr,first": 0.0,
            "exact_match,second": 1.0,
        },
        "perception": {
            "perception_score,none": 0.5,
            "perception_score_stderr,none": "N/A",
        },
        "judged": {"judged_score,none": 61.5, "judged_score_stderr,none": "N/A"},
        "often": {
            "acc,none": 2 / 3,
            "acc_stderr,none": "N/A",
            "acc_expected_accuracy,none": 2 / 3,
        },
        "choice": {"acc,none": 0.5, "acc_stderr,none": 0.5},
        "both": {"acc,none": 7 / 12},
    }
    figures["vqa"] |= {
        "exact_match_stderr,second": "N/A",
        "exact_match_stderr_clt,second": 0.0,
    }
    figures["perception"]["perception_score_stderr_clt,none"] = 0.28867513459481287
    generated = {
        "output_type": "generate_until",
        "test_split": "test",
        "generation_kwargs": {"max_new_tokens": 16},
    }
    configs: Row = {
        name: {"task": name, **generated, "metadata": {"version": 0.0}}
        for name in found
    }
    configs["often"]["repeats"] = 3
    configs["choice"]["output_type"] = "multiple_choice"
    return {
        "results": {
            name: {"alias": name, "samples": len(found.get(name, ())), **entry}
            for name, entry in figures.items()
        },
        "group_subtasks": {"both": ["often", "choice"], **{name: [] for name in found}},
        "configs": configs,
        "versions": dict.fromkeys(found, "1.0"),
        "n-shot": dict.fromkeys(found, 0),
        "higher_is_better": {
            name: {next(iter(entry)).partition(",")[0]: True}
            for name, entry in figures.items()
        },
        "n-samples": {
            name: {"original": 9, "effective": len({row["doc_id"] for row in rows})}
            for name, rows in found.items()
        },
        "config": {
            "model": "qwen2_5_vl",
            "model_args": "pretrained=org/tiny-VL,max_pixels=1024,device_map=auto",
            "batch_size": 1,
            "limit": None,
            "gen_kwargs": "temperature=0.5",
        },
        "git_hash": "abc123",
        "lmms_eval_version": "0.7.3",
        "date": STAMP,
        "usage": {"total": {"input_tokens": 1500}},
    }


def main() -> None:
    folder, package = map(Path, sys.argv[1:3])
    found = samples()
    tool = tracker(package)(output_path=str(folder))
    tool.general_config_tracker.log_experiment_args(
        "qwen2_5_vl", "pretrained=org/tiny-VL,max_pixels=1024", "", "", False
    )
    tool.general_config_tracker.start_time = 0.0
    tool.save_results_aggregated(results(found), found, STAMP)
    for name, rows in found.items():
        tool.save_results_samples(name, rows)


if __name__ == "__main__":
    main()
