"""Settings: ``warehouse.toml``, environment variables above it, flags above those.

The file is the one that ``--config`` or ``$WAREHOUSE_CONFIG`` names, else that of the
current folder::

    [store]
    url = "duckdb:///evals.duckdb"
    reader = "warehouse_reader"      # on a server: the role that typed queries are run as

    [publish]
    path = "published.db"
    after = "ingest,refresh"

    [refresh]
    baselines = ["org/model-a"]
    families = ["scores", "differences", "ranks", "matrix"]
    permutations = 5000

    [alerts]
    max_unscored = 0.05
    webhook = "https://example.org/hook"

    [ingest]
    ignore = ["costs.json"]

    [ingest.maps]
    "eq_bench/*.json" = "eq_bench"   # a pattern of paths, a mapping

    [schedule]
    cron = "0 * * * *"
    watch = ["new/"]

A file of the same name and form in the user's configuration directory
(``$XDG_CONFIG_HOME/warehouse``, else ``~/.config/warehouse``) says what holds in every
folder whose own file does not say otherwise.

A folder may come from anybody: what its own file says beyond that folder (another
store, a webhook, a path) is refused until somebody chooses the file
(:func:`outside_of_folder`).

What raises an alert: docs/refresh.md; without the table ``[alerts]`` nothing is
checked. What a schedule takes: docs/schedule.md. Rules on files: docs/ingest.md.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from warehouse.errors import InputError, MisuseError, did_you_mean
from warehouse.files import replace_file
from warehouse.records.own_files import own_text
from warehouse.store.engines import DEFAULT_FILE, DEFAULT_URL

FILE = "warehouse.toml"
URL_VARIABLE = "WAREHOUSE_URL"
#: Where a user's configuration lies, if that is not ``~/.config``.
USER_VARIABLE = "XDG_CONFIG_HOME"
READER_VARIABLE = "WAREHOUSE_READER"
#: Names the file of settings, as ``--config`` does.
CONFIG_VARIABLE = "WAREHOUSE_CONFIG"

TEXT, TEXTS = "a text", "a list of texts"
SHARE, FLAG = "a number from 0 to 1", "true or false"
AGE = "an age such as 90d, 12h or 4w"
SECONDS, LOG_FORM = "a number of seconds, 0 or more", "'text' or 'json'"
COUNT, NATURAL = "a whole number from 1", "a whole number from 0"
MAPS = "a table of PATTERN = MAPPING, both texts"
#: Tables of the file, their keys, and what these hold.
KNOWN: Mapping[str, Mapping[str, str]] = {
    "store": {"url": TEXT, "reader": TEXT},
    "publish": {"path": TEXT, "after": TEXT},
    "ingest": {"ignore": TEXTS, "maps": MAPS},
    "refresh": {
        "baselines": TEXTS,
        "families": TEXTS,
        "benchmarks": TEXTS,
        "level": SHARE,
        "permutations": COUNT,
        "resamples": NATURAL,
        "seed": NATURAL,
    },
    "alerts": {
        "moved": FLAG,
        "worse": FLAG,
        "gone": FLAG,
        "published": FLAG,
        "max_unscored": SHARE,
        "max_silence": AGE,
        "alpha": SHARE,
        "webhook": TEXT,
    },
    "schedule": {
        "cron": TEXT,
        "timezone": TEXT,
        "watch": TEXTS,
        "board": TEXTS,
        "settle": SECONDS,
        "report": TEXT,
        "publish": TEXT,
        "lake": TEXT,
        "prune_older_than": AGE,
        "health": TEXT,
        "log_format": LOG_FORM,
        "grace": SECONDS,
    },
}

_HEADER = re.compile(r"\s*\[(?P<name>[^\[\]]+)\]")
_AGE = re.compile(r"(\d+(?:\.\d+)?)([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_KEY = re.compile(r"""\s*(?P<name>(?:"[^"]*"|'[^']*'|[\w.-]|\s*\.\s*)+)\s*=""")


