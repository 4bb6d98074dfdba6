"""No option is dropped in silence: given, it changes what comes out or is written, or
it is refused with the reason."""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from shlex import split

import click
import pytest

from tests.support.cli import Caller
from tests.support.full_store import CALLS, STORE, TINY, WORDS, copy_filled
from tests.support.same_stores import stored_rows
from warehouse.cli.command_table import COMMANDS
from warehouse.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
#: They settle what other stores leave open, or compute again what is stored, which
#: gives the same.
SETTLE = {"latest", "force", "subset_ok", "partial_ok", "fresh"}
#: No model of the store has several seeds or repeats: tests/cli/test_options_of_rows.py
#: has another.
SETTLE |= {"each", "repeats", "seeds_are", "pair_seeds"}
#: How an answer is printed.
FORMS = {
    "as_json",
    "as_jsonl",
    "as_csv",
    "csv_safe",
    "parquet",
    "columns",
    "wide",
    "markdown",
    "help",
}
FORMS |= {"as_markdown", "as_latex", "as_html", "percent"}
FORMS |= {"db", "wait", "quiet", "verbose", "explain", "top", "show_all"}
#: Calls of which some option changes what stands under ``--explain`` alone.
EXPLAINED = {
    "frontier priced",
    "items audit exam",
    "items datamap org/m0 -b gens",
    "noise formulations cloze choice",
}
#: Texts that mean something in the store; what is not listed here is tried as it comes.
TEXTS: dict[str, tuple[str, ...]] = {
    "metric": ("acc_norm", "exact_match,strict-match"),
    "policy": ("attempts", "all-wrong"),
    "cluster": ("none", "same_text"),
    "where": ("split!=x", "temperature=9"),
    "named": ("sums", "exam"),
    "scorer": ("human", "model"),
    "reference": ("org/m1",),
    "role": ("user",),
    "tool": ("bash",),
    "covariate": ("length",),
    "benchmark": ("sums", "exam", "cloze"),
    "method": ("t", "wilson"),
    "embedder": (TINY, "tiny"),
    "entailment": (WORDS,),
    "device": ("cpu", "cuda"),
    "small": ("parameter_count=900",),
    "large": ("parameter_count=100",),
    "sizes": ("5,9",),
    "tiers": ("5,2",),
    "n_clusters": ("2,3",),
    "scenarios": ("level",),
    "strata": ("category", "score"),
    "file": ("weights.csv",),
    "given": ("weights.csv",),
    "against": ("verdicts.csv", "choice", "org/m3"),
    "family": ("families.csv",),
    "wrong_is": ("bad",),
    "folder": ("out",),
    "mapping": ("mapping.toml", "mmlu_pro"),
    "values": ("temperature=0.9",),
    "defaults": ("task_version=9",),
    "cluster_by": ("passage", "level"),
    "prune": ("0h", "90d"),
    "prune_older_than": ("0h", "90d"),
    "baselines": ("model-a",),
    "families": ("scores", "matrix"),
    "statistic": ("score",),
    "after": ("ingest",),
    "on": ("sail:",),
    "cron": ("0 * * * *",),
    "timezone": ("Asia/Tokyo",),
    "watch": ("demo",),
    "lake": ("lake",),
    "parameters": ("run_a=1",),
    "sql": ("select 1 as one",),
    "pass_at": ("1,2",),
    "q": (".3", ".4,.6"),
    "pass_hat": ("2",),
    "n_values": ("50,60",),
    "publish": ("out.db",),
    "svg": ("out.svg",),
    "tries": ("1,2",),
    "min_s": ("-2", "-0.1"),
    "timeout": ("0.000001",),
    "memory": ("10MB", "1MB"),
    "source": ("demo",),
    "tags": ("new",),
    "removed": ("kept",),
}

