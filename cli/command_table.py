"""The table of commands: section, module, one sentence, and an example that can be
pasted.

`warehouse --help` is made from this table and from that of the questions alone
(`warehouse.questions.registry`); a command's module is imported when it runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warehouse.questions.registry import (
    ADDED,
    ENTRIES,
    added,
    added_names,
    question_of,
)

#: Sections of the help. What people need every day stands first.
SECTIONS = {
    "daily": "Every day",
    "kept": "What is kept, and what holds of it",
    "subjects": "Questions, by subject",
    "around": "Around it",
    ADDED: "What packages of others answer",
}
#: Daily commands in the order of the help; the others follow the tables.
EVERYDAY = (
    "ingest",
    "leaderboard",
    "compare",
    "pairs",
    "gate",
    "power",
    "show",
    "report",
    "serve",
    "query",
    "shell",
    "refresh",
)


@dataclass(frozen=True)
class CommandEntry:
    """One command."""

    name: str  #: that of a command of a group has a blank (``store upgrade``).
    section: str
    #: where its function may stand; a group that only holds its commands has none there,
    #: nor has a command that asks a question and does nothing else (`cli/ask.py`).
    module: str
    sentence: str
    examples: tuple[str, ...]
    asks: bool = False  #: whether it asks a question of the registry.


#: By section: name, module, sentence, examples.
_COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "daily": (
        ("ingest", "ingest", "Read what evaluation tools wrote into the store.",
         "warehouse ingest path/to/lm_eval_output",
         "warehouse ingest results/ --map mapping.toml --set temperature=0.7",
         "warehouse ingest results/ --map eval_arena", "warehouse ingest results/ --watch --publish published.db",
         "warehouse ingest hf://datasets/org/results/model-a",
         "warehouse ingest results/ --on sc://spark.example.org:15002 --lake /shared/lake"),
        ("report", "report", "Write all results as one HTML page that needs no network.",
         "warehouse report", "warehouse report gsm8k --out gsm8k.html", "warehouse report --split --out results"),
        ("serve", "serve", "Show the store in the browser: pages that follow it, read-only.",
         "warehouse serve --open", "warehouse --db postgresql://reader@db/evals serve --port 8321",
         "warehouse serve --host 0.0.0.0 --token-file token.txt"),
        ("query", "query", "Run a view, a library query or one SELECT of your own.",
         "warehouse query", "warehouse query score_summary --json",
         'warehouse query --sql "select model, estimate from score_summary"', "warehouse query --sql - --jsonl"),
        ("shell", "query", "Type SELECT statements; nothing can be changed.", "warehouse shell"),
        ("refresh", "refresh", "Recompute stored figures that are out of date.",
         "warehouse refresh --baseline model-a", "warehouse refresh --dry-run",
         "warehouse refresh gsm8k --family matrix --prune-older-than 90d", "warehouse refresh --lake /shared/lake"),
    ),
    "kept": (
        ("mapping", "ingest", "Begin a mapping from a table; list those that are shipped.",
         "warehouse mapping results.csv -o mapping.toml", "warehouse mapping --list",
         "warehouse mapping mmlu_pro -o mapping.toml"),
        ("list", "", "Runs, models, benchmarks, sources, metrics of a benchmark.",
         "warehouse list runs",
         "warehouse list metrics gsm8k"),
        ("list runs", "lists", "List runs, with what became of them.",
         "warehouse list runs --where benchmark=gsm8k",
         "warehouse list runs run:7"),
        ("list models", "lists", "List models: names, parameters, runs, other names.",
         "warehouse list models"),
        ("list benchmarks", "lists", "List benchmarks: prompts, runs, what counts, other names.",
         "warehouse list benchmarks"),
        ("list sources", "lists", "List what was ingested, or show one source.",
         "warehouse list sources",
         "warehouse list sources 3"),
        ("list metrics", "lists", "List the metrics of a benchmark, and which one counts.",
         "warehouse list metrics gsm8k"),
        ("list settings", "lists", "List settings that tell runs apart, or were said not to matter.",
         "warehouse list settings gsm8k",
         "warehouse list settings"),
        ("list links", "lists", "List prompts of benchmarks that were joined.",
         "warehouse list links"),
        ("list clusters", "lists", "List clusterings: how many clusters, and how large.",
         "warehouse list clusters",
         "warehouse list clusters gsm8k"),
        ("list declared", "lists", "List what was said of benchmarks, and since when.",
         "warehouse list declared",
         "warehouse list declared gsm8k"),
        ("list prices", "lists", "List what tokens cost, and models without a price.",
         "warehouse list prices",
         "warehouse list prices --json"),
        ("fix", "", "Alias, link, metric, tag; invalidate a run, forget a source.",
         "warehouse fix alias gsm8k_main gsm8k",
         "warehouse fix forget 3"),
        ("fix alias", "fix", "Show a model, benchmark or metric under another one's name.",
         "warehouse fix alias llama3-8b meta-llama/Meta-Llama-3-8B",
         "warehouse fix alias gsm8k_main gsm8k",
         "warehouse fix alias extractive_match exact_match --metric --on gsm8k",
         "warehouse fix alias llama3-8b --undo"),
        ("fix link", "fix", "Join equal prompts of two benchmarks or harnesses.",
         "warehouse fix link gsm8k_cot gsm8k",
         "warehouse fix link gsm8k gsm8k",
         "warehouse fix link gsm8k_cot --undo"),
        ("fix metric", "fix", "Choose what a benchmark goes by; which way, between which bounds.",
         "warehouse fix metric gsm8k --metric exact_match,strict-match",
         "warehouse fix metric wikitext --metric perplexity --lower-is-better",
         "warehouse fix metric essays --metric rating --bounds 0 100"),
        ("fix policy", "fix", "Say what samples without a score count as on a benchmark.",
         "warehouse fix policy swe_bench attempts",
         "warehouse fix policy essays all-wrong --metric rating --wrong-value 0",
         "warehouse fix policy swe_bench --undo"),
        ("fix slices", "fix", "Name the fields that a benchmark is asked by, before scores come.",
         "warehouse fix slices mgsm language",
         "warehouse fix slices mgsm language,difficulty",
         "warehouse fix slices mgsm --undo"),
        ("fix settings", "fix", "Say which settings do not matter: runs become repeats.",
         "warehouse fix settings gsm8k --ignore note --reason 'a remark'",
         "warehouse fix settings --count note"),
        ("fix tag", "fix", "Put tags on a run, or write a note to it.",
         "warehouse fix tag run:7 paper --note 'final checkpoint'",
         "warehouse fix tag run:7 --remove paper"),
        ("fix invalidate", "fix", "Take a run out of every view; it stays stored.",
         'warehouse fix invalidate run:7 --reason "wrong prompt template"',
         "warehouse fix invalidate run:7 --undo"),
        ("fix forget", "fix", "Remove a source (warehouse list sources) and what only it holds.",
         "warehouse fix forget 3", "warehouse fix forget results/model-a.csv"),
        ("fix cluster", "fix", "Group a benchmark's prompts by fields of theirs.",
         "warehouse fix cluster squad passage --default"),
        ("fix released", "fix", "Say when a model was released.",
         "warehouse fix released model-a 2024-01-31",
         "warehouse fix released model-a --undo"),
        ("fix prices", "fix", "Store what tokens cost, for runs that only count them.",
         "warehouse fix prices prices.csv"),
        ("store", "", "Make, check, upgrade the store; publish a copy, export it.",
         "warehouse store init",
         "warehouse store check"),
        ("store init", "store", "Create an empty store, also beside tables of others.",
         "warehouse --db duckdb:///evals.duckdb store init"),
        ("store check", "store", "Prove that schema and facts are what they should be.",
         "warehouse store check", "warehouse store check --json"),
        ("store upgrade", "store", "Bring the schema to the newest version.", "warehouse store upgrade"),
        ("store downgrade", "store", "Take the schema down to an older version.",
         "warehouse store downgrade base --yes"),
        ("store current", "store", "Show the store's schema version and the program's.", "warehouse store current"),
        ("store vacuum", "store", "Remove prompts and texts that nothing holds.", "warehouse store vacuum"),
        ("store reader", "store", "Make a role of the server that can only read the store.",
         "warehouse --db postgresql://owner@db/evals store reader"),
        ("store publish", "store", "Make a read-only copy that readers can keep open.",
         "warehouse store publish published.db", "warehouse store publish published.db --after ingest,refresh"),
        ("store export", "store", "Write the store as Parquet, or runs as Every Eval Ever.",
         "warehouse store export --parquet out/", "warehouse store export --format every-eval-ever out/",
         "warehouse store export --format inspect logs/"),
        ("lake", "", "Keep the store as Delta tables, for engines beyond one machine.",
         "warehouse lake sync /shared/lake"),
        ("lake sync", "lake", "Bring a lake up to what the store holds.",
         "warehouse lake sync /shared/lake", "warehouse --db published.db lake sync s3://team/evals"),
        ("lake check", "lake", "Hold a lake against the store, row by row.", "warehouse lake check /shared/lake"),
        ("lake versions", "lake", "List the versions of a lake that can be asked.",
         "warehouse lake versions /shared/lake"),
        ("lake vacuum", "lake", "Remove old versions of a lake, and join small files.",
         "warehouse lake vacuum /shared/lake", "warehouse lake vacuum /shared/lake --older-than 4w"),
    ),
    "subjects": (
        ("board", "board", "Tell what of a published table cannot be right.",
         "warehouse board leaderboard.csv", "warehouse board results/ README.md --fail",
         "warehouse board leaderboard.json --json"),
        ("claim", "claim", "Write a figure down so that others can check it.",
         'warehouse claim "leaderboard gsm8k" -o claim.json',
         'warehouse claim "compare model-a model-b -b gsm8k" -o claim.json'),
        ("claim verify", "claim", "Recompute a claim, and say what differs.",
         "warehouse claim verify claim.json", "warehouse claim verify claim.json --from results/"),
    ),
    "around": (
        ("schedule", "schedule", "Ingest, refresh and report at the times you say.",
         'warehouse schedule --cron "0 * * * *" --watch results/ --report report.html',
         'warehouse schedule --cron "30 6 * * mon-fri" --timezone Europe/Berlin '
         '--show-next 5',
         "warehouse schedule --once --watch results/"),
        ("mcp", "mcp", "Answer what agents ask over the Model Context Protocol.", "warehouse --db evals.db mcp"),
        ("config", "schedule", "Show which settings hold and where they come from.", "warehouse config"),
        ("completion", "store", "Print what a shell needs to complete commands.", "warehouse completion bash"),
        ("help", "help", "Explain a command, a word, or the forms of output.",
         "warehouse help rank-set", "warehouse help output", "warehouse help gate"),
    ),
}  # fmt: skip

#: Commands that ask the store and are no questions of the registry.
_ASKING = frozenset(
    ("report", "serve", "query", "shell", "mcp", "claim", "store export", "list runs")
    + ("board",)
    + ("list models", "list benchmarks", "list sources", "list metrics")
    + ("list settings", "list links", "list clusters", "list declared", "list prices")
)
#: Files of commands, by their names.
_FILES = {path.stem for path in (Path(__file__).parent / "commands").glob("*.py")}


def _file_of(name: str) -> str:
    """The file of a command that asks a question: called as its last word, else as its
    group; empty where there is none, as it has no options but the question's."""
    words = name.split()
    return next((word for word in reversed(words) if word in _FILES), "")


