"""How few labels put a corrected mean on the other side of a bar: golden G26-11, and all
sets of labels of small samples."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from warehouse.errors import StatisticsError
from warehouse.stats import prediction_powered_mean
from warehouse.stats.leaving_out.labels import handful_of_labels


def corrected(h: np.ndarray, g: np.ndarray) -> float:
    """θ̂ by its definition, none of the rules for few labels."""
    there = ~np.isnan(h)
    own, judge = h[there], g[there]
    slope = 0.0
    if len(own) > 1 and judge.var() > 0:
        slope = float(np.cov(own, judge)[0, 1] / judge.var(ddof=1))
    return float(own.mean() - min(1, max(0, slope)) * (judge.mean() - g.mean()))


def test_g26_11_labels_of_llmbar(data_dir: Path) -> None:
    folder = data_dir / "llmbar" / "Natural"
    items = json.loads((folder / "dataset.json").read_text(encoding="utf-8"))
    path = folder / "evaluators" / "GPT-4" / "Vanilla" / "result.json"
    verdicts = json.loads(path.read_text(encoding="utf-8"))
    h = np.array([float(str(item["label"]) == "1") for item in items])
    g = []
    for verdict in verdicts:
        g.append(float(str(verdict["results"][-1]["swap = False"]["winner"]) == "1"))
    h[40:] = np.nan
    found = handful_of_labels(h, g, 0.4)
    assert found.estimate == pytest.approx(0.4395238095, abs=1e-9)
    assert (found.count, found.with_yes, found.with_no) == (2, 1, 1)
    above = handful_of_labels(h, g, 0.5)
    assert (above.count, above.with_yes, above.with_no) == (3, 0, 3)
    assert handful_of_labels(h, g, 0.6).count == 6
    figure = prediction_powered_mean(h, g)
    assert figure.estimate == pytest.approx(found.estimate)
    assert figure.weight == pytest.approx(0.8997493734, abs=1e-9)


@given(
    st.lists(st.tuples(st.booleans(), st.booleans()), min_size=3, max_size=9),
    st.lists(st.booleans(), min_size=0, max_size=6),
    st.sampled_from([0.21, 0.37, 0.52, 0.73]),
)
def test_no_fewer_labels_do(
    labelled: list[tuple[bool, bool]], others: list[bool], bar: float
) -> None:
    h = np.array([float(own) for own, _ in labelled] + [np.nan] * len(others))
    g = np.array([float(said) for _, said in labelled] + [float(o) for o in others])
    start = corrected(h, g)
    assume(abs(start - bar) > 1e-9)
    found = handful_of_labels(h, g, bar)
    assert found.estimate == pytest.approx(start, abs=1e-9)
    fewest = None
    for k in range(1, len(labelled) + 1):
        for chosen in combinations(range(len(labelled)), k):
            turned = h.copy()
            turned[list(chosen)] = 1 - turned[list(chosen)]
            if (corrected(turned, g) - bar) * (start - bar) < -1e-12:
                fewest = k
        if fewest:
            break
    assert found.count == fewest


def test_a_weight_from_elsewhere_stays() -> None:
    h = np.array([1.0] * 12 + [0.0] * 8 + [np.nan] * 20)
    g = np.array([1.0] * 10 + [0.0] * 10 + [1.0, 0.0] * 10)
    alone = handful_of_labels(h, g, 0.42, weight=0.0)
    assert (alone.estimate, alone.count) == (0.6, 4)
    assert handful_of_labels(h, g, 0.6, weight=0.0).count == 0
    assert handful_of_labels(h, g, 1.5).count is None


def test_what_is_not_0_or_1_is_refused() -> None:
    with pytest.raises(StatisticsError, match="0 or 1"):
        handful_of_labels([1.0, 2.0], [1.0, 0.0], 0.5)
    with pytest.raises(StatisticsError, match="no label"):
        handful_of_labels([float("nan")], [1.0], 0.5)
