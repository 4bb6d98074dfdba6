"""Results by a field of the prompt, in a store whose answers are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from tests.support.golden import Golden, shown
from warehouse import connect
from warehouse.analysis.report_data.report import read_report
from warehouse.analysis.slices.section import SliceSection
from warehouse.analysis.slices.view import extremes, ordered
from warehouse.api import Warehouse
from warehouse.errors import MisuseError
from warehouse.stats import (
    discrete_step_down,
    equal_slices_mean,
    estimate_mean,
    slice_difference,
    slice_ranks,
    slice_tests,
    slope_of,
    variation_test,
)
from warehouse.store.open import open_store

LANGUAGES = ("bn", "de", "sw", "te")
N = 200
LENGTHS = [float(1 + i % 10) for i in range(N)]


def language(i: int) -> str | None:
    """Of every prompt but the last six, in turn."""
    return LANGUAGES[i % 4] if i < N - 6 else None


def scores_of(model: str) -> list[float]:
    """0/1 scores of a model: b is much better on sw, c has no answers in te."""
    dice = np.random.default_rng({"a": 1, "b": 2, "c": 3}[model])
    scores = []
    for i in range(N):
        chance = 0.5
        if model == "b" and language(i) == "sw":
            chance = 0.95
        if model == "a" and language(i) == "sw":
            chance = 0.3
        scores.append(float(dice.random() < chance))
    return scores


def document(i: int) -> dict[str, Any]:
    """What is known of a prompt."""
    own: dict[str, Any] = {
        "language": language(i),
        "length": LENGTHS[i],
        "tags": ["x", "y"] if i % 3 == 0 else ["y"],
        "name": f"name {i}",
        "made": {"by": "people" if i % 2 else "models"},
        "same": "one",
    }
    return {name: value for name, value in own.items() if value is not None}


def build() -> StoreRows:
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    keys = [f"q{i:03}" for i in range(N)]
    for i, key in enumerate(keys):
        number = rows.prompt("quiz", key)
        rows.rows["prompt"][number - 1]["metadata"] = document(i)
    groups = {f"g{i:02}": keys[4 * i : 4 * i + 4] for i in range(N // 4)}
    rows.clusters("quiz", groups, name="question", default=False)
    by_language: dict[str, list[str]] = {}
    for i, key in enumerate(keys[:-6]):
        by_language.setdefault(str(language(i)), []).append(key)
    rows.clusters("quiz", by_language, name="tongue", default=False)
    for model in "ab":
        rows.scores(
            rows.run(model, "quiz"), dict(zip(keys, scores_of(model), strict=True))
        )
    _other_kinds(rows)
    some = [key for i, key in enumerate(keys) if language(i) != "te"]
    own = dict(zip(keys, scores_of("c"), strict=True))
    rows.scores(rows.run("c", "quiz"), {key: own[key] for key in some})
    return rows


#: Benchmarks with another kind of scores, 40 prompts in two slices each.
KINDS = ("draws", "shares", "losses", "ratios")
OTHERS = 40


def other_scores(kind: str, model: str) -> list[Any]:
    """Scores of a model on one of them."""
    dice = np.random.default_rng([KINDS.index(kind), ord(model)])
    if kind == "draws":
        return [list(map(float, dice.random(4) < 0.6)) for _ in range(OTHERS)]
    if kind == "shares":
        return [round(float(value), 3) for value in dice.random(OTHERS)]
    return [float(value) for value in dice.normal(size=OTHERS)]


def _other_kinds(rows: StoreRows) -> None:
    for kind in KINDS:
        bounded = kind in ("draws", "shares")
        metric = rows.metric(f"of_{kind}")
        limit = {"low": 0.0, "high": 1.0} if bounded else {"low": None, "high": None}
        of = {"draws": "binary", "shares": "bounded"}.get(kind, "continuous")
        rows.describe(kind, metric, kind=of, higher=bounded, **limit)
        keys = [f"{kind}{i:02}" for i in range(OTHERS)]
        for i, key in enumerate(keys):
            number = rows.prompt(kind, key)
            rows.rows["prompt"][number - 1]["metadata"] = {"half": "ab"[i % 2]}
        weights = {key: 1.0 + i % 3 for i, key in enumerate(keys)}
        more: dict[str, Any] = {"weights": weights} if kind == "ratios" else {}
        for model in "ab":
            own = dict(zip(keys, other_scores(kind, model), strict=True))
            rows.scores(rows.run(model, kind), own, metric, **more)


@pytest.fixture
def store(url: str) -> Warehouse:
    return connect(url)


def of_language(name: str) -> np.ndarray:
    return np.array([language(i) == name for i in range(N)])


DIFFERENCES = np.array(scores_of("a")) - np.array(scores_of("b"))


def test_two_models_slice_by_slice(store: Warehouse) -> None:
    found = store.compare_by("a", "b", by=["language"], benchmark="quiz")
    assert [row.slice for row in found.rows] == [*LANGUAGES, "(none)"]
    counts = [
        [np.sum(DIFFERENCES[of_language(x)] == s) for x in LANGUAGES] for s in (1, -1)
    ]
    adjusted = discrete_step_down(*counts)
    for row, p in zip(found.rows, adjusted, strict=False):
        own = DIFFERENCES[of_language(row.slice)]
        expected = slice_difference(own, width=1)
        assert (row.difference, row.ci_low) == (expected.difference, expected.ci_low)
        assert row.p_adjusted == pytest.approx(p)
        assert row.mean_a - row.mean_b == pytest.approx(row.difference)
    sw = found.rows[2]
    assert (sw.better, sw.method) == ("b", "added_prompts")
    assert [row.better for row in found.rows] == ["", "", "b", "", ""]
    none = found.rows[-1]
    assert (none.n_prompts, none.difference, none.p_value) == (6, None, None)
    (test,) = found.fields
    codes = [LANGUAGES.index(language(i)) for i in range(N - 6)]
    expected_test = variation_test(DIFFERENCES[: N - 6], codes)
    assert test.p_value == expected_test.p_value == sw.p_varies
    assert test.statistic == pytest.approx(expected_test.statistic)
    assert (test.n_slices, test.n_without, test.p_holm) == (4, 6, None)


def halves(kind: str) -> list[np.ndarray]:
    """The differences of both slices of another kind of scores."""
    means = []
    for model in "ab":
        means.append([np.mean(value) for value in other_scores(kind, model)])
    d = np.array(means[0]) - np.array(means[1])
    return [d[::2], d[1::2]]


@pytest.mark.parametrize(
    ("kind", "how", "method"),
    [
        ("draws", {"width": 1.0, "draws": 4.0}, "added_prompts"),
        ("shares", {"width": 1.0, "draws": None}, "t"),
        ("losses", {"width": None}, "hull"),
    ],
)
def test_scores_of_other_kinds(
    store: Warehouse, kind: str, how: dict[str, Any], method: str
) -> None:
    found = store.compare_by("a", "b", by="half", benchmark=kind)
    for row, d in zip(found.rows, halves(kind), strict=True):
        expected = slice_difference(d, **how)
        assert row.difference == pytest.approx(expected.difference)
        assert row.ci_low == pytest.approx(expected.ci_low)
        assert row.ci_high == pytest.approx(expected.ci_high)
        assert row.method == method
        assert (row.simultaneous_low is None) == (kind == "losses")
    assert found.fields[0].family == "min_p"
    if kind == "losses":
        assert {row.reason for row in found.rows} == {
            "too few prompts for so skewed differences"
        }
        assert {row.p_adjusted for row in found.rows} == {None}


def test_weighted_figures_have_intervals_alone(store: Warehouse) -> None:
    found = store.compare_by("a", "b", by="half", benchmark="ratios")
    assert {row.p_adjusted for row in found.rows} == {None}
    assert "weighted figure" in found.rows[0].reason
    assert found.rows[0].ci_low is not None
    keys = np.arange(0, OTHERS, 2)
    weights = 1.0 + keys % 3
    sides = [np.array(other_scores("ratios", model))[::2] for model in "ab"]
    a, b = (float(np.average(side, weights=weights)) for side in sides)
    assert found.rows[0].difference == pytest.approx(a - b)
    assert (found.rows[0].mean_a, found.rows[0].mean_b) == pytest.approx((a, b))
    assert "not tested" in str(found)


def test_a_mean_of_slices_of_other_kinds(store: Warehouse) -> None:
    found = store.leaderboard_by("losses", by="half", weights="equal")
    assert found.boards[0].by_row()[0][0].method == "hull"
    weighted = store.leaderboard_by("ratios", by="half", weights="equal")
    assert "no interval for the mean" in weighted.boards[0].by_row()[0][0].reason


def test_clusters_across_slices_share_a_sign(store: Warehouse) -> None:
    found = store.compare_by(
        "a", "b", by=["language"], benchmark="quiz", cluster="question"
    )
    rows = found.rows[:-1]
    codes = np.array([LANGUAGES.index(language(i)) for i in range(N - 6)])
    clusters = np.arange(N - 6) // 4
    expected = slice_tests(DIFFERENCES[: N - 6], codes, clusters, bounded=True)
    assert found.fields[0].family == "min_p"
    assert [row.p_adjusted for row in rows] == pytest.approx(
        expected.p_adjusted.tolist(), abs=0.02
    )
    assert found.fields[0].n_clusters == 49


def test_several_fields_are_adjusted_for(store: Warehouse) -> None:
    found = store.compare_by("a", "b", by=["language", "made.by"], benchmark="quiz")
    p = [test.p_value for test in found.fields]
    assert found.fields[0].p_holm == pytest.approx(min(1, 2 * p[0]))
    assert [test.field for test in found.fields] == ["language", "made.by"]
    cells = store.compare_by("a", "b", by="language,made.by", benchmark="quiz")
    assert cells.rows[0].field == "language × made.by"
    assert len(cells.rows) == 4 + 1  # i % 4 says whether i is odd


def test_tags_have_verdicts_and_no_test_of_variation(store: Warehouse) -> None:
    found = store.compare_by("a", "b", by="tags", benchmark="quiz")
    (test,) = found.fields
    assert (test.family, test.p_value) == ("min_p", None)
    assert test.reason == "a prompt counts in several slices"
    assert [row.n_prompts for row in found.rows] == [67, 200]
    assert all("overlapping" in row.flags for row in found.rows)
    with pytest.raises(MisuseError, match="several slices by tags"):
        store.leaderboard_by("quiz", by="tags", weights="equal")
    assert store.leaderboard_by("quiz", by="tags").boards[0].overlaps


def test_numbers_in_bins_and_along_a_slope(store: Warehouse) -> None:
    found = store.compare_by("a", "b", by="length", benchmark="quiz", bins="q:2")
    assert [row.slice for row in found.rows] == ["1 .. 5", "6 .. 10"]
    cut = store.compare_by("a", "b", by="length", benchmark="quiz", bins="3,9")
    assert [row.slice for row in cut.rows] == ["1 .. 2", "3 .. 8", "9 .. 10"]
    plain = store.compare_by("a", "b", by="length", benchmark="quiz")
    assert [row.slice for row in plain.rows][:3] == ["1", "2", "3"]
    (slope,) = store.compare_slope("a", "b", benchmark="quiz", slope="length").rows
    expected = slope_of(DIFFERENCES, LENGTHS)
    assert (slope.slope, slope.p_value) == (expected.slope, expected.p_value)
    (doubled,) = store.compare_slope(
        "a", "b", benchmark="quiz", slope="length", per_doubling=True
    ).rows
    assert doubled.slope == slope_of(DIFFERENCES, np.log2(LENGTHS)).slope


def test_a_leaderboard_by_slices(store: Warehouse) -> None:
    found = store.leaderboard_by("quiz", by="language")
    (board,) = found.boards
    assert [row.model for row in board.ranked] == ["b", "a", "c"]
    tables = board.by_row()
    overall, *slices = tables[0]
    assert overall.slice is None
    assert overall.estimate == pytest.approx(np.mean(scores_of("b")))
    assert [one.slice for one in slices] == [*LANGUAGES, "(none)"]
    sw = np.array(scores_of("b"))[of_language("sw")]
    expected = estimate_mean(sw)
    assert (slices[2].estimate, slices[2].ci_low) == (
        expected.estimate,
        expected.ci_low,
    )
    codes = [LANGUAGES.index(language(i)) for i in range(N - 6)]
    places = slice_ranks(scores_of("b")[: N - 6], codes)
    assert [one.place_low for one in slices[:-1]] == places.lowest.tolist()
    assert [one.place_high for one in slices[:-1]] == places.highest.tolist()
    assert slices[-1].flags == ("few_prompts",)


def test_whether_the_score_of_a_single_model_varies(store: Warehouse) -> None:
    (board,) = store.leaderboard_by("quiz", by="language", where=["model=b"]).boards
    codes = [LANGUAGES.index(language(i)) for i in range(N - 6)]
    expected = variation_test(scores_of("b")[: N - 6], codes)
    assert board.varies is not None
    assert board.varies.p_value == expected.p_value
    (several,) = store.leaderboard_by("quiz", by="language").boards
    assert several.varies is None


def test_rows_without_a_slice_have_no_place(store: Warehouse) -> None:
    (board,) = store.leaderboard_by("quiz", by="language").boards
    last = board.ranked[-1]
    assert (last.model, last.rank) == ("c", None)
    (te,) = [one for one in board.scores if one.model == "c" and one.slice == "te"]
    assert (te.estimate, te.n_prompts) == (None, 0)


def test_slices_that_count_alike(store: Warehouse) -> None:
    (board,) = store.leaderboard_by("quiz", by="language", weights="equal").boards
    overall = board.by_row()[0][0]
    codes = [LANGUAGES.index(language(i)) for i in range(N - 6)]
    expected = equal_slices_mean(scores_of("b")[: N - 6], codes)
    assert overall.estimate == pytest.approx(expected.estimate)
    assert (overall.ci_low, overall.ci_high) == (expected.ci_low, expected.ci_high)
    assert overall.method == "wilson_slices"


def test_ranked_by_one_slice(store: Warehouse) -> None:
    (board,) = store.leaderboard_by("quiz", by="language", rank_by="de").boards
    de = {m: np.mean(np.array(scores_of(m))[of_language("de")]) for m in "ab"}
    best = max(de, key=lambda model: de[model])
    assert board.ranked[0].model == best
    assert board.ranked[0].estimate == pytest.approx(de[best])
    with pytest.raises(MisuseError, match="language has no value 'fr'; it is bn, de"):
        store.leaderboard_by("quiz", by="language", rank_by="fr")


@pytest.mark.parametrize(
    ("by", "said"),
    [
        (
            "langu",
            r"has the field 'langu'; did you mean language\? there are \(values\)",
        ),
        ("zzz", r"made.by \(2\), tags \(2\), language \(4\), tongue \(4\), length"),
        ("name", "name has 200 values on 200 prompts of quiz"),
        ("same", "same is one on all 200 prompts"),
    ],
)
def test_fields_that_are_none(store: Warehouse, by: str, said: str) -> None:
    with pytest.raises(MisuseError, match=said):
        store.compare_by("a", "b", by=by, benchmark="quiz")


@pytest.mark.parametrize("bins", ["x", "q:x", "q:1.5", "3,2", "w:3"])
def test_bins_that_are_none(store: Warehouse, bins: str) -> None:
    with pytest.raises(Exception, match="q:4|must rise"):
        store.compare_by("a", "b", by="length", benchmark="quiz", bins=bins)


def test_bins_of_what_is_no_number(store: Warehouse) -> None:
    with pytest.raises(MisuseError, match="language: no number"):
        store.compare_by("a", "b", by="language", benchmark="quiz", bins="q:2")
    with pytest.raises(MisuseError, match="language of quiz is no number"):
        store.compare_slope("a", "b", benchmark="quiz", slope="language")


def test_some_prompts_alone(store: Warehouse) -> None:
    where = ["prompt.language=sw"]
    (row,) = store.compare("a", "b", benchmark="quiz", where=where).rows
    own = DIFFERENCES[of_language("sw")]
    assert (row.n_prompts, row.difference) == (len(own), pytest.approx(own.mean()))
    note = "only prompts with language sw: 48 of 200, chosen by hand"
    assert note in store.compare("a", "b", benchmark="quiz", where=where).notes[0]
    board = store.leaderboard("quiz", where=where)
    assert note in board.notes
    assert [row.n_prompts for row in board.rows] == [48, 48, 48]
    assert all("subset" not in row.flags for row in board.rows)
    gate = store.gate("b", "a", 0.02, benchmarks=["quiz"], where=where)
    assert gate.rows[0].n_prompts == 48
    pairs = store.pairs("quiz", where=where)
    assert {row.n_prompts for row in pairs.rows} == {48}


@pytest.mark.parametrize(
    ("where", "n"),
    [
        ("prompt.language!=sw", 152),
        ("prompt.language=", 6),
        ("prompt.metadata.language=d*", 49),
        ("prompt.length=3", 20),
        ("prompt.tags=x", 67),
        ("prompt.made.by=people", 100),
        ("prompt.question=g00", 4),
    ],
)
def test_conditions_on_prompts(store: Warehouse, where: str, n: int) -> None:
    (row,) = store.compare("a", "b", benchmark="quiz", where=[where, "model!=c"]).rows
    assert row.n_prompts == n


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (
            "prompt.language=fr",
            "no prompt of quiz has language fr; it is bn, de, sw, te",
        ),
        ("prompt.langu=sw", "has the field 'langu'; did you mean language?"),
        ("prompt.language", "expected prompt.FIELD=VALUE"),
    ],
)
def test_conditions_that_no_prompt_fulfils(
    store: Warehouse, where: str, said: str
) -> None:
    with pytest.raises(MisuseError, match=said.replace("?", r"\?")):
        store.leaderboard("quiz", where=[where])


def test_other_questions_do_not_take_conditions_on_prompts(store: Warehouse) -> None:
    with pytest.raises(MisuseError, match="is on prompts, which leaderboard"):
        store.variance("quiz", where=["prompt.language=sw"])


def test_a_gate_looks_at_every_slice(store: Warehouse) -> None:
    models = ("a", "b")
    asked: dict[str, Any] = {"benchmarks": ["quiz"], "by": "language"}
    found = store.gate_by(*models, 0.9, no_slice_worse_than=0.2, **asked)
    verdicts = {row.slice: row.verdict for row in found.rows}
    assert (verdicts["sw"], found.verdict, found.exit_code) == ("fail", "fail", 1)
    for row in found.rows:
        own = DIFFERENCES[of_language(row.slice)]
        expected = slice_difference(own, width=1, level=0.9)
        assert row.low == pytest.approx(expected.ci_low)
        assert (row.verdict == "pass") == (expected.ci_low > -0.2)
    assert found.notes == ("6 questions without language are in no slice",)
    turned = store.gate_by("b", "a", 0.9, no_slice_worse_than=0.6, **asked)
    assert (turned.verdict, turned.exit_code) == ("pass", 0)
    small = store.gate_by("b", "a", 0.9, no_slice_worse_than=0.05, **asked)
    assert small.verdict == "undecided"
    assert "undecided (" in small.one_line
    with pytest.raises(MisuseError, match="slices are of one; name it"):
        store.gate_by("b", "a", 0.9, no_slice_worse_than=0.05, by="language")


def test_what_people_are_shown(store: Warehouse, run: Caller, url: str) -> None:
    out = run("compare", "a", "b", "-b", "quiz", "--by", "language", db=url).out
    assert "b is better on 1 of 4 slices by language, worse on none" in out
    assert "verdicts allow for reading 4 slices (exact tests, step-down, 5 %)" in out
    assert (
        "language was chosen after the scores were stored; 1 field was asked for" in out
    )
    assert out.index("(none)") > out.index("bn ")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("leaderboard --by language", "--by is of one benchmark: name it"),
        ("leaderboard quiz --bins q:2", "--bins goes with --by"),
        ("leaderboard quiz --by language --method t", "--method changes nothing"),
        ("leaderboard quiz --by language --weights quiz=2", "prompts or equal"),
        ("leaderboard quiz --by language --corrected", "leave out one"),
        ("compare a b -b quiz --by language --overall", "is of all prompts"),
        ("compare a b -b quiz --by language --equivalence .1", "changes nothing"),
        ("compare a b -b quiz --by language --slope length", "is another question"),
        ("compare a b -b quiz --slope length --flips", "changes nothing of a slope"),
        ("compare a b -b quiz --per-doubling", "goes with --slope"),
        ("compare a b --by half", "have 5 benchmarks or splits in common"),
        ("gate a b -b quiz --margin .1 --by language", "with --no-slice-worse-than"),
        ("gate a b -b quiz --margin .1 --no-slice-worse-than .1", "goes with --by"),
        ("power --from a --from b -b quiz --delta .1 --where prompt.a=b", "on prompts"),
    ],
)
def test_what_would_change_nothing_is_refused(
    run: Caller, url: str, line: str, said: str
) -> None:
    assert said in " ".join(run(*line.split(), db=url).err.split())


@pytest.mark.parametrize(
    "line",
    [
        "leaderboard quiz --by language --by length --bins q:2",
        "leaderboard quiz --by language --rank-by slice:sw --weights equal",
        "leaderboard quiz --by length --where model=a",
        "compare a b -b quiz --by language,made.by --explain",
        "compare a b -b quiz --by language --by tags --all",
        "compare a b -b quiz --slope length --per-doubling",
        "gate b a -b quiz --margin .9 --by language --no-slice-worse-than .9",
    ],
)
def test_every_form_has_all_forms_of_output(run: Caller, url: str, line: str) -> None:
    plain = run(*line.split(), db=url)
    assert (plain.code, plain.err.count("Error")) == (0, 0)
    assert "\n\n" in plain.out
    for form in ("--json", "--csv"):
        assert run(*line.split(), form, db=url).out.count("\n") > 1


def test_slices_as_people_see_them(
    golden: Golden, run: Caller, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAREHOUSE_URL", url)
    golden(
        shown(
            run,
            "compare a b -b quiz --by language",
            "compare a b -b quiz --by language --by tags --cluster question",
            "compare a b -b quiz --slope length",
            "leaderboard quiz --by language",
            "leaderboard quiz --by language --weights equal --where model=b",
            "gate b a -b quiz --margin .9 --by language --no-slice-worse-than .2",
        )
    )


def test_a_report_has_the_slices_of_clusterings_with_few_values(url: str) -> None:
    with open_store(url) as opened:
        data = read_report(opened, ["quiz"])
    (part,) = data.benchmarks
    section = part.sections["slices"]
    assert isinstance(section, SliceSection)
    (board,) = section.boards
    assert (board.field, board.slices, board.n_without) == ("tongue", LANGUAGES, 6)
    sw = board.by_row()[0][3]
    expected = np.mean(np.array(scores_of("b"))[of_language("sw")])
    assert (sw.slice, sw.estimate) == ("sw", pytest.approx(expected))
    assert "quiz by tongue" in section.html(part, "slices")


def test_many_slices_are_shown_by_their_ends(store: Warehouse) -> None:
    first = store.compare_by("a", "b", by="language", benchmark="quiz").rows[0]
    rows = [
        replace(first, difference=i / 100, better="a" if i == 4 else "")
        for i in range(30)
    ]
    shown = extremes(ordered(rows))
    assert [row.difference for row in shown] == [0.04, 0.29, 0.28, 0.27, 0.02, 0.01, 0]