#: Commands that are not called here.
LEFT_OUT = {
    "irt complete": (
        "needs eighty figures; tests/analysis/irt/test_published_completion.py"
    ),
    "irt scale": (
        "needs four benchmarks of four models; "
        "tests/analysis/irt/test_published_scale.py"
    ),
    "store publish": "says how long it took; tests/store/test_publish.py",
    "subset extend": (
        "answers differ from call to call; tests/analysis/subsets/test_subset_plans.py"
    ),
    "store reader": "makes a role of a server",
    "store export": "writes whole stores, seconds a call; tests/test_export.py",
    "lake sync": "needs an extra; tests/cli/test_lake.py",
    "lake check": "needs an extra; tests/cli/test_lake.py",
    "lake versions": "needs an extra; tests/cli/test_lake.py",
    "lake vacuum": "needs an extra; tests/cli/test_lake.py",
    "ingest": (
        "loads the dumps anew with every option, seconds a call; "
        "tests/cli/test_ingest.py"
    ),
    "fix settings": "needs runs that differ by a setting; tests/cli/test_catalogue.py",
    "fix prices": "reads a file; tests/store/test_prices.py",
    "board": "asks files, not a store; tests/cli/test_board.py",
    "report": "takes long here; not tried option by option yet",
    "claim verify": "takes long here; not tried option by option yet",
    "mcp": "talks to a client; its options are those of query; tests/cli/test_mcp.py",
    "serve": "answers until it is told to end; tests/serve",
    "shell": "reads a terminal; its options are those of query",
    "subset flash": "takes long here; not tried option by option yet",
}
TIMES = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?|\b\d+(\.\d+)? s\b|seconds +[\d.]+"
    r"|datetime\.datetime\([\d, ]+\)"  # as a store has it
)
#: Commands whose options compute for seconds: until the night the last test here says
#: whether all are read.
LONG = {"irt dimensions", "matrix grow"}
#: So do those that stand at their turn: 12 s of the 30 s that all of these took.
AT_NIGHT = {"matrix weights", "matrix explain", "irt next", "recipes"}
Answer = tuple[int, str, dict[str, object]]


