"""The table of default intervals, row by row, and methods that are asked for by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from warehouse.errors import StatisticsError
from warehouse.stats import (
    choose_interval,
    estimate_mean,
    interval_betting,
    interval_bootstrap,
    interval_clopper_pearson,
    interval_clopper_pearson_effective,
    interval_gaffke,
    interval_jeffreys,
    interval_korn_graubard,
    interval_normal,
    interval_t,
    interval_wild_bootstrap,
    interval_wilson,
    interval_wilson_bounded,
)

EFFECTIVE = "clopper_pearson_effective"
TABLE = [
    # data, method, flags
    ({"n_prompts": 101, "binary": True}, "wilson", ()),
    ({"n_prompts": 100, "binary": True}, "wilson", ("few_prompts",)),
    ({"n_prompts": 10**6, "binary": True}, "wilson", ()),
    ({"n_prompts": 30, "bounded": True}, "gaffke", ()),
    ({"n_prompts": 29, "bounded": True}, "gaffke", ("few_prompts",)),
    ({"n_prompts": 999, "bounded": True, "skewness": 30.0}, "gaffke", ()),
    ({"n_prompts": 500, "bounded": True, "effective_n": 1.0}, "gaffke", ()),
    ({"n_prompts": 1000, "bounded": True, "skewness": 5.0}, "t", ()),
    ({"n_prompts": 999, "bounded": True, "constant": True}, "gaffke", ()),
    ({"n_prompts": 10**6, "bounded": True, "constant": True}, "gaffke", ()),
    ({"n_prompts": 1000, "bounded": True, "skewness": 5.1}, "gaffke", ()),
    ({"binary": True, "effective_n": 9.0}, "wilson", ("few_informative_prompts",)),
    (
        {"n_prompts": 100, "binary": True, "effective_n": 9.0},
        "wilson",
        ("few_prompts",),
    ),
    ({"skewness": 0.2}, "hull", ()),
    ({"skewness": -0.21}, "hull", ("skewed",)),
    ({"n_prompts": 20}, "hull", ()),
    ({"n_prompts": 19}, "hull", ("few_prompts",)),
    ({"n_prompts": 6}, "hull", ("few_prompts",)),
    ({"n_prompts": 5}, "t", ("few_prompts",)),
    ({"effective_n": 9.0, "differences": True}, "hull", ("few_informative_prompts",)),
    *(
        (data | {"bounded": True, "differences": True}, "t", flags)
        for data, flags in [
            ({"n_prompts": 360, "skewness": 3.0}, ()),
            ({"n_prompts": 359, "skewness": 3.0}, ("few_skewed_prompts",)),
            ({"n_prompts": 49, "skewness": 1.0}, ("few_prompts",)),
            ({"n_prompts": 49, "skewness": 1.0, "constant": True}, ()),
            ({"n_prompts": 50, "skewness": 1.0}, ()),
            ({"tail_units": 38.0}, ()),
            ({"tail_units": 37.9}, ("heavy_tailed_prompts",)),
            ({"n_prompts": 1500, "tail_units": 100.0}, ()),
            ({"n_prompts": 1500, "tail_units": 99.9}, ("heavy_tailed_prompts",)),
            ({"n_prompts": 10**6, "tail_units": 150.0}, ()),
            ({"n_prompts": 49, "skewness": -1.1}, ("few_skewed_prompts",)),
        ]
    ),
    (
        {"n_clusters": 20, "binary": True, "effective_n": 20, "size_cv": 0.5},
        "korn_graubard_wilson",
        (),
    ),
    (
        {"n_clusters": 19, "binary": True, "effective_n": 20},
        "korn_graubard_wilson",
        ("few_informative_clusters",),
    ),
    (
        {"n_clusters": 99, "binary": True, "effective_n": 10.9},
        EFFECTIVE,
        ("few_informative_clusters",),
    ),
    ({"n_clusters": 99, "binary": True, "effective_n": 11}, EFFECTIVE, ()),
    ({"n_clusters": 99, "binary": True, "effective_n": 19.9}, EFFECTIVE, ()),
    (
        {"n_clusters": 99, "binary": True, "effective_n": 20, "size_cv": 0.51},
        "korn_graubard_clopper_pearson",
        (),
    ),
    ({"n_clusters": 20, "bounded": True}, "wilson_bounded", ()),
    ({"n_clusters": 19, "bounded": True}, "wilson_bounded", ("few_clusters",)),
    ({"n_clusters": 40, "bounded": True, "effective_n": 15}, EFFECTIVE, ()),
    (
        {"n_clusters": 40, "bounded": True, "effective_n": 9},
        EFFECTIVE,
        ("few_informative_clusters",),
    ),
    ({"n_clusters": 20, "bounded": True, "skewness": 2.0}, "wilson_bounded", ()),
    (
        {"n_clusters": 60, "bounded": True, "skewness": 2.0, "size_cv": 0.6},
        "wilson_bounded",
        ("few_skewed_clusters",),
    ),
    (
        {"n_clusters": 60, "binary": True, "skewness": -2.0, "size_cv": 0.6},
        "korn_graubard_clopper_pearson",
        ("few_skewed_clusters",),
    ),
    ({"n_clusters": 20}, "hull", ()),
    ({"n_clusters": 20, "skewness": 0.3}, "hull", ("skewed",)),
    ({"n_clusters": 19}, "hull", ("few_clusters",)),
    ({"n_clusters": 90, "effective_clusters": 19.0}, "hull", ("few_clusters",)),
    ({"n_clusters": 5}, "cr2_t", ("few_clusters",)),
    ({"n_clusters": 20, "differences": True}, "hull", ()),
    *(
        (data | {"bounded": True, "differences": True}, "cr2_t", flags)
        for data, flags in [
            ({"n_clusters": 50, "tail_units": 37.0}, ("heavy_tailed_clusters",)),
            ({"n_clusters": 50, "skewness": 1.2}, ("few_skewed_clusters",)),
            ({"n_clusters": 20, "effective_n": 10}, ()),
            ({"n_clusters": 90, "effective_clusters": 19.0}, ("few_clusters",)),
        ]
    ),
]


@pytest.mark.parametrize(("data", "method", "flags"), TABLE)
def test_the_table(data: dict[str, Any], method: str, flags: tuple[str, ...]) -> None:
    choice = choose_interval(**{"n_prompts": 500} | data)
    assert (choice.method, choice.flags) == (method, flags)
    assert choice.reason


def scores(kind: str, n: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    return (rng.random(n) < 0.6).astype(float) if kind == "binary" else rng.random(n)


def clusters(n: int, count: int) -> np.ndarray:
    return np.arange(n) % count


@pytest.mark.parametrize(
    ("kind", "n", "options", "method"),
    [
        ("binary", 40, {}, "wilson"),
        ("binary", 40, {"bounds": (0, 1)}, "wilson"),
        ("binary", 40, {"n_draws": 1}, "wilson"),
        ("binary", 80, {"n_draws": [1] * 79 + [2], "bounds": (0, 1)}, "gaffke"),
        ("binary", 80, {"n_draws": 4, "bounds": (0, 1)}, "gaffke"),
        ("binary", 80, {"binary": False, "bounds": (0, 1)}, "gaffke"),
        ("binary", 12, {"binary": False, "bounds": (0, 1)}, "gaffke"),
        ("bounded", 40, {"bounds": (0, 1)}, "gaffke"),
        ("bounded", 999, {"bounds": (0, 1)}, "gaffke"),
        ("bounded", 40, {"bounds": (0, None)}, "hull"),
        ("bounded", 40, {"bounds": (0, float("inf"))}, "hull"),
        ("bounded", 1000, {"bounds": (0, 1)}, "t"),
        ("bounded", 40, {}, "hull"),
        ("binary", 40, {"weights": np.arange(1, 41)}, "wilson_weighted"),
        (
            "bounded",
            40,
            {"weights": np.arange(1, 41), "bounds": (0, 1)},
            "gaffke_weighted",
        ),
        (
            "bounded",
            40,
            {"weights": np.arange(1, 41), "clusters": clusters(40, 20)},
            "hull",
        ),
        ("binary", 200, {"clusters": clusters(200, 40)}, "korn_graubard_wilson"),
        ("binary", 40, {"clusters": clusters(40, 5)}, EFFECTIVE),
        (
            "bounded",
            300,
            {"clusters": clusters(300, 30), "bounds": (0, 1)},
            "wilson_bounded",
        ),
        ("bounded", 40, {"clusters": clusters(40, 20)}, "hull"),
    ],
)
def test_estimate_mean_follows_the_table(
    kind: str, n: int, options: dict[str, Any], method: str
) -> None:
    result = estimate_mean(scores(kind, n), **options)
    assert result.method == method
    assert result.ci_low is not None and result.ci_high is not None
    assert result.ci_low < result.estimate < result.ci_high


def test_unequal_clusters_turn_to_clopper_pearson() -> None:
    s, sizes = scores("binary", 380), [2] * 40 + [10] * 30
    result = estimate_mean(s, clusters=np.repeat(np.arange(70), sizes))
    assert result.method == "korn_graubard_clopper_pearson"
    assert "unequal" in result.reason


def test_skewed_scores_are_marked_and_t_stands_beside() -> None:
    scores = np.random.default_rng(1).gamma(0.5, size=30)
    found = estimate_mean(scores, seed=3)
    assert (found.method, found.flags) == ("hull", ("skewed",))
    assert found.beside == interval_t(found.estimate, found.se_clt, 29)
    assert found.ci_high > found.beside.high and found.ci_low == found.beside.low
    assert estimate_mean(np.linspace(0, 9, 20)).flags == ()
    assert estimate_mean(scores, method="t").beside is None


def test_many_skewed_bounded_scores_keep_gaffkes_interval() -> None:
    rng = np.random.default_rng(5)
    scores = np.where(rng.random(3000) < 0.01, rng.random(3000), 0.0)
    found = estimate_mean(scores, bounds=(0, 1), seed=4)
    assert (found.method, found.flags, found.beside) == ("gaffke", (), None)
    assert ends(interval_gaffke(scores)) == (found.ci_low, found.ci_high)
    assert estimate_mean(rng.random(3000), bounds=(0, 1)).method == "t"
    asked = estimate_mean(scores, bounds=(0, 1), method="betting", seed=4)
    assert (asked.ci_low, asked.ci_high, asked.beside) == (
        *ends(interval_betting(scores, seed=4)),
        None,
    )


def test_few_unbounded_clusters_have_the_wild_bootstrap_beside() -> None:
    rng = np.random.default_rng(2)
    codes = clusters(120, 12)
    scores = rng.normal(size=120) + rng.normal(size=12)[codes]
    found = estimate_mean(scores, clusters=codes, seed=4)
    assert (found.method, found.flags) == ("hull", ("few_clusters",))
    assert found.beside == interval_wild_bootstrap(scores, clusters=codes, seed=4)
    more = estimate_mean(scores, clusters=clusters(120, 40))
    assert more.flags == () and more.beside is not None and more.beside.method == "t"


def test_resampling_by_name() -> None:
    scores, codes = scores_of_two_kinds()
    for method, kind in (("bootstrap", "percentile"), ("bca", "bca")):
        found = estimate_mean(
            scores,
            clusters=codes,
            link="exp_neg",
            weights=codes + 1.0,
            method=method,
            n_resamples=500,
            seed=2,
        )
        expected = interval_bootstrap(
            scores,
            clusters=codes,
            link="exp_neg",
            weights=codes + 1.0,
            kind=kind,
            n_resamples=500,
            seed=2,
        )
        assert expected is not None
        assert (found.ci_low, found.ci_high) == (expected.low, expected.high)
        assert (found.method, found.reason) == (method, "asked for")
    found = estimate_mean(
        scores, clusters=codes, method="wild_bootstrap", n_resamples=500
    )
    wild = interval_wild_bootstrap(scores, clusters=codes, n_resamples=500)
    assert wild is not None and (found.ci_low, found.ci_high) == (wild.low, wild.high)


def scores_of_two_kinds() -> tuple[Any, Any]:
    return np.random.default_rng(5).gamma(2, size=60), clusters(60, 12)


def ends(found: Any) -> tuple[float, float]:
    return (found.low, found.high)


def test_each_method_is_the_function_of_its_name() -> None:
    s, codes = scores("binary", 60), clusters(60, 12)
    plain, grouped = estimate_mean(s), estimate_mean(s, clusters=codes)
    x, n, m = float(s.sum()), 60, plain.estimate
    expected = {
        "normal": interval_normal(m, plain.se_clt),
        "t": interval_t(m, plain.se_clt, 59),
        "wilson": interval_wilson(x, n),
        "clopper_pearson": interval_clopper_pearson(x, n),
        "jeffreys": interval_jeffreys(x, n),
        "wilson_bounded": interval_wilson_bounded(m, plain.se_clt, 59),
        "clopper_pearson_effective": interval_clopper_pearson_effective(s),
        "gaffke": interval_gaffke(s),
        "betting": interval_betting(s),
    }
    for method, interval in expected.items():
        result = estimate_mean(s, method=method)
        assert (result.ci_low, result.ci_high) == ends(interval)
        assert (result.method, result.reason) == (method, "asked for")
    expected = {
        "normal": interval_normal(m, grouped.se_cr2),
        "normal_eq4": interval_normal(m, grouped.se_clustered),
        "cr2_t": interval_t(m, grouped.se_cr2, grouped.degrees_of_freedom),
        "t": interval_t(m, grouped.se_cr2, grouped.degrees_of_freedom),
        "wilson_bounded": interval_wilson_bounded(
            m, grouped.se_cr2, grouped.degrees_of_freedom
        ),
        "korn_graubard_wilson": interval_korn_graubard(s, codes),
        "korn_graubard_clopper_pearson": interval_korn_graubard(
            s, codes, variant="clopper_pearson"
        ),
        "korn_graubard_svyciprop": interval_korn_graubard(
            s, codes, variant="svyciprop"
        ),
        "clopper_pearson_effective": interval_clopper_pearson_effective(
            s, clusters=codes
        ),
    }
    for method, interval in expected.items():
        result = estimate_mean(s, clusters=codes, method=method)
        assert (result.ci_low, result.ci_high) == ends(interval), method


def test_names_that_stand_for_another() -> None:
    s, codes = scores("binary", 60), clusters(60, 12)
    assert estimate_mean(s, clusters=codes, method="t").method == "cr2_t"
    found = estimate_mean(s, clusters=codes, method="korn_graubard")
    assert found.method == "korn_graubard_clopper_pearson"
    many = scores("binary", 400), clusters(400, 80)
    found = estimate_mean(many[0], clusters=many[1], method="korn_graubard")
    assert found.method == estimate_mean(many[0], clusters=many[1]).method
    assert found.method == "korn_graubard_wilson"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "expected one of auto, korn_graubard, normal"),
        ({"method": "cr2_t"}, "needs `clusters`"),
        ({"method": "korn_graubard"}, "needs `clusters`"),
        ({"method": "wilson", "clusters": [1, 1, 2]}, "use 'korn_graubard'"),
        ({"method": "wilson", "scores": [0, 0.5, 1]}, "needs 0/1 scores"),
        ({"method": "wilson", "link": "exp_neg"}, "needs 0/1 scores"),
        ({"method": "wilson", "n_draws": 2}, "needs 0/1 scores"),
        (
            {
                "method": "korn_graubard_wilson",
                "scores": [0, 0.5, 1],
                "clusters": [1, 1, 2],
            },
            "needs 0/1 scores",
        ),
        ({"method": "wilson_bounded", "scores": [0, 0.5, 1]}, "needs finite `bounds`"),
        ({"method": EFFECTIVE, "scores": [0, 0.5, 1]}, "needs finite `bounds`"),
        ({"method": EFFECTIVE, "weights": [1, 2, 3]}, "leave `weights` out"),
        ({"method": "gaffke", "scores": [0, 0.5, 1]}, "needs finite `bounds`"),
        ({"method": "betting", "scores": [0, 0.5, 1]}, "needs finite `bounds`"),
        ({"method": "gaffke", "clusters": [1, 1, 2]}, "use 'wilson_bounded'"),
        (
            {
                "method": "betting",
                "bounds": (0, 1),
                "scores": [0, 0.5, 1],
                "weights": [1, 2, 3],
            },
            "leave `weights` out",
        ),
        ({"method": "bca", "n_resamples": 5}, "at least 100, found 5"),
        ({"method": "bootstrap", "seed": -1}, "`seed`"),
    ],
)
def test_methods_that_the_data_do_not_allow(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(StatisticsError, match=message):
        estimate_mean(options.pop("scores", [0, 1, 1]), **options)


def test_unknown_korn_graubard_variant() -> None:
    with pytest.raises(StatisticsError, match="clopper_pearson"):
        interval_korn_graubard([0, 1], [0, 1], variant="beta")  # type: ignore[arg-type]
