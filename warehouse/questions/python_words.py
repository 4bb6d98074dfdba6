"""Advice as Python says it: methods and their arguments, in place of the commands and
options that messages name.

A message is written once, in the words of the command line, where most are read.
What a method raises, or warns of, goes through `saying.in_python_words`. Commands without a
method stay as they are: a shell is where they are typed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from warehouse.questions.question import FieldOption, Question, options
from warehouse.questions.registry import ENTRIES
from warehouse.questions.spelling import in_python
from warehouse.records.policy import PRESETS

#: A word of a command line, a quoted one whole.
_WORD = re.compile(r"'[^']*'|\"[^\"]*\"|[^\s`'\"()]+")
_COMMAND = re.compile(r"warehouse (?=--db |[a-z])")
_END = ",;.:"
#: A word that stands for one that the reader fills in.
_PLACEHOLDER = re.compile(r"[A-Z][A-Z_]*(?:=[A-Z_/.]+)?|ORG/NAME")
#: Words of our own that follow the name of a command without being an argument.
_VERBS = frozenset(
    ("begins", "compares", "draws", "finds", "has", "holds", "lists", "says", "shows")
    + ("takes", "tells")
)
#: Words that end a command.
_ENDS = frozenset(("and", "or", "then", "warehouse"))
#: What says that the words behind it are a command to be typed.
_TYPED = re.compile(r"(?:[:`(]|\bor)\s*$")
_BOTH_METRICS = re.compile(r"--metric (\S+) --metric (?=\S)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")

#: The keyword of an option, with it; None where it is a switch of the command alone.
_Flag = tuple[str, FieldOption | None]

#: Options of reading files, as the keywords of `read` and `ingest`; of those that are
#: said several times, each a part of a dictionary.
_READING = {"--map": "mapping", "--format": "format"}
_PARTS = {"--set": "values", "--default": "defaults"}
_SWITCHES = {
    "--higher-is-better": "higher_is_better=True",
    "--lower-is-better": "higher_is_better=False",
    "--force": "force=True",
    "--unpaired": "compare_unpaired",
}


def in_python_words(text: str, question: type[Question] | None = None) -> str:
    """A message with methods and arguments in place of commands and options.

    Args:
        text: as the command line says it.
        question: the one that was asked, whose options are meant first.

    >>> in_python_words("unknown; see: warehouse list models")
    'unknown; see: models()'
    >>> in_python_words("give the name with --default model=ORG/NAME")
    'give the name with defaults={"model": ORG/NAME}'
    """
    text = text.replace("leave out --unpaired", "ask compare")
    text = _BOTH_METRICS.sub(r"--metric \1 --second-metric ", text)
    return _options(_commands(text), question)


def _commands(text: str) -> str:
    """The text with calls of methods in place of commands that have one."""
    parts, at = [], 0
    for found in _COMMAND.finditer(text):
        if found.start() < at:
            continue
        is_typed = bool(_TYPED.search(text[: found.start()]))
        made = _call_of(text, found.end(), is_typed=is_typed)
        if made is None:
            continue
        call, end = made
        parts += [text[at : found.start()], call]
        at = end
    return "".join([*parts, text[at:]])


@dataclass
class _Words:
    """The words of a command line in a text, one after the other."""

    text: str
    at: int  #: where the next one may begin.
    is_over: bool = False  #: whether the last one ended the command.
    word: str = ""  #: the next one.
    end: int = field(default=0)  #: where that ends.

    def look(self) -> str:
        """The next word; empty at the end of the command."""
        self.word, self.end = "", self.at
        if self.is_over:
            return ""
        blank = re.compile(r"\s*").match(self.text, self.at)
        assert blank is not None
        found = _WORD.match(self.text, blank.end())
        if found is None:
            return ""
        self.word, self.end = found[0], found.end()
        if self.word[0] not in "'\"":
            stripped = self.word.rstrip(_END)
            self.end -= len(self.word) - len(stripped)
            self.word = stripped
        return self.word

    def take(self) -> str:
        """The next word, which is done with."""
        word = self.word
        self.is_over = self.text[self.end : self.end + 1] not in ("", " ", "\n")
        self.at = self.end
        return word.strip("'\"")


def _call_of(text: str, start: int, *, is_typed: bool) -> tuple[str, int] | None:
    """The call that a command stands for, and where its words end; None for a command
    without a method.

    Args:
        start: where the words behind ``warehouse`` begin.
        is_typed: whether all that follows is of the command, and no prose.
    """
    words = _Words(text, start)
    before = ""
    if words.look() == "--db":
        words.take()
        words.look()
        before = f"warehouse.connect({_value(words.take())})."
    if words.look() == "ingest":
        words.take()
        return _ingest(words, before)
    named = _named(words)
    if named is None:
        return None
    kind, listing = named
    if listing is not None and words.look() in _VERBS:
        return f"{before}{listing.said(_Given())}", words.at
    if listing is not None:
        given = _given(words, listing.options, is_typed=is_typed)
        return f"{before}{listing.said(given)}", words.at
    assert kind is not None
    if words.look() in _VERBS:
        return f"{before}{kind.NAME}", words.at
    given = _given(words, _flags_of(kind), is_typed=is_typed)
    if not is_typed and not given.positional and words.look()[:1].islower():
        return None  # what follows may be of the command, or prose
    kind = _meant(kind, given)
    return f"{before}{kind.NAME}({given.said(kind)})", words.at


def _meant(kind: type[Question], given: _Given) -> type[Question]:
    """Of the questions of one command the first that has all options that are given."""
    for other in (kind, *_variants(kind)):
        switch = other.COMMAND.partition(" --")[2]
        knows = {*options(other)} >= {*filter(None, given.named)}
        if knows and (switch in given.switches or not (switch or given.switches)):
            return other
    return kind


@dataclass
class _Given:
    """What the words of a command say."""

    positional: list[str] = field(default_factory=list)
    named: dict[str, list[str] | bool] = field(default_factory=dict)
    switches: set[str] = field(default_factory=set)

    def said(self, kind: type[Question]) -> str:
        """The arguments of the method of a question."""
        declared = options(kind)
        texts = [_value(word) for word in self.positional]
        for name, value in self.named.items():
            if name in declared:
                texts.append(f"{name}={_of_option(declared[name], value)}")
        return ", ".join(texts)


def _of_option(option: FieldOption, value: list[str] | bool) -> str:
    if isinstance(value, bool):
        return str(value)
    if option.is_list:
        return f"[{', '.join(map(_value, value))}]"
    if option.type in (int, float):
        return value[-1]
    return _value(value[-1])


def _value(word: str) -> str:
    """A word as an argument; one that stands for another as it is."""
    if word == "…" or _PLACEHOLDER.fullmatch(word):
        return word
    return in_python(word)


def _given(words: _Words, flags: Mapping[str, _Flag], *, is_typed: bool) -> _Given:
    """What follows the name of a command, as far as it is understood.

    Args:
        flags: name of each option, with it; None for a switch of the command.
        is_typed: whether words without an option are of the command.
    """
    given = _Given()
    while word := words.look():
        if word.startswith("-"):
            if not _take_option(words, flags, given):
                break
        elif word in _ENDS or not (is_typed or _PLACEHOLDER.fullmatch(word)):
            break
        else:
            given.positional.append(words.take())
    return given


def _take_option(words: _Words, flags: Mapping[str, _Flag], given: _Given) -> bool:
    """Take an option with its value; False where nobody knows it."""
    flag, _, value = words.word.partition("=")
    if flag not in flags:
        return False
    words.take()
    name, option = flags[flag]
    if option is None or option.type is bool:
        given.named[name] = True
        if option is None:
            given.switches.add(flag.removeprefix("--"))
        return True
    if name == "references":
        while (word := words.look()) and not word.startswith("-"):
            given.positional.append(words.take())
        return True
    if not value and words.look():
        value = words.take()
    values = given.named.setdefault(name, [])
    assert isinstance(values, list)
    values.append(value.strip("'\"") or "…")
    return True


def _ingest(words: _Words, before: str) -> tuple[str, int]:
    """The call of ``ingest`` with its paths and how they are read."""
    texts = []
    while (word := words.look()) and not word.startswith("-"):
        if not _PLACEHOLDER.fullmatch(word) and not re.search(r"[/.]", word):
            break
        texts.append(_value(words.take()))
    call = f"{before}ingest({', '.join(texts)})"
    rest = _reading_options(words)
    if not rest:
        return call, words.at
    return f"{call[:-1]}{', ' * bool(texts)}{rest})", words.at


def _reading_options(words: _Words) -> str:
    """Options by which files are read, one after the other, as keywords."""
    parts: dict[str, list[str]] = {}
    texts = []
    while (word := words.look()) and word in (*_READING, *_PARTS, *_SWITCHES):
        words.take()
        if word in _SWITCHES:
            texts.append(_SWITCHES[word])
            continue
        value = _next_value(words)
        if word in _READING:
            texts.append(f"{_READING[word]}={_value(value) if value else ''}")
            continue
        items = parts.setdefault(_PARTS[word], [])
        name, _, stated = value.partition("=")
        if stated:
            items.append(f'"{name}": {_value(stated)}')
    for keyword, items in parts.items():
        if items:
            texts.append(f"{keyword}={{{', '.join(items)}}}")
        else:
            texts.append(f"{keyword}=")
    return ", ".join(texts)


def _next_value(words: _Words) -> str:
    """The value of an option, which is done with; empty where prose follows."""
    value = words.look()
    if "=" in value or _PLACEHOLDER.fullmatch(value) or re.search(r"\.\w", value):
        return words.take()
    return ""


@dataclass(frozen=True)
class _Listing:
    """A method that is no question."""

    call: str  #: with ``{}`` for what is given.
    options: Mapping[str, _Flag] = field(default_factory=dict)
    taken_back: str = ""  #: what is given where ``--undo`` is; empty: ``undo=True``.

    def said(self, given: _Given) -> str:
        """The call with what is given."""
        texts = [_value(word) for word in given.positional]
        for name, value in given.named.items():
            if name == "undo" and self.taken_back:
                texts.append(self.taken_back)
            elif value is True:
                texts += [f"{name}=True"] * bool(name)
            elif isinstance(value, list) and name == "where":
                texts.append(f"where=[{', '.join(map(in_python, value))}]")
            elif isinstance(value, list):
                texts.append(f"{name}={_value(value[-1])}")
        return self.call.format(", ".join(texts))


#: An option that has a text.
_TEXT = FieldOption("", type=str)
#: Commands that ask no question, and have a method.
_LISTINGS = {
    "list models": _Listing("models({})"),
    "list benchmarks": _Listing("benchmarks({})"),
    "list sources": _Listing("sources({})"),
    "list declared": _Listing("declared({})"),
    "list runs": _Listing(
        "runs({})", {"--where": ("where", _TEXT), "--all": ("everything", None)}
    ),
    "store check": _Listing("check({})"),
    "fix alias": _Listing(
        "alias_metric({})",
        {
            "--metric": ("", None),
            "--on": ("benchmark", _TEXT),
            "--undo": ("undo", None),
        },
        taken_back="None",
    ),
    "fix policy": _Listing(
        "set_policy({})",
        {
            "--metric": ("metric", _TEXT),
            "--wrong-value": ("wrong_value", _TEXT),
            "--undo": ("undo", None),
        },
        taken_back="None",
    ),
    "fix slices": _Listing("declare_slices({})", {"--undo": ("undo", None)}),
}


def _named(words: _Words) -> tuple[type[Question] | None, _Listing | None] | None:
    """What the first words of a command name: a question or another method; the words
    are done with."""
    first = words.look()
    if not first or first.startswith("-"):
        return None
    at, was_over = words.at, words.is_over
    words.take()
    second = words.look()
    both = f"{first} {second}"
    if second and both in _LISTINGS:
        words.take()
        return _alias_of_metric(words, both)
    if second and both in ENTRIES and ENTRIES[both].question:
        words.take()
        return _asked(both), None
    if first in ENTRIES and ENTRIES[first].question and _asked(first) is not None:
        return _asked(first), None
    words.at, words.is_over = at, was_over
    return None


def _alias_of_metric(
    words: _Words, name: str
) -> tuple[type[Question] | None, _Listing | None] | None:
    """The method of a command; an alias of a model or a benchmark has none."""
    line = words.text[words.at :].partition("`")[0].partition("; ")[0]
    if name == "fix alias" and "--metric" not in line:
        return None
    return None, _LISTINGS[name]


@cache
def _asked(command: str) -> type[Question] | None:
    """The question whose method a command is; None where it has no method of its own."""
    from warehouse.questions.asked_by_methods import questions_of_methods
    from warehouse.questions.registry import question_of

    kind = question_of(command)
    known = questions_of_methods()
    name = getattr(kind, "NAME", "")
    if name == "power":  # whose method is written by hand
        return kind
    if name in known:
        return known[name]
    for other in known.values():
        if command == other.COMMAND:
            return other
    return None


def _variants(kind: type[Question]) -> tuple[type[Question], ...]:
    """Questions of the same command with a switch of their own."""
    return _with_switch((kind.COMMAND or kind.NAME).partition(" --")[0])


@cache
def _with_switch(command: str) -> tuple[type[Question], ...]:
    from warehouse.questions.asked_by_methods import questions_of_methods

    return tuple(
        kind
        for kind in questions_of_methods().values()
        if kind.COMMAND.partition(" --")[0] == command
    )


def _flags_of(kind: type[Question]) -> dict[str, _Flag]:
    """The options of a question and of its variants, each with its keyword."""
    found: dict[str, _Flag] = {}
    for other in (kind, *_variants(kind)):
        switch = other.COMMAND.partition(" --")[2]
        if switch:
            found[f"--{switch}"] = ("", None)
        for name, option in options(other).items():
            for flag in option.all_flags(name):
                found.setdefault(flag, (name, option))
    return found


def _options(text: str, question: type[Question] | None) -> str:
    """The text with keywords in place of options that stand alone."""
    own = {} if question is None else _flags_of(question)
    parts, at = [], 0
    for found in _OPTION.finditer(text):
        if found.start() < at or _is_of_command(text, found.start()):
            continue
        made = _keyword(text, found, own)
        if made is None:
            continue
        said, end = made
        parts += [text[at : found.start()], said]
        at = end
    return "".join([*parts, text[at:]])


def _is_of_command(text: str, at: int) -> bool:
    """Whether an option stands in a command that is left as it is."""
    line = re.split(r"[;\n]|: (?!warehouse)", text[:at])[-1]
    command = line.rfind("warehouse ")
    if command < 0:
        return False
    return line.count("`", command) == 0 and line.count(")", command) == 0


def _keyword(
    text: str, found: re.Match[str], own: Mapping[str, _Flag]
) -> tuple[str, int] | None:
    """A keyword in place of an option, and where that ends with its value."""
    flag = found[0]
    if flag in (*_READING, *_PARTS, *_SWITCHES) and flag not in own:
        words = _Words(text, found.start())
        return _reading_options(words), words.at
    name, option = own.get(flag) or _everywhere().get(flag, ("", None))
    if option is None:
        return None
    if option.type is bool:
        return f"{name}=True", found.end()
    words = _Words(text, found.end())
    words.look()
    if _is_value(words, option):
        return f"{name}={_of_option(option, [words.take()])}", words.at
    return f"{name}=", found.end()


#: Words of our own that follow an option without being its value.
_PROSE = frozenset(
    ("or", "and", "with", "without", "which", "is", "for", "to", "of", "leaves")
    + ("alone", "all", "again", "choose", "instead", "it", "otherwise", "them", "too")
)


def _is_value(words: _Words, option: FieldOption) -> bool:
    """Whether the next word is the value of an option, and no prose."""
    word = words.word
    if not word or word in _PROSE | _VERBS or word.startswith("-"):
        return False
    if word.replace("-", "_") in option.choices or "=" in word or word in PRESETS:
        return True
    if _PLACEHOLDER.fullmatch(word) or word[0] in "'\"0123456789":
        return True
    after = words.text[words.end :]
    return not after or after[0] in ",;.:)`" or after.startswith(" --")


@cache
def _everywhere() -> dict[str, _Flag]:
    """Options that mean one keyword, in whichever question they are."""
    from warehouse.questions.asked_by_methods import questions_of_methods

    found: dict[str, dict[str, FieldOption]] = {}
    for kind in questions_of_methods().values():
        for name, option in options(kind).items():
            for flag in option.all_flags(name):
                found.setdefault(flag, {})[name] = option
    return {
        flag: next(iter(own.items())) for flag, own in found.items() if len(own) == 1
    }
