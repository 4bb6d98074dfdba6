"""Drafts of tables whose prompts or systems no single column names, or whose score is none:
made-up tables of kinds that strangers had."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from tests.support.cli import Caller
from tests.support.drafts import asked, document, readings, table
from warehouse.importers.tabular.drafts.draft import starting_mapping

MODELS = ("gpt-5", "claude-4-sonnet", "llama-9b")


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    """A file of JSON lines."""
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


# --- prompts that several columns name ------------------------------------------------


def test_a_scenario_and_its_turn_are_a_prompt(run: Caller, tmp_path: Path) -> None:
    rows = [
        {
            "model": m,
            "scenario": scenario,
            "turn_number": turn,
            "phase": "start" if turn == 5 else "pressure",
            "stance_score": (turn + scenario * (k + 1)) % 4,
        }
        for k, m in enumerate(MODELS)
        for scenario in (1, 2, 3)
        for turn in (5, 9, 13, 17)
    ]
    path = table(tmp_path / "t.csv", rows)
    draft = starting_mapping(path)
    assert not asked(draft)
    template = {"template": "{scenario} {turn_number}"}
    assert tomllib.loads(draft)["sample"]["prompt_id"] == template
    said = run("leaderboard", "--from", str(path), "--default", "benchmark=b")
    assert "12 questions" in said.out, said.out + said.err


def test_a_strategy_under_which_prompts_come_back_is_asked_about(
    tmp_path: Path,
) -> None:
    rows = [
        {
            "model": m,
            "vuln_class": kind,
            "instance": f"case{i}",
            "strategy": strategy,
            "found": int((i + k + len(strategy)) % 3 > 0),
        }
        for k, m in enumerate(MODELS)
        for kind in ("overflow", "signer", "logic")
        for i in range(4)
        for strategy in ("plain", "retrieval")
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert '"strategy" tells apart' in readings(draft)
    template = {"template": "{vuln_class} {instance}"}
    assert tomllib.loads(draft)["sample"]["prompt_id"] == template


def test_columns_that_may_name_prompts_together_are_offered(tmp_path: Path) -> None:
    """No row's time names a prompt, nor does the place of a row where models stand one
    below the other."""
    rows = [
        {
            "model": m,
            "shape": shape,
            "side": side,
            "ink": ink,
            "correct": (k + len(shape + side + ink)) % 3 > 0,
            "timestamp": f"2026-03-25T04:{k:02d}:{len(shape):02d}.{len(side + ink)}",
        }
        for k, m in enumerate(MODELS)
        for shape in ("circle", "square", "star")
        for side in ("left", "right")
        for ink in ("red", "green", "cyan")
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    (choice,) = asked(draft)
    together = '"shape" and "side" and "ink" together'
    assert choice["between"][0] == f"prompts, each told by {together}"
    assert "in the same order" not in readings(draft)
    assert 'prompt_id = "timestamp"' not in draft.partition("[run]")[0]


def test_figures_of_datasets_and_settings_are_no_prompts(tmp_path: Path) -> None:
    rows = [
        {"model": m, "domain": d, "shots": s, "accuracy": 0.5 + k / 9 + s / 90}
        for k, m in enumerate(MODELS)
        for d in ("law", "art", "trade", "sport")
        for s in (0, 1, 5)
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert "prompt_id" not in tomllib.loads(draft).get("sample", {})


# --- systems in the names of columns --------------------------------------------------


def test_names_of_columns_begin_with_systems(run: Caller, tmp_path: Path) -> None:
    """Once written, the reading holds."""
    rows = [
        {
            "prompt": f"Say something about number {i}, in short",
            "base_brevity": 1 + i % 3,
            "base_accuracy": 1 + i % 5,
            "tuned_brevity": 5 - i % 2,
            "tuned_accuracy": 1 + i % 4,
        }
        for i in range(12)
    ]
    path = lines(tmp_path / "r.jsonl", rows)
    reading = '"base" and "tuned" are models or systems, each with brevity and accuracy'
    assert reading in readings(starting_mapping(path))
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        """
        files = ["r.jsonl"]
        [each]
        system = ["base", "tuned"]
        [run]
        model = { const = "{system}" }
        benchmark = { const = "b" }
        [sample]
        text = "prompt"
        [[scores]]
        metric = "brevity"
        value = '"{system}_brevity"'
        [metrics.brevity]
        kind = "bounded"
        low = 1
        high = 5
        higher_is_better = true
        """
    )
    said = run("leaderboard", "--from", str(path), "--map", str(mapping))
    assert "tuned" in said.out and "4.5" in said.out, said.out + said.err


def test_verdicts_beside_what_each_system_said(tmp_path: Path) -> None:
    rows = [
        {
            "sample": i,
            "base_pass": ("PASS", "FAIL")[i % 2],
            "base_output": f"def f(): return {i}",
            "tuned_pass": ("PASS", "FAIL")[i % 3 == 0],
            "tuned_output": f"def g(): return {i}",
        }
        for i in range(9)
    ]
    draft = starting_mapping(lines(tmp_path / "r.jsonl", rows))
    (choice,) = asked(draft)
    first = '"base" and "tuned" are models or systems, each with pass'
    assert choice["between"][0] == first
    assert sum("base_pass" in reading for reading in choice["between"]) == 1


def test_aspects_with_their_reasons_are_no_systems(tmp_path: Path) -> None:
    rows = [
        {
            "prompt": f"Say something about number {i}, in short",
            "depth_score": 1 + i % 5,
            "depth_reason": f"since {i}",
            "style_score": 1 + i % 4,
            "style_reason": f"for {i}",
        }
        for i in range(9)
    ]
    draft = starting_mapping(lines(tmp_path / "r.jsonl", rows))
    assert "models or systems" not in readings(draft)


def test_all_metrics_of_objects_of_systems_are_named(tmp_path: Path) -> None:
    def scores(i: int) -> dict[str, int]:
        return {"accuracy": 1 + i % 5, "style": 1 + i % 4}

    rows = [
        {"id": f"q{i}", "base_scores": scores(i), "tuned_scores": scores(i + 1)}
        for i in range(9)
    ]
    draft = starting_mapping(document(tmp_path / "r.json", {"rows": rows}))
    assert 'and one more for each of "{system}.style"' in draft


# --- scores that are none -------------------------------------------------------------


def test_how_sure_a_detector_was_is_no_score(run: Caller, tmp_path: Path) -> None:
    """It stood for what is right, for those that state it."""
    rows = [
        {
            "method": m,
            "row_id": i,
            "label": i % 2,
            "flagged": (i * (k + 2)) % 3 > 0,
            "score": "" if k == 0 else 0.1 + 0.8 * ((i * (k + 2)) % 3 > 0) - i / 999,
        }
        for k, m in enumerate(("llamaguard", *MODELS[:2]))
        for i in range(24)
    ]
    path = table(tmp_path / "t.csv", rows)
    (choice,) = asked(starting_mapping(path))
    assert choice["what"].endswith('"score" is empty in all rows of llamaguard')
    assert choice["between"][0] == '"flagged" is right where it equals "label"'
    sure = [row for row in rows if row["score"] != ""]
    (choice,) = asked(starting_mapping(table(tmp_path / "u.csv", sure)))
    assert choice["what"].endswith('"score" says how sure a flag is')
    said = run("leaderboard", "--from", str(path), "--default", "benchmark=b")
    said.fails(3, "which column says what is right")


def test_seeds_are_no_models(tmp_path: Path) -> None:
    """That a run ended well does not say that its answer is right."""
    rows = [
        {
            "task": {
                "id": f"S{i}",
                "prompt": f"Return it, number {i}",
                "expect": f"v{i}",
            },
            "config": {"seed": f"seed_{seed}"},
            "result": {
                "success": i % 5 > 0,
                "final_output": f"v{i + (i + seed) % 2}",
                "steps": 1 + i % 3,
            },
        }
        for seed in range(3)
        for i in range(12)
    ]
    draft = starting_mapping(lines(tmp_path / "r.jsonl", rows))
    first, second = asked(draft)
    assert first["between"][0] == "generations of each prompt"
    assert "models" not in first["between"]
    assert '"result.final_output" is right where it equals' in readings(draft)
    assert second["what"].endswith(
        '"result.success" may say that a run came to its end'
    )


def test_switches_of_a_setup_are_no_scores(tmp_path: Path) -> None:
    rows = [
        {
            "setup": f"filter_{'on' if on else 'off'}",
            "enable_filter": on,
            "model": m,
            "input": f"Ignore all of it, as of number {i}",
            "attack_success": (i + k + on) % 3 == 0,
            "blocked": (i + k) % 2 == 0,
        }
        for on in (False, True)
        for k, m in enumerate(MODELS)
        for i in range(9)
    ]
    draft = starting_mapping(table(tmp_path / "t.csv", rows))
    assert [choice["what"].split()[0] for choice in asked(draft)] == ["what", "whether"]
    assert '"enable_filter' not in readings(draft)
    assert "rows of the same text" not in readings(draft)


def test_a_score_among_its_parts_is_no_benchmark(run: Caller, tmp_path: Path) -> None:
    rows = [
        {
            "model": m,
            "score": 60.5 + k,
            "Biology": 50.5 + 2 * k,
            "Spanish": 70.5 + k,
            "Physics": 40.5 + k,
            "Letters": 80.5 - k,
        }
        for k, m in enumerate(MODELS)
    ]
    path = table(tmp_path / "board.csv", rows)
    draft = starting_mapping(path)
    cells = tomllib.loads(draft)["matrix"]["cells"]
    assert "Biology" in cells and "score" not in cells


def test_where_nothing_differs_the_scores_are_asked_for_first(tmp_path: Path) -> None:
    rows = [
        {
            "scenario_id": f"s{i}",
            "holder_model": MODELS[k],
            "seeker_model": MODELS[(i + k) % 3],
            "n_turns": 1 + i % 5,
            "ok": True,
        }
        for k in range(3)
        for i in range(12)
    ]
    (choice,) = asked(starting_mapping(lines(tmp_path / "r.jsonl", rows)))
    assert choice["what"] == "which columns are the scores of the prompts"
    assert choice["between"][-1].startswith("none of them")


def test_a_score_among_shares_is_asked_about(tmp_path: Path) -> None:
    """A place in a ranking became a benchmark once the score was left out."""
    rows = [
        {
            "model": f"net-{'abcdefgh'[i]}",
            "keypoints": 0.70 + i / 50,
            "reps": 0.95 - i / 90,
            "speed": 0.20 + i / 10,
            "stability": 0.60 + i / 70,
            "deploy_rank": 1 + i % 4,
            "score": 0.75 + i / 80,
        }
        for i in range(8)
    ]
    draft = starting_mapping(table(tmp_path / "board.csv", rows))
    assert "benchmarks, of which each has a figure" in readings(draft)