@dataclass(frozen=True)
class Setting:
    """One setting."""

    name: str  #: as in the file, with its table: ``store.url``.
    value: Any  #: what holds.
    origin: str  #: where that was said.
    is_of_folder: bool = False  #: by the file of a folder that nobody chose.

    def __str__(self) -> str:
        return f"{self.value} (from {self.origin})"


@dataclass(frozen=True)
class Config:
    """The settings that hold."""

    url: Setting  #: of the store.
    reader: Setting  #: role, or whole URL, that typed queries are run as; empty: that of the store's URL.
    publish_path: Setting  #: of the published copy.
    publish_after: Setting  #: when it is renewed.
    #: what the file says of everything else, by full name.
    others: Mapping[str, Setting] = field(default_factory=dict)
    tables: frozenset[str] = frozenset()  #: of the file.
    #: what a folder's file says that only a chosen one may, in words.
    refused: tuple[str, ...] = ()

    @property
    def settings(self) -> tuple[Setting, ...]:
        """All of them, in the order of the file; of the other tables what the file
        says."""
        return (
            self.url,
            self.reader,
            self.publish_path,
            self.publish_after,
            *self.others.values(),
        )

    def get(self, name: str, default: Any = None) -> Any:
        """Value of a key of the other tables, by full name; ages as `timedelta`."""
        if name in self.others:
            return self.others[name].value
        return default


def load(
    folder: Path,
    environment: Mapping[str, str],
    *,
    url: str | None = None,
    chosen: str | None = None,
) -> Config:
    """Settings that hold in a folder.

    Args:
        folder: where ``warehouse.toml`` may lie.
        environment: environment variables, which also say where the user's own file may
            lie; an empty one counts as not set.
        url: value of the flag, if it was given.
        chosen: path of the file to read in place of the folder's own, if one was named.

    Raises:
        InputError: the chosen file is not there; a file is not TOML, has a key that
            nobody knows, or a value of another type; with file, key and line.
    """
    settings: dict[str, Setting] = {}
    tables: frozenset[str] = frozenset()
    named = chosen or environment.get(CONFIG_VARIABLE)
    file = folder / (named or FILE)
    if named and not file.is_file():
        raise InputError(
            "there is no such file of settings",
            path=named,
            advice="name another with --config",
        )
    for path, shown in ((user_file(environment), ""), (file, named or FILE)):
        if path is not None and path.is_file():
            more, own_tables = _read(path, shown or str(path))
            if path == file and not named:
                more = {
                    name: replace(setting, is_of_folder=True)
                    for name, setting in more.items()
                }
            settings, tables = settings | more, tables | own_tables
    others = {
        name: one
        for name, one in settings.items()
        if not name.startswith(("store.", "publish."))
    }
    config = Config(
        url=_url(settings, environment, url),
        reader=_reader(settings, environment),
        publish_path=_setting(settings, "publish.path"),
        publish_after=_setting(settings, "publish.after"),
        others=others,
        tables=tables,
    )
    return replace(config, refused=tuple(_refused(folder, config)))


def _refused(folder: Path, config: Config) -> Iterator[str]:
    """What holds that only a chosen file may say, in words."""
    for setting in config.settings:
        if setting.is_of_folder and outside_of_folder(folder, setting):
            yield (
                f"{setting.origin}: {setting.name} leads out of this folder, which a "
                "folder's own file may not (a folder may come from anybody); if it is "
                f"yours: --config {FILE}, or ${CONFIG_VARIABLE}"
            )
    if config.url.value == DEFAULT_URL and not stays_within(folder, Path(DEFAULT_FILE)):
        yield (
            f"{DEFAULT_FILE} is a link that leads out of this folder; if that is your "
            "store, name it with --db"
        )


def outside_of_folder(folder: Path, setting: Setting) -> bool:
    """Whether a setting names what does not lie in a folder: a server, a URL, another
    path."""
    if setting.name in _ALWAYS_OUTSIDE:
        return True
    if setting.name == "store.url":
        return not _is_store_of(folder, setting.value)
    if setting.name not in _PATHS:
        return False
    if isinstance(setting.value, str):
        paths = [setting.value]
    elif isinstance(setting.value, dict):  # of mappings, whose names stay here too
        paths = list(setting.value.values())
    else:
        paths = setting.value
    return not all(
        _is_local(path) and stays_within(folder, Path(path)) for path in paths
    )