def _table() -> dict[str, CommandEntry]:
    """Every command by name, in the order of the help."""
    asked = [
        CommandEntry(
            entry.name,
            entry.section,
            _file_of(entry.name),
            entry.sentence,
            entry.examples,
            asks=bool(entry.question),
        )
        for entry in ENTRIES.values()
    ]
    done = [
        CommandEntry(name, section, module, sentence, tuple(examples))
        for section, commands in _COMMANDS.items()
        for name, module, sentence, *examples in commands
    ]
    places = [*SECTIONS]
    entries = sorted([*asked, *done], key=lambda entry: places.index(entry.section))
    by_name = {entry.name: entry for entry in entries}
    return {name: by_name.pop(name) for name in EVERYDAY} | by_name


#: Every command of this package by name, in the order of the help.
COMMANDS = _table()


def takes_dumps(entry: CommandEntry) -> bool:
    """Whether a command can be asked of dumps in place of a store (``--from``): it
    changes nothing there."""
    if not entry.asks:
        return entry.name in _ASKING
    # one that is a method of another answer (a matrix) has no such word
    return not getattr(question_of(entry.name), "CHANGES_STORE", False)


def asking_words() -> set[str]:
    """First words of the commands that can all be asked of dumps."""
    changing = ("text", "judge", "subset", "store")
    words = {name.split()[0] for name in (*ENTRIES, *_ASKING)}
    return words - set(changing)


def is_group(name: str) -> bool:
    """Whether a name of the table has commands of its own below it."""
    return any(other.startswith(f"{name} ") for other in COMMANDS)


def names_below(group: str) -> list[str]:
    """The commands of a group, each by its last word; ``""``: those of the program."""
    if not group:
        return [name for name in all_names() if " " not in name]
    words = [name.split() for name in COMMANDS]
    return [last for first, *rest in words if first == group for last in rest]


def all_names() -> list[str]:
    """Names of all commands, with those of the questions of other packages."""
    return [*COMMANDS, *(name for name in added_names() if name not in COMMANDS)]


def meant_by(word: str) -> list[str]:
    """Commands of groups that are called by this word alone, such as ``seeds``."""
    return [name for name in COMMANDS if name.split()[1:] == [word]]


def entry_of(name: str) -> CommandEntry | None:
    """A command by name; None where there is none.

    Raises:
        WarehouseError: it asks a question of another package that does not load.
    """
    if name in COMMANDS:
        return COMMANDS[name]
    found = added(name)
    if found is None:
        return None
    return CommandEntry(
        name, found.section, "", found.sentence, found.examples, asks=True
    )