class Place:
    """A folder that is filled anew for every call, unless the last one left it as it
    was."""

    def __init__(
        self, full: Path, run: Caller, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.full, self.run, self.monkeypatch = full, run, monkeypatch
        self.is_as_filled = False

    def __call__(self, *words: str, other_than: Answer | None = None) -> Answer:
        """What a call said, and what it left in the folder, without times. What was
        stored is read only where it matters: said something other than an answer, it is
        another."""
        here = self.full.with_name("here")
        if not self.is_as_filled:
            shutil.rmtree(here, ignore_errors=True)
            shutil.copytree(self.full, here)
        self.monkeypatch.chdir(here)
        outcome = self.run(*words, db=STORE)
        said = outcome.code, TIMES.sub("TIME", f"{outcome.out}\n{outcome.err}")
        changed = [*self.changed(here)]
        self.is_as_filled = not changed and names_below(here) == names_below(self.full)
        if other_than is not None and said != other_than[:2]:
            return *said, {}
        return *said, {str(path.relative_to(here)): content(path) for path in changed}

    def changed(self, here: Path) -> Iterator[Path]:
        for path in sorted(path for path in here.rglob("*") if path.is_file()):
            name, now = str(path.relative_to(here)), path.stat()
            before = (self.full / name).stat() if (self.full / name).is_file() else None
            if before is None or (before.st_mtime_ns, before.st_size) != (
                now.st_mtime_ns,
                now.st_size,
            ):
                yield path  # a copy keeps the time


def content(path: Path) -> object:
    if path.suffix in (".duckdb", ".db"):
        return TIMES.sub("TIME", repr(stored_rows(str(path))))
    return (
        path.read_bytes()
        if path.suffix == ".parquet"
        else TIMES.sub("TIME", path.read_text())
    )


def names_below(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*")}


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("options") / "full"
    folder.mkdir()
    copy_filled(folder)
    return folder


@pytest.fixture
def place(full: Path, run: Caller, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(full, run, monkeypatch)


def command_of(words: list[str]) -> click.Command:
    """The command that a line calls."""
    command, rest = cli, words
    while isinstance(command, click.Group) and rest:
        _, command, rest = command.resolve_command(click.Context(command), rest)
    return command


def name_of(call: str) -> str:
    """What a line's command is called in the table."""
    words = split(call)
    return next(name for n in (2, 1) if (name := " ".join(words[:n])) in COMMANDS)


def values_of(option: click.Option) -> Iterator[list[str]]:
    """The option as it may be given, with values that are not its default."""
    name = max(option.opts, key=len)
    if option.is_flag:
        yield from ([one] for one in (name, *option.secondary_opts))
    elif isinstance(option.type, click.Choice):
        yield from (
            [name, value] for value in option.type.choices if value != option.default
        )
    elif (
        isinstance(option.type, click.FloatRange | click.types.FloatParamType)
        and option.name not in TEXTS
    ):
        yield from (
            [name, *[value] * option.nargs] for value in ("0.3", "0.9", "2", "-0.1")
        )
    elif isinstance(option.type, click.IntRange | click.types.IntParamType):
        yield from ([name, value] for value in ("1", "7", "400"))
    else:
        yield from ([name, value] for value in TEXTS.get(option.name or "", ("new",)))


def test_every_command_of_the_table_is_called_or_left_out_with_a_reason() -> None:
    groups = {
        name
        for name in COMMANDS
        if any(other.startswith(f"{name} ") for other in COMMANDS)
    }
    called = {name_of(call) for call in CALLS}
    assert called & LEFT_OUT.keys() == set()
    assert called | LEFT_OUT.keys() | groups == COMMANDS.keys()


def first_change(
    place: Place, words: list[str], option: click.Option, before: Answer
) -> bool | None:
    """Whether some value of an option changes the answer, or is refused; None where
    none could be tried."""
    answers = (place(*words, *value, other_than=before) for value in values_of(option))
    changes = (
        answer != before for answer in answers if "Invalid value" not in answer[1]
    )
    first = next(changes, None)
    return first if first is None else first or any(changes)


def calls() -> Iterator[object]:
    """The first call of every second command is tried before the night: 2 s each. The
    others have the same options, and the last test here says of all commands whether
    what they take is read."""
    seen = {*LONG}
    for call in CALLS:
        is_tried = name_of(call) not in seen | AT_NIGHT and len(seen) % 2
        yield pytest.param(
            call, marks=pytest.mark.rare if is_tried else pytest.mark.slow
        )
        seen.add(name_of(call))


@pytest.mark.parametrize("call", list(calls()))
def test_an_option_changes_something_or_is_refused(call: str, place: Place) -> None:
    words, settled = split(call), FORMS | SETTLE | CALLS[call]
    if call in EXPLAINED:
        words.append("--explain")
    before, silent = place(*words), set()
    assert before[0] in (0, 1, 5), before[1]
    assert place(*words) == before
    for option in command_of(words).params:
        if (
            not isinstance(option, click.Option)
            or option.name in settled
            or set(option.opts) & set(words)
        ):
            continue
        if first_change(place, words, option, before) is False:
            silent.add(option.name)
    assert silent == set()


def paths(body: list[ast.stmt], read: set[str]) -> Iterator[tuple[set[str], bool]]:
    """Names that each way through statements reads, and whether it goes on after them;
    no way that raises."""
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


def unread(file: Path) -> dict[str, set[str]]:
    """Functions of a file that others call, and keywords of theirs that some way
    through them does not read."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    classes = [kind for kind in tree.body if isinstance(kind, ast.ClassDef)]
    kinds = [
        kind
        for kind in classes
        if not any("Protocol" in names(base) for base in kind.bases)
    ]  # they do nothing
    functions = [
        function
        for kind in (tree, *kinds)
        for function in kind.body
        if isinstance(function, ast.FunctionDef) and not function.name.startswith("_")
        if "overload" not in set().union(set(), *map(names, function.decorator_list))
    ]
    found: dict[str, set[str]] = {}
    for function in functions:
        keywords = {one.arg for one in function.args.kwonlyargs}
        found[function.name] = {
            one for read, _ in paths(function.body, set()) for one in keywords - read
        }
    return {name: keywords for name, keywords in found.items() if keywords}


@pytest.mark.parametrize(
    "file", sorted((ROOT / "warehouse/api").glob("*.py")), ids=lambda file: file.stem
)
def test_every_way_through_a_method_reads_all_keywords(file: Path) -> None:
    assert unread(file) == {}


#: Functions with a way out on which there is nothing to do, and keywords that only the
#: other ways need.
WAYS_OUT = {
    "view": {"verbose", "top"},  # a result without details, or with all of them
    "pair_costs": {"level", "times"},  # no cost is known
    "on_plans": {"estimand", "level"},  # the store has no plans
    "planned_pair": {"estimand", "level"},  # no run is on a plan
    "estimate_of": {"estimand", "level"},  # the plan does not hold
    "make_plan": {"before", "candidate", "history"},
    "shared_words": {"kept"},
    "sets_of_prompts": {
        "fresh",
        "store_result",
    },  # no model groups; `datamap` refuses both
    "answer_pairs": {"fresh", "store_result"},  # so few prompts that nothing is stored
    "read_curves": {"chance", "cluster"},  # no curves
    "field_test_of": {"n_resamples", "seed"},  # prompts in several slices have no test
    "corrected_difference": {"fixed", "level"},  # no labels that were drawn
}


def test_every_way_through_an_analysis_reads_all_keywords() -> None:
    for file in sorted((ROOT / "warehouse/analysis").rglob("*.py")):
        left = {
            name: keywords - WAYS_OUT.get(name, set())
            for name, keywords in unread(file).items()
        }
        assert not any(left.values()), (file.name, left)