#: Settings that name a server, or what runs there; and those that name files and
#: folders, or URLs.
_ALWAYS_OUTSIDE = frozenset({"store.reader", "alerts.webhook"})
_PATHS = frozenset(
    {
        "publish.path",
        "ingest.maps",
        *(
            f"schedule.{name}"
            for name in ("watch", "board", "report", "publish", "lake", "health")
        ),
    }
)
_SCHEME = re.compile(r"\w[\w+.-]*:")


def _is_local(path: str) -> bool:
    return _SCHEME.match(path) is None


def _is_store_of(folder: Path, url: str) -> bool:
    from warehouse.store.engines import dialect_of, parse_url

    try:
        parsed = parse_url(url)
        is_file = dialect_of(parsed).embedded
    except MisuseError:
        return True  # whoever opens it says so
    return is_file and stays_within(folder, Path(parsed.database or ""))


def stays_within(folder: Path, path: Path) -> bool:
    """Whether a path, followed through its links, lies in a folder."""
    return (folder / path).resolve().is_relative_to(folder.resolve())


def add_publish(
    folder: Path, target: str, after: str, *, chosen: str | None = None
) -> Path:
    """Add the table ``[publish]`` to the file of settings, which is made if there is
    none.

    Args:
        folder: where ``warehouse.toml`` lies.
        target: path of the published copy.
        after: ``ingest``, ``refresh`` or both, separated by a comma.
        chosen: path of the file that somebody chose in place of the folder's own.

    Returns:
        the file.

    Raises:
        MisuseError: the file says something else about publishing already, or it is the
            folder's own and the path leads out of the folder.
        InputError: the file is not what :func:`load` reads.
    """
    if not chosen and not stays_within(folder, Path(target)):
        raise MisuseError(
            f"{target} leads out of this folder, which its own {FILE} may not name; "
            f"name the file: --config {FILE}"
        )
    path = folder / (chosen or FILE)
    settings = _read(path)[0] if path.is_file() else {}
    new_settings = {"publish.path": target, "publish.after": after}
    existing = {
        name: setting for name, setting in settings.items() if name in new_settings
    }
    if {name: setting.value for name, setting in existing.items()} == new_settings:
        return path
    if existing:
        listed = "; ".join(f"{name} is {setting}" for name, setting in existing.items())
        raise MisuseError(f"{listed}; change it there")
    lines = "".join(
        f"{name.partition('.')[2]} = {json.dumps(value, ensure_ascii=False)}\n"
        for name, value in new_settings.items()
    )
    before = (
        path.read_text(encoding="utf-8").rstrip("\n") + "\n\n" if path.is_file() else ""
    )
    replace_file(path, f"{before}[publish]\n{lines}".encode())
    return path


def _setting(settings: Mapping[str, Setting], name: str) -> Setting:
    return settings.get(name, Setting(name, "", "the default"))


def user_file(environment: Mapping[str, str]) -> Path | None:
    """The file of settings that hold in every folder, whether it is there or not.

    Args:
        environment: environment variables.

    Returns:
        its path; None where nobody says where a user's files lie.
    """
    base = environment.get(USER_VARIABLE, "")
    if os.path.isabs(base):  # others are to be passed over, says the XDG specification
        return Path(base) / "warehouse" / FILE
    home = environment.get("HOME") or environment.get("USERPROFILE")
    if home:
        return Path(home) / ".config" / "warehouse" / FILE
    return None


def _url(
    settings: Mapping[str, Setting], environment: Mapping[str, str], flag: str | None
) -> Setting:
    if flag:
        return Setting("store.url", flag, "--db")
    if environment.get(URL_VARIABLE):
        return Setting("store.url", environment[URL_VARIABLE], f"${URL_VARIABLE}")
    return settings.get("store.url", Setting("store.url", DEFAULT_URL, "the default"))


