"""No option is dropped in silence: given, it changes what comes out, or it is refused with the reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from shlex import split

import click
import pytest

from tests.support.cli import Caller
from warehouse.cli.main import cli, main

ROOT = Path(__file__).resolve().parents[2]
#: They settle what other stores leave open.
SETTLE = {"latest", "force", "subset_ok", "partial_ok"}
#: How an answer is printed.
FORMS = {"as_json", "as_jsonl", "as_csv", "csv_safe", "parquet", "columns", "wide", "markdown", "help"}
FORMS |= {"wait", "quiet", "verbose"}
#: Texts that mean something in the store.
TEXTS = {"metric": ("acc_norm", "exact_match,strict-match"), "cluster": ("none", "same_text"), "where": ("split!=x",)}

#: Command lines, and which of their options change nothing on this store, though they may on others.
CALLS: dict[str, set[str]] = {
    "leaderboard reading": {"where", "max_unscored"},
    "leaderboard --group reading,sums --json": {"where"},
    "compare model-a model-b -b reading": {"where", "only_overall", "seed"},
    "compare model-a model-b -b reading --method permutation --json": {"where", "only_overall", "n_resamples", "seed"},
    "compare model-a model-b -b reading --flips 3 --json": {"where"},
    "pairs sums": {"where", "cluster"},
    "gate model-a model-b --margin 0.05 --json": {"where", "max_unscored"},
    "gate model-a model-b --margin 0.05 --sequential -b sums --json": {"where", "no_history"},
    "variance sums": {"where", "cluster"},
    "variance sums --pass-at 1,2": {"where", "cluster"},
    "power --omega2 0.11 --delta 0.03": set(),
    "power --omega2 0.11 --n 300": set(),
    "power --from model-a model-b -b reading --delta 0.1": {"where"},
    "items reading": {"where"},
    "items reading --json": {"where"},
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of the shipped dumps."""
    url = f"duckdb:///{tmp_path_factory.mktemp('demo') / 'demo.duckdb'}"
    assert main(["--db", url, "--quiet", "ingest", str(ROOT / "docs/demo/results"), "--cluster-by", "passage"]) == 0
    return url


def values_of(option: click.Option) -> Iterator[list[str]]:
    """The option as it may be given, with values that are not its default."""
    name = max(option.opts, key=len)
    if option.is_flag:
        yield [name]
    elif isinstance(option.type, click.Choice):
        yield from ([name, value] for value in option.type.choices if value != option.default)
    elif isinstance(option.type, click.FloatRange | click.types.FloatParamType):
        yield from ([name, value] for value in ("0.3", "0.9", "2"))
    elif isinstance(option.type, click.IntRange | click.types.IntParamType):
        yield from ([name, value] for value in ("1", "7", "400"))
    else:
        yield from ([name, value] for value in TEXTS.get(option.name or "", ()))


@pytest.mark.rare
@pytest.mark.parametrize("call", CALLS)
def test_an_option_changes_something_or_is_refused(call: str, demo: str, run: Caller) -> None:
    words = split(call)
    command = cli.get_command(click.Context(cli), words[0])
    assert command is not None
    before, silent, tried = run(*words, db=demo), set(), 0
    for option in command.params:
        if not isinstance(option, click.Option) or {option.name} & (FORMS | SETTLE) or set(option.opts) & set(words):
            continue
        answers = [run(*words, *value, db=demo) for value in values_of(option)]
        answers = [answer for answer in answers if "Invalid value" not in answer.err]
        tried += len(answers)
        if answers and all(answer == before for answer in answers):
            silent.add(option.name)
    assert before.code in (0, 1, 5) and tried > 5, before.err
    assert silent <= CALLS[call]


def paths(body: list[ast.stmt], read: set[str]) -> Iterator[tuple[set[str], bool]]:
    """Names that each way through statements reads, and whether it goes on after them; no way that raises."""
    if not body:
        yield read, True
        return
    first, rest = body[0], body[1:]
    if isinstance(first, ast.Raise):
        return
    if isinstance(first, ast.Return):
        yield read | names(first), False
        return
    heads: list[tuple[set[str], list[ast.stmt]]] = [(names(first), [])]
    if isinstance(first, ast.If):
        heads = [(names(first.test), first.body), (names(first.test), first.orelse)]
    elif isinstance(first, ast.With):
        heads = [(set().union(*map(names, first.items)), first.body)]
    for head, inside in heads:
        for known, goes_on in paths(inside, read | head):
            yield from paths(rest, known) if goes_on else [(known, False)]


def names(node: ast.AST) -> set[str]:
    return {found.id for found in ast.walk(node) if isinstance(found, ast.Name)}


@pytest.mark.parametrize("file", sorted((ROOT / "warehouse/api").glob("*.py")), ids=lambda file: file.stem)
def test_every_way_through_a_method_reads_all_keywords(file: Path) -> None:
    methods = [
        function
        for kind in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(kind, ast.ClassDef)
        for function in kind.body
        if isinstance(function, ast.FunctionDef) and not function.name.startswith("_")
        if "overload" not in set().union(set(), *map(names, function.decorator_list))
    ]
    for method in methods:
        keywords = {found.arg for found in method.args.kwonlyargs}
        for read, _ in paths(method.body, set()):
            assert keywords <= read, (method.name, keywords - read)
