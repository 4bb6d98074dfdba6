"""What is read first of a score over several forms: true also where forms change
nothing, and where there is one model."""

from __future__ import annotations

from dataclasses import replace

from warehouse.analysis.templates.view import TemplateRow, TemplatesReport
from warehouse.tables.text import in_text

ROW = TemplateRow(
    **{"model": "org/a", "condition": "", "benchmark": "quiz", "split": ""},
    **{"metric": "acc", "estimate": 0.6, "standard_error": 0.05, "level": 0.95},
    **{"ci_low": 0.5, "ci_high": 0.7, "df": 4.0, "random": "both", "n_prompts": 20},
    **{"n_clusters": None, "n_templates": 4, "n_left_out": 0, "best": 0.7},
    **{"best_template": "t3", "worst": 0.5, "worst_template": "t1"},
    **{"variance_prompts": 0.1, "variance_templates": 0.01},
    **{"variance_residual": 0.1, "part_prompts": 0.001, "part_templates": 0.003},
    **{"part_residual": 0.0, "templates_needed": None, "flags": (), "reason": ""},
    run_ids=(1,),
)
REPORT = TemplatesReport(
    **{"target": "quiz", "factor": "template", "rows": (ROW,), "templates": ()},
    **{"flip_share": None, "n_top": None, "left_out": (), "is_share": True},
)


def told(**changes: object) -> str:
    return in_text(replace(REPORT, **changes).view(), width=2000)


def test_one_model_has_its_lowest_and_its_highest_form() -> None:
    first, *rest = told().splitlines()
    assert first == (
        "The template moves a score by up to 20.0 points: org/a has between 50.0 % by t1 "
        "and 70.0 % by t3."
    )
    assert "75 %" in "\n".join(rest) and "other way round" not in "\n".join(rest)


def test_forms_that_differ_by_chance_alone_are_said_to() -> None:
    rows = (replace(ROW, variance_templates=-0.001, part_templates=-0.0003),)
    assert "that much chance alone makes, and no template is seen to be easier" in told(
        rows=rows
    )


def test_forms_that_change_nothing() -> None:
    rows = (replace(ROW, best=0.6, worst=0.6),)
    assert told(rows=rows).startswith("No template moves any score")
    assert told(rows=(replace(ROW, best=None, worst=None),)).startswith(
        "How far the template moves scores is not known."
    )


def test_the_order_of_models() -> None:
    rows = (ROW, replace(ROW, model="org/b"))
    assert "No template alone puts two of the 2 rows the other way round." in told(
        rows=rows, flip_share=0.0, n_top=1
    )
    one = told(rows=rows, flip_share=0.25, n_top=1)
    assert "the two stand the other way round in 25 % of cases; one is first by" in one
    assert "each is first by some template" in told(rows=rows, flip_share=0.25, n_top=2)


def test_where_only_prompts_are_a_sample_forms_make_no_part_of_the_error() -> None:
    rows = (replace(ROW, random="prompts"),)
    table = told(rows=rows).splitlines()
    assert not any("error from templates" in line and "---" in line for line in table)
    assert "error from templates  " not in table[3]


def test_judges_are_called_so() -> None:
    assert told(factor="judge").startswith("The judge moves a score by up to")
    assert "few-shot draw" in told(factor="fewshot")
