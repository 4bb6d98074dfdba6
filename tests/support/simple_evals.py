"""Results of simple-evals, made after its source (``common.py``,
``healthbench_eval.py``), since it is no package that could write them. ``python -m
tests.support.simple_evals FOLDER`` writes them."""

from __future__ import annotations

import html
import json
import statistics
import sys
from pathlib import Path
from typing import Any

HEALTH, MMLU = "healthbench_hard_tiny-3m_20260304_050607", "mmlu_tiny-3m_assistant"


def message(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def page(convo: list[dict[str, Any]], target: Any, answer: Any, score: Any) -> str:
    """The page of a sample: all texts in it are escaped."""
    parts = ["<h3>Prompt conversation</h3>"]
    for part in convo[:-1]:
        parts.append(
            f"\n<div>{part['role']}<pre>{html.escape(str(part['content']))}</pre></div>"
        )
    parts += [
        "<h3>Sampled message</h3>",
        html.escape(str(convo[-1]["content"])),
        "<h3>Results</h3>",
    ]
    if target is not None:
        parts.append(f"<p>Correct Answer: {html.escape(str(target))}</p>")
    parts += [
        f"<p>Extracted Answer: {html.escape(str(answer))}</p>",
        f"<p>Score: {score}</p>",
    ]
    return "\n".join(parts)


def write(folder: Path, stem: str, found: dict[str, Any], debug: str = "") -> Path:
    """The files of one evaluation."""
    folder.mkdir(parents=True, exist_ok=True)
    metrics = dict(sorted({**found["metrics"], "score": found["score"]}.items()))
    (folder / f"{stem}{debug}.json").write_text(json.dumps(metrics, indent=2))
    (folder / f"{stem}{debug}.html").write_text(
        "<html>" + "<hr>".join(found["htmls"]) + "</html>"
    )
    path = folder / f"{stem}{debug}_allresults.json"
    path.write_text(json.dumps(found, indent=2))
    return path


def mmlu() -> dict[str, Any]:
    """Three questions, asked twice; scores stand in the pages alone."""
    asked = [
        ("one?", "A", ["A", "B"], [1.0, 0.0]),
        ("two <b>?", "B & C", ["B & C", "A"], [1.0, 0.0]),
        ("three?", "D", [None, "D"], [0.0, 1.0]),
    ]
    convos, htmls, scores = [], [], []
    for draw in (0, 1):
        for question, target, answers, graded in asked:
            said = f"draw {draw}: <p>Score: 7</p> Answer: {answers[draw]}"
            convo = [
                message("system", "be short"),
                message("user", question),
                message("assistant", said),
            ]
            convos.append(convo)
            htmls.append(page(convo, target, answers[draw], graded[draw]))
            scores.append(graded[draw])
    metrics = {"stem": 0.25, "stem:std": 0.75, "score:std": statistics.pstdev(scores)}
    return {
        "score": statistics.fmean(scores),
        "metrics": metrics,
        "htmls": htmls,
        "convos": convos,
        "metadata": {"example_level_metadata": [None] * len(convos)},
    }


def health() -> dict[str, Any]:
    """Two conversations, graded by a rubric; one scores below 0."""
    convos, htmls, known, scores = [], [], [], [0.625, -0.125]
    for place, score in enumerate(scores):
        prompt = [
            message("user", f"ill {place}"),
            message("assistant", f"since when {place}"),
            message("user", f"since {place} days"),
        ]
        answer = message("assistant", f"rest {place}")
        convos.append([*prompt, answer])
        htmls.append(page(convos[-1], None, answer["content"], score))
        known.append(
            {
                "score": score,
                "usage": {
                    "input_tokens": 100 + place,
                    "input_cached_tokens": 50,
                    "output_tokens": 200 + place,
                    "output_reasoning_tokens": 20,
                    "total_tokens": 300 + 2 * place,
                },
                "rubric_items": [
                    {
                        "criterion": f"says {place}",
                        "points": 5.0,
                        "tags": ["axis:care"],
                        "criteria_met": place == 0,
                        "explanation": f"because {place}",
                    }
                ],
                "prompt": prompt,
                "completion": [answer],
                "prompt_id": f"prompt-{place}",
                "completion_id": f"completion-{place}",
            }
        )
    metrics = {
        "overall_score": 0.25,
        "overall_score:n_samples": 2,
        "overall_score:bootstrap_std": 0.1875,
        "axis:care": 0.5,
        "axis:care:n_samples": 1,
        "axis:care:bootstrap_std": 0.0625,
        "score:n_samples": 2,
        "score:bootstrap_std": 0.1875,
    }
    return {
        "score": statistics.fmean(scores),
        "metrics": metrics,
        "htmls": htmls,
        "convos": convos,
        "metadata": {"example_level_metadata": known},
    }


def main(folder: Path) -> None:
    write(folder, HEALTH, health())
    write(folder, MMLU, mmlu(), "_DEBUG")
    figures = {
        "bn": 0.0,
        "bn:std": 0.0,
        "group_latin": 1.0,
        "group_latin:std": 0.0,
        "score:std": 0.4375,
        "score": 0.6875,
    }
    (folder / "mgsm_tiny-3m.json").write_text(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
