"""``help``: a command, a word of the results, or the forms of output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from warehouse.errors import did_you_mean
from warehouse.tables.glossary import Term, find, names, terms

from ..command_table import COMMANDS, meant_by
from ..lazy_group import command
from ..ui.options import output_options, picture_option
from ..ui.output_files import TABLES
from ..ui.table import echo, print_text
from ..ui.wanted import wanted

OUTPUT = "output"


@command("help", takes_state=False)
@click.argument("words", metavar="[COMMAND|TERM...|output]", nargs=-1)
@click.pass_context
def help(ctx: click.Context, /, words: tuple[str, ...]) -> None:
    from ..ui.reference_docs import context_of

    name = " ".join(words)
    if not words:
        _print_topics()
    elif name == OUTPUT:
        _print_output(ctx)
    else:
        whole_term = find(name)
        commands = [name] if name in COMMANDS else meant_by(name)
        if whole_term is not None:
            found = [whole_term]
        elif commands:
            found = []
        elif all(find(word) for word in words):
            found = [_term(word) for word in words]
        elif fitting := wanted(words):
            return _print_fitting(fitting)
        else:
            found = [_term(word) for word in words]
        for term in dict.fromkeys(found):
            print_text(f"{term.name}: {term.says}")
            print_text(f"More: docs/{term.page}.md")
        for command in commands:
            help_text = context_of(command, ctx.find_root()).get_help()
            if found or command != commands[0]:
                help_text = f"\n{help_text}"
            echo(help_text)


def _print_fitting(names: Sequence[str]) -> None:
    """Commands that somebody may want, each with its sentence."""
    print_text("Perhaps one of these (--help of each has examples):")
    rows = [(f"warehouse {name}", COMMANDS[name].sentence) for name in names]
    width = max(len(name) for name, _ in rows)
    for name, sentence in rows:
        print_text(f"  {name:<{width}}  {sentence}")


def _term(word: str) -> Term:
    term = find(word)
    if term is None:
        hint = did_you_mean(word, [*names(), *COMMANDS], "see: warehouse help")
        raise click.UsageError(f"no command or term '{word}'; {hint}")
    return term


def _print_topics() -> None:
    print_text(
        "warehouse --help lists the commands, warehouse help COMMAND explains one."
    )
    print_text(
        "warehouse help output: --json, --csv, --markdown and the other forms of an "
        "answer."
    )
    print_text(f"warehouse help TERM explains a word: {', '.join(terms())}.")
    print_text("It also knows columns of tables (se, p Holm) and flags (few_clusters).")


def _print_output(ctx: click.Context) -> None:
    """The options that say how an answer is written, which many commands have."""
    formatter = ctx.make_formatter()
    records = [option.get_help_record(ctx) for option in output_parameters()]
    formatter.write_text(
        "How an answer is written; each command names in its --help which of these it "
        "has."
    )
    formatter.write_paragraph()
    formatter.write_dl([record for record in records if record])
    echo(formatter.getvalue().rstrip())
    print_text("More: docs/cli.md")


def output_parameters() -> list[click.Option]:
    """The options themselves, as the commands get them."""
    decorated: Any = output_options(picture_option(lambda: None))
    options: list[click.Option] = decorated.__click_params__[::-1]
    return sorted(options, key=lambda option: option.name not in TABLES)