def _reader(settings: Mapping[str, Setting], environment: Mapping[str, str]) -> Setting:
    if environment.get(READER_VARIABLE):
        return Setting(
            "store.reader", environment[READER_VARIABLE], f"${READER_VARIABLE}"
        )
    return _setting(settings, "store.reader")


def parse_age(text: str) -> timedelta | None:
    """``90d``, ``12h`` or ``4w`` as a length of time; None for anything else."""
    match = _AGE.fullmatch(text)
    try:
        if match:
            return timedelta(**{_UNITS[match[2]]: float(match[1])})
        return None
    except OverflowError:
        return None


#: Of a file of settings.
_MOST_BYTES = 1_000_000


def _read(path: Path, shown: str = FILE) -> tuple[dict[str, Setting], frozenset[str]]:
    try:
        text = own_text(path, "a file of settings", most=_MOST_BYTES)
        document = tomllib.loads(text)
    except RecursionError:
        raise InputError(
            "nested too deep", path=str(path), expected="tables of settings"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {error}", path=str(path)) from None
    lines = _lines(text)
    return dict(_settings(path, document, lines, shown)), frozenset(document)


def _settings(
    path: Path, document: Mapping[str, Any], lines: Mapping[str, int], shown: str
) -> Iterator[tuple[str, Setting]]:
    for table, content in document.items():
        if table not in KNOWN:
            raise _unknown(path, table, KNOWN, lines)
        if not isinstance(content, dict):
            raise _wrong_type(path, table, content, "a table", lines)
        for key, value in content.items():
            name = f"{table}.{key}"
            if key not in KNOWN[table]:
                raise _unknown(
                    path, name, [f"{table}.{other}" for other in KNOWN[table]], lines
                )
            kind = KNOWN[table][key]
            if not _FITS[kind](value):
                raise _wrong_type(path, name, value, kind, lines)
            if kind == AGE:
                value = parse_age(value)
            yield name, Setting(name, value, f"{shown}, line {lines.get(name, 1)}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


_FITS: Mapping[str, Callable[[Any], bool]] = {
    TEXT: _is_text,
    TEXTS: lambda value: isinstance(value, list) and all(map(_is_text, value)),
    MAPS: lambda value: (
        isinstance(value, dict)
        and all(_is_text(part) for pair in value.items() for part in pair)
    ),
    SHARE: lambda value: type(value) in (int, float) and 0 <= value <= 1,
    COUNT: lambda value: type(value) is int and value >= 1,
    NATURAL: lambda value: type(value) is int and value >= 0,
    FLAG: lambda value: isinstance(value, bool),
    AGE: lambda value: isinstance(value, str) and parse_age(value) is not None,
    SECONDS: lambda value: type(value) in (int, float) and 0 <= value < float("inf"),
    LOG_FORM: lambda value: value in ("text", "json"),
}


def _unknown(path: Path, name: str, names: Any, lines: Mapping[str, int]) -> InputError:
    meant = did_you_mean(name, names, "")
    return InputError(
        f"unknown key '{name}'",
        path=str(path),
        place=f"line {lines.get(name, 1)}",
        expected=f"one of {', '.join(names)}",
        advice=meant,
    )


def _wrong_type(
    path: Path, name: str, value: Any, expected: str, lines: Mapping[str, int]
) -> InputError:
    location = f"line {lines.get(name, 1)}"
    return InputError(
        f"{name} is {_told(value)}", path=str(path), place=location, expected=expected
    )


def _told(value: Any) -> str:
    """A value as an error may quote it: a URL can hold a secret, whatever it was
    written for."""
    text = repr(value)
    if "://" in text or "@" in text:
        return f"a {type(value).__name__}"
    return text


def _lines(text: str) -> dict[str, int]:
    """Line of each table and key, by full name; the first one wins."""
    lines: dict[str, int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        header, key = _HEADER.match(line), _KEY.match(line)
        if header:
            table = name = _parts(header["name"])
        elif key:
            name = (*table, *_parts(key["name"]))
        else:
            continue
        for length in range(len(name)):
            lines.setdefault(".".join(name[: length + 1]), number)
    return lines


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in name.split("."))
