"""Keys and passwords among what a dump says of a run, left out before anything is stored.

By name (:mod:`warehouse.records.credential_names`) and by looks (:mod:`warehouse.records.credential_looks`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from warehouse.records.credential_looks import MASK, looks_drawn, masked_looks
from warehouse.records.credential_names import Secrecy, secrecy_of

__all__ = ["MASK", "masked", "without_credentials"]

#: ``name=value``, ``"name": "value"`` and ``name: value`` within one text, up to the value; and ``--name value``.
_STATED = re.compile(
    r"""(?<![\w.-])(?P<name>-{0,2}[A-Za-z][\w.-]{0,100})(?:(?:\\?["'])?\]?\s?=\s?|\\?["']\s?:\s?|(?P<colon>:[ \t]*))"""
)
_OPTION = re.compile(r"(?<![\w-])--(?P<name>[A-Za-z][\w-]{0,100})(?P<colon>(?!))?[ \t]+")
_QUOTE = re.compile(r"""\\?["']""")
_BARE = re.compile(r"""[^\s,;&"'<>)\]}\\]+""")
_LINE = re.compile(r"""[^\r\n"'\\]{1,2000}""")
_LINE_ENDS = re.compile(r"""["'\\]?[,;.]?[ \t]*(?:[\r\n#]|$)""")
_LONGEST = 10_000  # characters of a value in quotes
_SCHEME = re.compile(r"(?:bearer|basic|token|digest|negotiate|apikey)[ \t]+", re.IGNORECASE)
#: User and password of a URL; what has a digest behind the sign is the name of an image.
_USER = re.compile(r"""://(?:[^/@\s]{1,200}|[^/@\s:]{1,100}:(?!\d{1,5}/)[^@\s"'<>]{1,200})@(?!sha\d+:)""")
_WORD = r"""[^\s:@/"'<>,;(){}\[\]\\]{6,100}@"""
#: The same without a scheme, before a port or path; not behind a sign of slices and mappings, whose parts may look so,
#: nor where a word says whose address it is. What may be a name in a program (``x:weights@y.values/2``) is a password
#: only before an address that is none there.
_BARE_USER = re.compile(
    r"(?<![\w./:@%+,{\[-])(?!(?:e-?mail|mailto|mail|contact|author|from|to|b?cc|sips?|xmpp|acct):)[a-z][\w.-]{0,63}:(?:"
    rf"{_WORD}(?=(?:localhost|(?:[a-z0-9-]{{1,63}}\.){{2,8}}[a-z]{{2,24}}|\d{{1,3}}(?:\.\d{{1,3}}){{3}})(?:/|:\d))"
    rf"|(?![a-z_]\w{{5,99}}@){_WORD}(?=[a-z0-9-]{{1,63}}\.[a-z]{{2,24}}(?:/|:\d)))",
    re.IGNORECASE,
)
#: ``mysql -pPASSWORD``, with the programs of its kind; no variable, no ports, no word of find's.
_MYSQL = re.compile(
    r"""(?<![\w-])(?P<kept>(?:mysql(?:dump|admin|import|show|check)?|mariadb(?:-dump|-admin)?)"""
    r"""[ \t](?:[^\n\r|;&]{0,200}?[ \t])?-p)(?!(?:rint0?|rune|ath|erm|id)\b|\d*:\d|["']?[$<{\[*])"""
    r"""(?:"[^"\n]{1,100}"|'[^'\n]{1,100}'|[^\s"'`,;]{1,100})"""
)
#: ``-u user:password``, as curl takes it; but for two numbers, of a user and a group.
_LOGIN = re.compile(
    r"""(?<![\w-])(?P<kept>(?:-[sSkLvf]{0,5}[uU]|--user|--proxy-user)[ =]?["']?"""
    r"""(?!\d+:\d+\b)[^\s:"'/]{1,100}:)(?!//)[^\s"']+"""
)
_LOGINS = ("-u", "-U", "--user", "--proxy-user")
#: Headers whose value has blanks.
_HEADERS = ("authorization", "cookie")
#: A word that may be a password or token: not one of these, no number, no sign of a vocabulary, no path, no variable.
_PLAIN = re.compile(r"(?:true|false|yes|no|none|null|pass|fail|passed|failed|ok|error|[\d.]+)|[<\[/{$].*", re.I | re.S)


def without_credentials(value: Any) -> Any:
    """What a dump says of a run without keys and passwords: entries with such a name are left out, and in
    texts :data:`MASK` stands for what is stated as one or looks like one.

    Args:
        value: what JSON can hold; mappings become dictionaries. Nested too deep to look through, it is left out.
    """
    try:
        return _kept(value)
    except RecursionError:
        return type(value)()


def _kept(value: Any, *, in_list: bool = False) -> Any:
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Mapping):
        kept = {name: _kept(item) for name, item in value.items() if not _is_secret(name, item)}
        return _without_named_value(kept)
    if isinstance(value, list | tuple):
        return list(_kept_in_list(value, in_list))
    return value


def _is_secret(name: Any, item: Any) -> bool:
    """Whether an entry of a mapping is a key or password, or several."""
    if not isinstance(name, str) or not isinstance(item, str | list | tuple | Mapping):
        return False
    secrecy = secrecy_of(name)
    if isinstance(item, Mapping):
        return secrecy is Secrecy.CERTAIN and name[-1:] in "sS"  # several, by whose they are
    if isinstance(item, str):
        return secrecy is Secrecy.CERTAIN or _may_be(secrecy, item)
    drawn = (isinstance(one, str) and _may_be(min(secrecy, Secrecy.DRAWN), one) for one in item)
    return secrecy is Secrecy.CERTAIN or any(drawn)


def _may_be(secrecy: Secrecy, value: str) -> bool:
    """Whether a text is a secret, under a name of which only so much is sure."""
    if secrecy is Secrecy.LIKELY:
        return len(value) >= 4 and not re.search(r"\s", value) and _PLAIN.fullmatch(value) is None
    return secrecy is Secrecy.DRAWN and len(value) >= 12 and looks_drawn(value)


def _without_named_value(value: dict[str, Any]) -> dict[str, Any]:
    """``{"name": "API_KEY", "value": "…"}``, as environments and headers are written."""
    for name, item in (("name", "value"), ("key", "value"), ("name", "default")):
        if isinstance(value.get(name), str) and _is_secret(value[name], value.get(item)):
            value = {**value, item: MASK}
    return value


def _kept_in_list(values: Sequence[Any], in_list: bool) -> Iterator[Any]:
    """Elements, of which one that follows the name of a secret is masked: arguments of a command, and pairs, which
    stand in a list: two texts that do not are two of a kind, as where a generation stops."""
    is_pair, named = in_list and len(values) == 2, ""
    for value in values:
        if isinstance(value, str) and named and _is_secret(named, value):
            yield MASK
        elif isinstance(value, str) and named in _LOGINS:
            yield masked(f"{named} {value}").removeprefix(f"{named} ")
        else:
            yield _kept(value, in_list=True)
        named = value if isinstance(value, str) and (value.startswith("-") or is_pair) else ""


@lru_cache(64)  # what a file says of all its runs stands in each of them
def masked(text: str) -> str:
    """A text with :data:`MASK` for each key and password in it. Linear in the length of a text, whatever it
    holds: dumps are not trusted."""
    if "@" in text:
        text = _BARE_USER.sub(f"{MASK}@", _USER.sub(f"://{MASK}@", text))
    if " -p" in text:
        text = _MYSQL.sub(rf"\g<kept>{MASK}", text)
    text = _LOGIN.sub(rf"\g<kept>{MASK}", text) if "-" in text else text
    text = _statements_masked(_STATED, masked_looks(text))
    return _statements_masked(_OPTION, text) if "--" in text else text


def _statements_masked(pattern: re.Pattern[str], text: str) -> str:
    parts, done = [], 0
    for stated in pattern.finditer(text):
        secrecy = secrecy_of(stated["name"])
        if secrecy is Secrecy.NONE or stated.start() < done:
            continue
        start, end = _value(text, stated)
        if start < end and _is_stated(text, stated, secrecy, start, end):
            parts += [text[done:start], MASK]
            done = end
    return "".join([*parts, text[done:]])


def _is_stated(text: str, stated: re.Match[str], secrecy: Secrecy, start: int, end: int) -> bool:
    """Whether a value is a secret, and no word of a sentence behind a colon ("The secret: nobody knows.")."""
    name, value = stated["name"], text[start:end]
    if secrecy is not Secrecy.CERTAIN:
        return _may_be(secrecy, value)
    if name.lower().endswith(("cookie", "cookies")):
        return (
            re.search(r"\w=\S", value[:200]) is not None and value[0] != "<"
        )  # what else is said of cookies is of those that are eaten
    if stated["colon"] is None or re.search(r"[_-]|[a-z][A-Z]", name) or name.lower() in _HEADERS:
        return True
    before = text[max(0, stated.start() - 20) : stated.start()].rpartition("\n")
    begins_line = (bool(before[1]) or stated.start() <= 20) and before[2].strip(" \t-") == ""
    is_line = begins_line and " " not in value and _LINE_ENDS.match(text, end) is not None
    return is_line or (not value.isalpha() and re.search(r"\d", value) is not None and _PLAIN.fullmatch(value) is None)


def _value(text: str, stated: re.Match[str]) -> tuple[int, int]:
    """Where the value of a statement begins and ends."""
    start = stated.end()
    quote = _QUOTE.match(text, start)
    opening = quote[0] if quote else text[start : start + 1]
    closing = "]" if opening == "[" else quote[0] if quote else ""
    start += len(opening) if closing else 0
    end = text.find(closing, start, start + _LONGEST) if closing else -1
    of_header = stated["name"].lower().endswith(_HEADERS)
    if end < 0:
        rest = (_LINE if of_header else _BARE).match(text, start)
        end = rest.end() if rest else start
    scheme = _SCHEME.match(text, start, end) if closing or of_header else None
    return scheme.end() if scheme else start, end
