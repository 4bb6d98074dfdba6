"""Slices of models that are means over training seeds: not tested, and what tests them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support.cli import Caller
from tests.support.stores import filled_once
from warehouse import connect

SKILL = {"otter": 0.9, "falcon": 0.4}
TOPICS = ("art", "law", "sea")


@pytest.fixture
def url(store_url: str, tmp_path: Path) -> str:
    def fill() -> None:
        dice = random.Random(3)
        lines = ["model,benchmark,prompt_id,score,training_seed,topic"]
        for model, skill in SKILL.items():
            for seed in range(3):
                for n in range(60):
                    score = int(dice.random() < skill)
                    lines.append(f"{model},quiz,q{n},{score},{seed},{TOPICS[n % 3]}")
        path = tmp_path / "seeds.csv"
        path.write_text("\n".join(lines) + "\n")
        connect(store_url).ingest(path, higher_is_better=True)

    filled_once(store_url, __name__, fill)
    return store_url


def test_the_way_out_is_named_and_works(url: str, run: Caller) -> None:
    bare = run("compare", "otter", "falcon", "--by", "topic", db=url)
    said = " ".join(bare.out.split())
    assert said.count("not tested together") == 1
    assert "--seeds-are sampling" in said and "says nothing of other seeds" in said
    tested = run(
        *("compare", "otter", "falcon", "--by", "topic", "--seeds-are", "sampling"),
        db=url,
    )
    assert "otter is better on 3 of 3 slices" in tested.out
