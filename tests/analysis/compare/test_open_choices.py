"""What a reference to a model with many checkpoints is answered with: short, and with
what works."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller

STEPS = [1000.0 * step for step in range(1, 13)]
MODELS = ("t/one", "t/two")


def build_rows() -> StoreRows:
    rows = StoreRows()
    acc = rows.metric()
    for name in ("quiz", "essay"):
        rows.describe(name, acc)
        for model in MODELS:
            for step in STEPS:
                run = rows.run(model, name, step=step)
                value = 0.5 + step / 100_000
                rows.published(run, value, acc, benchmark=name, standard_error=0.01)
    return rows


ROWS = build_rows()


def test_the_way_out_of_a_pairing_works(run: Caller, url: str) -> None:
    refused = run("compare", *MODELS, "-b", "quiz", db=url)
    assert refused.code == 2
    found = re.search(r"warehouse (?:--db \S+ )?(compare .*)", refused.err)
    assert found is not None and "--latest" in found[1]
    assert run(*shlex.split(found[1]), db=url).code == 0


@pytest.mark.parametrize("options", [(), ("-b", "quiz")])
def test_open_checkpoints_are_few_lines_with_both_ways(
    options: tuple[str, ...], run: Caller, url: str
) -> None:
    refused = run("compare", *MODELS, "--unpaired", *options, db=url)
    said = refused.err.strip().splitlines()
    assert refused.code == 2 and len(said) <= 10
    assert "--latest" in said[0] and "t/one@step=12000" in said[0]
    named = [f"{model}@step=12000" for model in MODELS]
    assert run("compare", *named, "--unpaired", *options, db=url).code == 0
    assert run("compare", *MODELS, "--unpaired", "--latest", *options, db=url).code == 0
