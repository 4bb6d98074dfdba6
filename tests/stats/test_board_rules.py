"""Each rule of the board auditor on small tables with one planted error, and on right
ones."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from tests.support.boards import audited, counts, made, names, printed, scores
from warehouse.errors import StatisticsError
from warehouse.stats.board.audit import BoardFindings, audit_board, audit_tasks
from warehouse.stats.board.cells import parse_figure
from warehouse.stats.board.dates import date_findings
from warehouse.stats.board.finding import Finding
from warehouse.stats.board.samples import sample_finding
from warehouse.stats.board.table import make_board


def of(found: BoardFindings, rule: str) -> list[Finding]:
    return [one for one in found.findings if one.rule == rule]


def grades(found: BoardFindings, rule: str) -> list[str]:
    return [one.grade for one in of(found, rule)]


# --- figures as they were printed -----------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "decimals"),
    [
        ("71.4", 71.4, 1),
        ("71.4 %", 71.4, 1),
        ("71.4±1.2", 71.4, 1),
        ("71.40 ± 1.2", 71.4, 2),
        ("71.4 (1.2)", 71.4, 1),
        ("**71.4**", 71.4, 1),
        ("<b>71.4</b>", 71.4, 1),
        ("[71.4](https://example.org)", 71.4, 1),
        ("\\textbf{71.4}", 71.4, 1),
        ("1,234", 1234, 0),
        ("1,234,567.50", 1234567.5, 2),
        ("$0.13", 0.13, 2),
        ("-3.2", -3.2, 1),
        ("−3.2", -3.2, 1),
        (".5", 0.5, 1),
        ("1.5e-3", 0.0015, 4),
    ],
)
def test_figures_in_many_spellings(text: str, value: float, decimals: int) -> None:
    figure = parse_figure(text)
    assert figure is not None
    assert float(figure.value) == pytest.approx(value)
    assert figure.decimals == decimals


@pytest.mark.parametrize(
    "text",
    [
        "",
        "N/A",
        "–",
        "-",
        "gpt-4",
        "3e1234567",
        "7B",
        "1.2.3",
        "2024-05-01",
        "x" * 5000,
    ],
)
def test_texts_that_are_no_figures(text: str) -> None:
    assert parse_figure(text) is None


def test_commas_part_decimals_where_they_can_part_nothing_else() -> None:
    column = made({"score": ["71,4", "65,25", "1,5", "80,0"]}).figures[0]
    assert column.values.tolist() == [71.4, 65.25, 1.5, 80.0]


def test_counts_in_a_cell_are_two_columns() -> None:
    board = made({"Pass / Total": ["58 / 130", "3 / 129", "–"]})
    assert board.columns == ("Pass / Total count", "Pass / Total n")


def test_columns_have_a_text_for_each_row() -> None:
    with pytest.raises(StatisticsError, match="one text a row, found 2"):
        make_board(["a", "b", "c"], {"x": ["1", "2"]})


# --- B1 -------------------------------------------------------------------------------


def test_a_figure_that_is_no_share() -> None:
    right = counts(60, 164, seed=1)
    texts = printed(100 * right / 164)
    assert not of(audited({"score": texts}), "B1")
    texts[7] = "30.0"
    (found,) = of(audited({"score": texts}), "B1")
    assert found.grade == "check"
    assert "cannot be a share of 164" in found.text
    assert "a mean of 4 runs?" in found.text
    (known,) = of(audited({"score": texts}, sizes={"score": 164}), "B1")
    assert "(n is stated)" in known.text


def test_no_run_and_no_smaller_n_explains_a_stated_share() -> None:
    texts = [*printed(100 * counts(10, 50, seed=2) / 50, 2), "61.37"]
    (found,) = of(audited({"score": texts}, sizes={"score": 50}), "B1")
    assert found.grade == "wrong"


def test_a_share_that_was_cut() -> None:
    texts = printed(100 * counts(60, 164, seed=1) / 164)
    texts[3] = "59.7"  # 98/164 = 59.756
    (found,) = of(audited({"score": texts}), "B1")
    assert (found.grade, "cut, not rounded" in found.text) == ("note", True)


def test_short_figures_among_exact_ones_teach_no_step() -> None:
    values = [repr(k / 272) for k in range(40, 200, 2)]
    assert not of(audited({"acc": values}), "B1")


# --- B2 -------------------------------------------------------------------------------


def ratio_table() -> dict[str, list[str]]:
    right, total = counts(30, 225, seed=3), np.full(30, 225)
    return {
        "rate": printed(100 * right / total),
        "num_right": [str(k) for k in right],
        "n": [str(n) for n in total],
    }


def test_a_rate_that_its_counts_contradict() -> None:
    table = ratio_table()
    assert not of(audited(table), "B2")
    table["rate"][4] = f"{float(table['rate'][4]) + 3:.1f}"
    (found,) = of(audited(table), "B2")
    assert found.grade == "wrong"
    assert found.entries == (4,)
    assert "29 of 30 entries keep this rule" in found.text


def test_a_sum_that_its_parts_contradict() -> None:
    rng = np.random.default_rng(4)
    wins, draws, losses = rng.integers(5, 300, (3, 40))
    table = {
        "n_wins": [str(k) for k in wins],
        "n_draws": [str(k) for k in draws],
        "n_losses": [str(k) for k in losses],
        "n_games": [str(k) for k in wins + draws + losses],
    }
    assert not of(audited(table), "B2")
    table["n_games"][5] = "7"
    assert any(one.entries == (5,) for one in of(audited(table), "B2"))


def mean_table(n_rows: int = 30) -> dict[str, list[str]]:
    parts = scores(n_rows, (500, 400, 300, 200), seed=5)
    mean = np.mean(list(parts.values()), axis=0)
    table = {"Average": printed(mean, 2)}
    return table | {name: printed(values, 2) for name, values in parts.items()}


def test_a_mean_that_its_parts_contradict() -> None:
    table = mean_table()
    assert not of(audited(table), "B2")
    table["Average"][9] = f"{float(table['Average'][9]) - 2:.2f}"
    (found,) = of(audited(table), "B2")
    assert (found.grade, found.entries) == ("wrong", (9,))


def test_parts_that_are_missing_count_as_nothing_or_are_left_out() -> None:
    table = mean_table()
    parts = [float(table[f"task {letter}"][2]) for letter in "ABC"]
    table["task D"][2] = ""
    table["Average"][2] = f"{sum(parts) / 4:.2f}"
    (found,) = of(audited(table), "B2")
    assert (found.grade, found.text) == ("wrong", "Average counts missing parts as 0")
    table["Average"][2] = f"{sum(parts) / 3:.2f}"
    (found,) = of(audited(table), "B2")
    assert (found.grade, "fewer than 4 parts" in found.text) == ("check", True)


def test_a_row_of_means_of_the_rows_above() -> None:
    parts = scores(12, (500, 400, 300, 200, 100), seed=6)
    table = {
        name: printed([*values, values.mean()], 1) for name, values in parts.items()
    }
    entries = [*names(12), "Average"]
    assert not of(audited(table, entries), "B2")
    table["task C"][12] = "12.3"
    (found,) = of(audited(table, entries), "B2")
    assert (found.grade, found.entries, found.column) == ("wrong", (12,), "task C")


def test_coarse_figures_make_no_rule_by_chance() -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        table = {
            f"q{letter}": [str(k) for k in rng.integers(0, 10, 10)]
            for letter in "abcdefghijklmnop"
        }
        assert not of(audited(table), "B2")


# --- B3, B4, B5 -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high"),
    [("recall@1", "recall@10"), ("pass^4", "pass^1"), ("humaneval+", "humaneval")],
)
def test_ladders(low: str, high: str) -> None:
    lower = printed(np.linspace(20, 60, 12))
    higher = printed(np.linspace(30, 70, 12))
    assert not of(audited({low: lower, high: higher}), "B3")
    lower[5] = "90.0"
    (found,) = of(audited({low: lower, high: higher}), "B3")
    assert (found.grade, found.entries) == ("wrong", (5,))


def test_a_plus_of_another_benchmark_is_only_asked_about() -> None:
    table = {
        "MMLU+": printed(np.linspace(20, 60, 12)),
        "MMLU": printed(np.linspace(30, 70, 12)),
    }
    table["MMLU+"][5] = "90.0"
    assert grades(audited(table), "B3") == ["check"]


def test_a_percent_among_shares_and_a_share_among_percents() -> None:
    shares = printed(counts(40, 500, seed=7) / 500, 3)
    assert not of(audited({"acc": shares}), "B4")
    shares[3] = "71.4"
    assert grades(audited({"acc": shares}), "B4") == ["wrong"]
    percents = printed(40 + 50 * np.random.default_rng(8).random(40), 2)
    percents[3] = "0.71"
    assert grades(audited({"acc": percents}), "B4") == ["check"]


def test_scores_that_may_be_negative_are_only_asked_about() -> None:
    values = printed(40 + 50 * np.random.default_rng(9).random(50), 2)
    values[3] = "-3.20"
    assert grades(audited({"EQ score": values}), "B4") == ["check"]
    assert grades(audited({"accuracy": values}), "B4") == ["wrong"]


def errors_table(digits: int = 4) -> dict[str, list[str]]:
    shares = counts(30, 200, seed=10, spread=0.7) / 200
    error = np.sqrt(shares * (1 - shares) / 199)
    return {
        "acc": printed(shares, digits),
        "acc_stderr": printed(error, digits),
        "n": ["200"] * 30,
    }


def test_errors_against_their_shares() -> None:
    assert not of(audited(errors_table()), "B5")
    for wrong in ("0.0000", "0.0500"):
        table = errors_table()
        table["acc_stderr"][4] = wrong
        found = of(audited(table), "B5")
        assert {(one.grade, one.entries) for one in found} == {("wrong", (4,))}


def test_errors_of_clusters_are_a_note() -> None:
    table = errors_table()
    table["acc_stderr"] = [f"{1.4 * float(text):.4f}" for text in table["acc_stderr"]]
    assert grades(audited(table), "B5") == ["note"]


def test_tasks_of_partial_credit_have_smaller_errors() -> None:
    table = errors_table()
    table["acc_stderr"][4] = f"{float(table['acc_stderr'][4]) / 2:.4f}"
    assert grades(audited(table), "B5") == ["wrong"]
    assert audit_tasks(made(table)).findings == ()


def test_an_error_that_rounds_to_nothing_is_right() -> None:
    table = {"acc": printed(np.linspace(0.2, 0.9, 12), 2), "acc_stderr": ["0.00"] * 12}
    assert not of(audited(table), "B5")


def test_one_error_for_all() -> None:
    table = {
        "acc": printed(np.linspace(0.1, 0.95, 12), 4),
        "acc_stderr": ["0.0123"] * 12,
    }
    (found,) = of(audited(table), "B5")
    assert (found.grade, len(found.entries)) == ("wrong", 12)


# --- B6, B7, B8, B9 -------------------------------------------------------------------


def test_an_entry_that_is_listed_twice() -> None:
    table = {"score": printed(np.linspace(20, 80, 20)), "date": [""] * 20}
    entries = [*names(19), names(19)[3]]
    (found,) = of(audited(table, entries), "B6")
    assert (found.grade, "other figures in score" in found.text) == ("check", True)
    table["date"] = [f"2025-01-{day:02}" for day in range(1, 21)]
    assert not of(audited(table, entries), "B6")


def test_entries_of_the_same_figures() -> None:
    columns = scores(40, (1000,) * 8, seed=11)
    table = {name: printed(values, 2) for name, values in columns.items()}
    assert not of(audited(table), "B6")
    for texts in table.values():
        texts[7] = texts[30]
    (found,) = of(audited(table), "B6")
    assert (found.grade, found.entries) == ("check", (7, 30))
    assert "the same figures in 8 columns" in found.text


def test_coarse_rows_may_be_equal() -> None:
    for seed in range(8):
        columns = scores(60, (50, 50, 50), seed)
        table = {name: printed(values, 1) for name, values in columns.items()}
        assert not of(audited(table), "B6")


def test_a_link_to_another_size() -> None:
    sizes = ("7B", "13B", "70B", "1.5B", "3B")
    entries = [f"{name}-{sizes[i % 5]}" for i, name in enumerate(names(20))]
    links = [f"https://example.org/{entry}" for entry in entries]
    table = {"link": links, "score": printed(np.linspace(20, 80, 20))}
    assert not of(audited(table, entries), "B6")
    links[2] = links[2].replace("70B", "7B")
    (found,) = of(audited(table, entries), "B6")
    assert (found.grade, found.entries) == ("wrong", (2,))


def test_entries_out_of_order() -> None:
    values = sorted((30 + 50 * np.random.default_rng(12).random(30)).tolist())[::-1]
    values[10] = 1.5
    table = {"score": printed(values, 2)}
    (found,) = of(audited(table), "B7")
    assert (found.grade, found.entries) == ("check", (10,))
    assert not of(audited(table, is_ordered=False), "B7")


def test_two_sorted_blocks_are_no_disorder() -> None:
    block = sorted((30 + 50 * np.random.default_rng(13).random(15)).tolist())[::-1]
    assert not of(audited({"score": printed([*block, *block], 2)}), "B7")


def test_ties_that_are_told_apart() -> None:
    """As in an issue of HELM: two pairs of models of one score each."""
    score = [0.9, 0.8, 0.8, 0.7, 0.6, 0.6, 0.5, 0.4]
    win_rate = [0.95, 0.8, 0.75, 0.6, 0.5, 0.4, 0.2, 0.1]
    table = {"EM": printed(score, 3), "Mean win rate": printed(win_rate, 3)}
    found = of(audited(table), "B8")
    assert {(one.grade, one.entries) for one in found} == {
        ("wrong", (1, 2)),
        ("wrong", (4, 5)),
    }
    table["Mean win rate"] = printed([0.95, 0.8, 0.8, 0.6, 0.5, 0.5, 0.2, 0.1], 3)
    assert not of(audited(table), "B8")


def test_a_figure_against_its_samples() -> None:
    samples = [1.0] * 70 + [0.0] * 30
    assert sample_finding("70.0", samples, scale=100) is None
    assert sample_finding("0.70", samples, scale=1) is None
    assert (
        sample_finding("87.5", [1.0] * 70 + [0.0] * 10 + [np.nan] * 20, scale=100)
        is None
    )
    assert (
        sample_finding("70", [1.0] * 70 + [0.0] * 10 + [np.nan] * 20, scale=100) is None
    )
    wrong = sample_finding("75.0", samples, scale=100)
    assert wrong is not None
    assert (wrong.grade, wrong.expected) == ("wrong", pytest.approx(70))
    few = sample_finding("71.0", samples, scale=100)
    assert few is not None
    assert (few.grade, "100 samples" in few.text) == ("check", True)


# --- B10 to B16 -----------------------------------------------------------------------


def test_a_cell_that_all_others_have() -> None:
    columns = scores(20, (200, 200), seed=14)
    table = {name: printed(values) for name, values in columns.items()}
    table["task B"][4] = "N/A"
    (found,) = of(audited(table), "B10")
    assert (found.grade, found.entries) == ("check", (4,))


def test_costs() -> None:
    entries = [f"{name}-{i // 2}.5" for i, name in enumerate(names(12)) for _ in (1,)]
    entries[0], entries[1] = "oak-4.5-preview", "oak-4.5 (2025-05-06)"
    cost = [f"{1 + 0.1 * i:.2f}" for i in range(12)]
    table = {"total_cost": cost}
    assert not of(audited(table, entries), "B13")
    cost[1], cost[5], cost[6] = "9.00", "0", "-1.00"
    found = of(audited(table, entries), "B13")
    assert {(one.grade, one.entries) for one in found} == {
        ("wrong", (6,)),
        ("note", (5,)),
        ("check", (0,)),
    }


def test_dates() -> None:
    days = [f"2025-03-{day:02}" for day in range(1, 13)]
    board = made({"date": days, "score": printed(np.linspace(9, 90, 12))})
    assert not list(date_findings(board, as_of=date(2025, 4, 1)))
    assert len(list(date_findings(board, as_of=date(2025, 3, 10)))) == 2
    days[3] = "2025-02-30"
    (found,) = date_findings(made({"date": days}))
    assert found.grade == "wrong"
    second = [f"2025-03-{day:02}" for day in range(1, 13)]
    second[7] = "2024-03-08"
    board = made(
        {"date": [f"2025-03-{day:02}" for day in range(1, 13)], "added": second}
    )
    (found,) = date_findings(board)
    assert (found.grade, found.entries) == ("check", (7,))


def test_a_column_below_chance() -> None:
    low = printed(np.linspace(4, 12, 10))
    assert grades(audited({"MMLU": low}), "B15") == ["check"]
    assert not of(audited({"MMLU": printed(np.linspace(24, 80, 10))}), "B15")


def test_a_main_score_that_is_none() -> None:
    other = printed(np.linspace(0.4, 0.9, 12), 4)
    table = {"main_score": printed(np.linspace(0.001, 0.02, 12), 4), "ndcg": other}
    assert grades(audited(table), "B16") == ["check"]


def test_a_figure_far_from_its_row() -> None:
    columns = scores(60, (400,) * 8, seed=15)
    table = {name: printed(values) for name, values in columns.items()}
    assert not of(audited(table), "B12")
    row = int(np.argmax(columns["task C"]))
    table["task C"][row] = "3.0"
    found = of(audited(table), "B12")
    assert [(one.grade, one.entries, one.is_suspicion) for one in found] == [
        ("check", (row,), True)
    ]


def test_figures_that_are_exchanged() -> None:
    rng = np.random.default_rng(16)
    easy = 70 + 15 * rng.random(20)
    table = {"retail pass_1": printed(easy), "airline pass_1": printed(easy - 25)}
    assert not of(audited(table), "B12")
    first, second = table.values()
    first[6], second[6] = second[6], first[6]
    (found,) = of(audited(table), "B12")
    assert (found.entries, "exchanged?" in found.text) == ((6,), True)


def test_a_larger_model_that_is_behind_once() -> None:
    columns = scores(30, (1000,) * 8, seed=17)
    small, large = [40.0 + i for i in range(8)], [60.0 + i for i in range(8)]
    large[3] = 20.0
    table = {
        name: printed([*values, small[i], large[i]], 1)
        for i, (name, values) in enumerate(columns.items())
    }
    entries = [*names(30), "acorn-7B", "acorn-70B"]
    found = [one for one in audited(table, entries).findings if "acorn-7B" in one.text]
    assert [one.entries for one in found] in ([(31,)], [])
    assert any(one.entries == (31,) for one in of(audited(table, entries), "B12"))


def test_suspicions_are_few_and_fail_nothing() -> None:
    rng = np.random.default_rng(18)
    columns = scores(60, (400,) * 8, seed=18)
    table = {name: printed(values) for name, values in columns.items()}
    for row in range(12):
        table[f"task {'ABCDEFGH'[row % 8]}"][row] = f"{rng.random() * 3:.1f}"
    found = audited(table)
    assert not found.of_grade("wrong")
    shown = {one.entries for one in found.findings if one.is_suspicion}
    assert len(shown) <= 3


@pytest.mark.rare
def test_a_wide_board_is_silent() -> None:
    """143 columns, 416 rows: 8 s of one processor."""
    columns = scores(416, (1000,) * 143, seed=19)
    board = made({name: printed(values, 2) for name, values in columns.items()})
    found = audit_board(board)
    assert not found.of_grade("wrong")
    assert found.n_figures == 143 * 416
