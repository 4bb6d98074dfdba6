"""Tables as strangers write them: each is read as a board or refused with a reason, and
nothing in a right one is called wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.support.boards import names, scores
from warehouse import board
from warehouse.boards.reading import read_boards
from warehouse.errors import InputError, MisuseError

HEADER = ["Model", "MMLU", "GSM8K", "HellaSwag"]
_COLUMNS = list(scores(14, (400, 300, 200), seed=1).values())
ROWS = [
    [name, *(f"{column[i]:.1f}" for column in _COLUMNS)]
    for i, name in enumerate(names(14))
]


def lines(delimiter: str, cell: Callable[[str], str] = str) -> str:
    body = [delimiter.join([row[0], *map(cell, row[1:])]) for row in ROWS]
    return "\n".join([delimiter.join(HEADER), *body]) + "\n"


def bars(cell: Callable[[str], str] = str) -> str:
    body = [f"| {row[0]} | {' | '.join(map(cell, row[1:]))} |" for row in ROWS]
    return "\n".join([f"| {' | '.join(HEADER)} |", "|:--|--:|:-:|---|", *body]) + "\n"


def records() -> list[dict[str, object]]:
    return [
        {
            "model": row[0],
            **{
                name: float(text)
                for name, text in zip(HEADER[1:], row[1:], strict=True)
            },
        }
        for row in ROWS
    ]


def columns() -> dict[str, dict[str, float]]:
    return {
        name: {row[0]: float(row[place]) for row in ROWS}
        for place, name in enumerate(HEADER[1:], 1)
    }


def html(of_headers: str) -> str:
    """A table of HTML whose first row has cells of some tag."""

    def row(cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

    body = [row([row_[0], f"<b>{row_[1]}</b>", *row_[2:]], "td") for row_ in ROWS]
    return f"<table>{row(HEADER, of_headers)}{''.join(body)}</table>"


def latex() -> str:
    """The source of a table with a rule below its headers, one figure in bold."""
    body = [" & ".join([row[0], rf"\textbf{{{row[1]}}}", *row[2:]]) for row in ROWS]
    rows = "".join(rf"{line} \\" + "\n" for line in body)
    head = " & ".join(HEADER)
    return (
        r"\begin{tabular}{@{}l|rrr@{}} \toprule" + "\n% a & comment \\\\\n"
        rf"{head} \\ \midrule" + f"\n{rows}" + r"\bottomrule \end{tabular}"
    )


RIGHT = {
    "plain.csv": lines(","),
    "mark.csv": "\ufeff" + lines(","),
    "crlf.csv": lines(",").replace("\n", "\r\n"),
    "tabs.tsv": lines("\t"),
    "semicolons.csv": lines(";", lambda text: text.replace(".", ",")),
    "bars.txt": lines("|"),
    "percent.csv": lines(",", lambda text: f"{text} %"),
    "errors.csv": lines(",", lambda text: f"{text}±1.2"),
    "brackets.csv": lines(",", lambda text: f"{text} (1.2)"),
    "sep.csv": "sep=;\n" + lines(";"),
    "titles.csv": "Results of June,,,\n,,,\n" + lines(","),
    "quoted.csv": lines(",", lambda text: f'"{text}"'),
    "bold.md": "# Results\n\ntext | with a bar\n\n" + bars(lambda text: f"**{text}**"),
    "links.md": bars(
        lambda text: f"[{text}](https://example.org/a|b)".replace("|", "\\|")
    ),
    "code.md": "```\n| a | b |\n```\n" + bars(),
    "page.html": f"<html><body><p>text</p>{html('th')}</body></html>",
    "no_headers.htm": html("td"),
    "in_a_readme.md": f"# Results\n\n{html('th')}\n",
    "paper.tex": latex(),
    "records.json": json.dumps(records()),
    "under_keys.json": json.dumps({"meta": {"n": 3}, "data": {"rows": records()}}),
    "keyed.json": json.dumps({str(one["model"]): {"scores": one} for one in records()}),
    "columns.json": json.dumps(columns()),
    "lists.json": json.dumps({HEADER[i]: [row[i] for row in ROWS] for i in range(4)}),
    "split.json": json.dumps({"columns": HEADER, "data": ROWS}),
    "rows.json": json.dumps([HEADER, *ROWS]),
    "lines.jsonl": "\n".join(map(json.dumps, records())),
    "lines.json": "\n".join(map(json.dumps, records())),
    "list.yaml": "\n".join(
        "- "
        + "\n  ".join(f"{name}: {text}" for name, text in zip(HEADER, row, strict=True))
        for row in ROWS
    ),
    "under_key.yml": "results:\n"
    + "\n".join(
        "  - "
        + "\n    ".join(
            f"{name}: {text}" for name, text in zip(HEADER, row, strict=True)
        )
        for row in ROWS
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_table_is_read_and_nothing_is_wrong(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(RIGHT[name], encoding="utf-8", newline="")
    report = board(path)
    assert (report.n_figures, report.n_entries, report.n_boards) == (42, 14, 1)
    assert report.n_wrong == 0


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "cp1252"])
def test_encodings(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "board.csv"
    path.write_bytes(lines(",").replace("Model", "Modèle").encode(encoding))
    assert board(path).n_figures == 42


def test_gaps_in_all_spellings_are_no_figures(tmp_path: Path) -> None:
    words = ["–", "—", "-", "N/A", "n/a", "", "null", "NaN", "TBD", "x"]
    rows = [[row[0], *row[1:3], words[i % len(words)]] for i, row in enumerate(ROWS)]
    path = tmp_path / "board.csv"
    path.write_text("\n".join(",".join(row) for row in [HEADER, *rows]))
    (named,) = read_boards([path]).boards
    assert named.board.figure("HellaSwag") is None
    assert board(path).n_wrong == 0


def test_names_that_stand_twice(tmp_path: Path) -> None:
    path = tmp_path / "board.csv"
    path.write_text(lines(",") + ",".join([ROWS[3][0], "1.2", "3.4", "5.6"]) + "\n")
    (row,) = (row for row in board(path).rows if row.rule == "B6")
    assert (row.grade, row.entries) == ("check", (ROWS[3][0],))
    path.write_text(lines(",").replace("GSM8K", "MMLU"))
    assert board(path).n_figures == 42


def test_files_of_one_name_are_called_by_their_folders(tmp_path: Path) -> None:
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "board.csv").write_text(lines(","))
    (tmp_path / "alone.csv").write_text(lines(","))
    files = [
        tmp_path / "old" / "board.csv",
        tmp_path / "new" / "board.csv",
        tmp_path / "alone.csv",
    ]
    called = [named.name for named in read_boards(files).boards]
    assert called == ["old/board.csv", "new/board.csv", "alone.csv"]
    folders = [tmp_path / "new", tmp_path / "old"]
    called = [named.name for named in read_boards(folders).boards]
    assert called == ["new/board.csv", "old/board.csv"]
    assert [named.name for named in read_boards(files[:1]).boards] == ["board.csv"]


def test_tasks_as_rows_are_turned(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    body = [f"| {name} | 71.4 | 65.2 | 60.{i} |" for i, name in enumerate(HEADER[1:])]
    path.write_text(
        "\n".join(["| Benchmark | a-7B | b-7B | c-7B |", "|--|--|--|--|", *body])
    )
    (named,) = read_boards([path]).boards
    assert named.board.entries == ("a-7B", "b-7B", "c-7B")
    assert named.board.columns == ("MMLU", "GSM8K", "HellaSwag")


def test_boards_of_a_list_of_boards(tmp_path: Path) -> None:
    path = tmp_path / "boards.json"
    boards = [{"name": name, "results": records()} for name in ("Lite", "Verified")]
    path.write_text(json.dumps({"leaderboards": boards}))
    found = read_boards([path]).boards
    assert [named.name for named in found] == [
        "boards.json: leaderboards: Lite: results",
        "boards.json: leaderboards: Verified: results",
    ]


def test_a_folder_of_one_file_an_entry(tmp_path: Path) -> None:
    for one in records():
        folder = tmp_path / "results" / str(one["model"])
        folder.mkdir(parents=True)
        text = json.dumps({"scores": {"a": one["MMLU"]}, "config": {"seed": 3}})
        (folder / "result.json").write_text(text)
    (tmp_path / "notes.md").write_text("nothing here")
    (tmp_path / "broken.json").write_text("{")
    read = read_boards([tmp_path])
    (named,) = read.boards
    assert set(named.board.entries) == {row[0] for row in ROWS}
    assert named.board.columns == ("a",)
    assert "broken.json, line 1" in read.unread[0]


def test_results_of_a_harness_are_tasks(tmp_path: Path) -> None:
    tasks = {
        f"task_{word}": {
            "acc,none": 0.5 + i / 100,
            "acc_stderr,none": 0.035,
            "alias": "x",
        }
        for i, word in enumerate(names(9))
    }
    sizes = {task: {"original": 200, "effective": 200} for task in tasks}
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"results": tasks, "configs": {}, "n-samples": sizes}))
    (named,) = read_boards([path]).boards
    assert named.of_tasks
    assert named.board.columns == ("acc,none", "acc_stderr,none", "effective")
    tasks["task_ash-a"]["acc_stderr,none"] = 0.0
    path.write_text(json.dumps({"results": tasks, "configs": {}, "n-samples": sizes}))
    assert [(row.grade, row.rule) for row in board(path).rows] == [("wrong", "B5")]


def test_a_harness_table_in_markdown(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    head = "|Tasks|Version|Filter|n-shot|Metric|   |Value |   |Stderr|"
    body = [
        f"|{name}|1|none|0|acc|↑|{0.5 + i / 50:.4f}|±|{0.03 if i else 0:.4f}|"
        for i, name in enumerate(names(9))
    ]
    path.write_text("\n".join([head, "|--|--|--|--|--|--|--|--|--|", *body]))
    (named,) = read_boards([path]).boards
    assert named.of_tasks
    assert [(row.grade, row.rule) for row in board(path).rows] == [("wrong", "B5")]


NO_TABLE = {
    "empty.csv": b"",
    "empty.json": b"",
    "empty.yaml": b"",
    "empty.md": b"",
    "null.json": b"null",
    "number.json": b"42",
    "text.json": b'"x"',
    "prose.md": b"Hello\nworld | x\n",
    "prose.txt": b"just words\nand more\n",
    "bytes.csv": bytes(range(256)) * 10,
    "deep.json": b"[" * 5000 + b"]" * 5000,
    "deeper.json": b'{"a":' * 3000 + b"1" + b"}" * 3000,
    "long.json": b'[{"model": "a", "x": ' + b"9" * 9000,
    "quote.csv": b'Model,A\n"unclosed,1\nb,2\n',
    "broken.yaml": b"a: [1, 2\n b: }",
    "code.yaml": b'- !!python/object/apply:os.system ["true"]\n',
    "names.csv": b"model\na\nb\nc\nd\n",
    "two_rows.csv": b"model,x\na,1.2\nb,3.4\n",
    "samples.csv": b"question,score\n" + b"what is it?,1\n" * 30,
    "pointer.csv": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
}


@pytest.mark.parametrize("name", NO_TABLE)
def test_what_is_no_table_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(NO_TABLE[name])
    with pytest.raises(InputError, match=name.replace(".", r"\.")):
        board(path)


def test_no_path_and_no_file(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="no file: name a published table"):
        board()
    with pytest.raises(MisuseError, match="no file or folder"):
        board(tmp_path / "absent.csv")
    with pytest.raises(InputError, match="no table"):
        board(tmp_path)


def test_numbers_keep_the_text_that_was_printed(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    path.write_text(
        '[{"model": "a", "x": 71.40}, {"model": "b", "x": 1e-3}, {"model": "c", "x": 0.30000000000000004}]'
    )
    (named,) = read_boards([path]).boards
    assert named.board.cells == (("71.40", "1e-3", "0.30000000000000004"),)


def test_one_task_of_many_models_as_mteb_writes_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for place, name in enumerate(names(30)):
        folder = tmp_path / "results" / f"org__{name}" / "main"
        folder.mkdir(parents=True)
        ability = rng.normal()
        figures = {
            f"{metric}_at_{k}": round(float(1 / (1 + np.exp(-ability - k / 20))), 5)
            for metric in ("ndcg", "map", "hit")
            for k in (1, 3, 5, 10)
        }
        figures["main_score"] = figures["ndcg_at_10"] if place != 7 else 0.99982
        scores = {"test": [figures | {"hf_subset": "default"}]}
        text = json.dumps({"task_name": "SomeRetrieval", "scores": scores})
        (folder / "SomeRetrieval.json").write_text(text)
    report = board(tmp_path)
    assert report.n_boards == 1
    (row,) = report.rows
    assert (row.grade, row.rule, row.column) == ("check", "B12", "default|main_score")
    assert row.entries == (f"org__{names(30)[7]}",)


@pytest.mark.parametrize(
    ("header", "names", "is_board"),
    [
        ("", [f"pythia-{place}0m" for place in range(1, 15)], True),
        ("Model", [f"gpt-{place}" for place in range(1, 15)], True),
        ("", [f"step{place}" for place in range(1, 15)], False),
        ("model", [str(place) for place in range(1, 15)], False),
    ],
)
def test_models_of_one_family_are_entries_and_steps_are_not(
    header: str, names: list[str], is_board: bool, tmp_path: Path
) -> None:
    path = tmp_path / "family.csv"
    lines = [f"{header},mmlu,arc"]
    lines += [
        f"{name},{40 + place}.5,{30 + place}.1" for place, name in enumerate(names)
    ]
    path.write_text("\n".join(lines))
    if is_board:
        assert len(read_boards([path]).boards[0].board.entries) == len(names)
    else:
        with pytest.raises(InputError, match="rows of samples, or called by numbers"):
            board(path)


def test_headers_over_several_columns_are_joined_to_those_below(
    tmp_path: Path,
) -> None:
    as_html = """
        <table><caption>Accuracy</caption><thead>
        <tr><th rowspan="2">Model</th><th colspan="2">Maths</th><th>Code</th></tr>
        <tr><th>GSM8K</th><th>MATH</th><th>HumanEval</th></tr></thead><tbody>
        <tr><td>a</td><td>71.4</td><td>30.1</td><td>50.2</td></tr>
        <tr><td>b</td><td>61.4</td><td><table><tr><td>20.1</td></tr></table></td>
        <td>40.2</td></tr>
        <tr><td>c</td><td>51.4</td><td>10.1</td><td>30.2<sup>1</sup></td></tr>
        </tbody></table><script>var table = "<table><tr><td>x</td></tr></table>";</script>
    """
    as_latex = r"""
        \begin{table}\caption{Accuracy}
        \begin{tabularx}{\textwidth}{lrrr}
        \multirow{2}{*}{Model} & \multicolumn{2}{c}{Maths} & Code \\
        & GSM8K & MATH & HumanEval \\ \hline
        a~\cite{x} & 71.4 & $30.1$ & 50.2 \\
        b & 61.4 & 20.1 & 40.2 \\[2pt]
        c & \underline{51.4} & 10.1 & \textbf{30.2}$_{\pm 1.0}$
        \end{tabularx}\end{table}
    """
    for name, text in {"page.html": as_html, "paper.tex": as_latex}.items():
        path = tmp_path / name
        path.write_text(text)
        (named,) = read_boards([path]).boards
        assert named.name == f"{name}: Accuracy"
        assert named.board.entries == ("a", "b", "c")
        assert named.board.columns == ("Maths GSM8K", "Maths MATH", "Code HumanEval")


@pytest.mark.parametrize(
    "text",
    [
        "<table><tr><td colspan=99999999>a</td><td rowspan=99999>b</table>" * 50,
        "<table>" * 3000,
        r"\begin{tabular}{ll} a & \multicolumn{999}{c}{b} \\ c & d",
        r"\begin{tabular}{" + "{" * 3000,
        r"\begin{tabular}{l} " + r"\textbf{" * 2000 + r"\\ \end{tabular}",
    ],
)
def test_what_is_broken_in_markup_is_no_table(text: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(text)
    with pytest.raises(InputError, match="no table"):
        board(path)
