"""Keys and passwords among what a dump says of a run, left out before anything is
stored.

By name: a name is taken apart into its words (``openaiApiKey``, ``OPENAI_API_KEY`` and
``x-api-key`` alike), and its last words decide. The lists follow those of
detect-secrets (``plugins/keyword.py``) and of gitleaks (``generic-api-key`` in
``config/gitleaks.toml``), with what tokenizers, tables and metrics call by like names.

By looks: ``credential_looks``. All patterns are linear in the length of a text: what
repeats without bound is followed by nothing that it might be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any

from warehouse.records.credential_looks import (
    MASK,
    looks_drawn,
    looks_mixed,
    masked_looks,
)
from warehouse.records.credential_names import Secrecy, secrecy_of

__all__ = ["MASK", "masked", "masked_looks", "masked_name", "without_credentials"]

#: ``name=value``, ``name => value``, ``"name": "value"`` and ``name: value`` within one
#: text, up to the value; and ``--name value``. What is compared (``name == value``) is
#: not stated.
_STATED = re.compile(
    r"""(?<![\w.-])(?P<name>-{0,2}[A-Za-z][\w.-]{0,100})"""
    r"""(?:(?:\\?["'])?\]?(?::[ \t]?(?:str|string|SecretStr|Optional\[str\])(?:[ \t]?\|[ \t]?None)?)?"""
    r"""[ \t]{0,20}(?:=>|=(?!=))[ \t]{0,20}\s?"""
    r"""|\\?["'][ \t]{0,20}:[ \t]{0,20}\s?|(?P<colon>:[ \t]*))"""
)
_OPTION = re.compile(
    r"(?<![\w-])--(?P<name>[A-Za-z][\w-]{0,100})(?P<colon>(?!))?[ \t]+"
)
_QUOTE = re.compile(r"""(?:\\?"){3}|'{3}|\\?["']""")
#: A call around a text: ``SecretStr('…')``.
_CALL = re.compile(r"""[A-Za-z_][\w.]{0,60}\([ \t]?[a-z]?(?=["'])""")
#: What says of a text that it is a secret, whatever it is called.
_SECRET_TEXT = re.compile(
    r"""(?P<kept>\bSecret(?:Str|Bytes)?\([ \t]?b?["'])[^"'\n]{1,2000}"""
)
#: Elements and attributes: ``<password>…</password>``, ``<add key="ApiKey"
#: value="…"/>``.
_ELEMENT = re.compile(
    r"""<(?P<name>[A-Za-z][\w.:-]{0,100})>(?P<value>[^<>]{1,2000})</"""
)
_ATTRIBUTES = re.compile(
    r"""\b(?:key|name)[ \t]?=[ \t]?["'](?P<name>[A-Za-z][\w.:-]{0,100})["']\s{1,5}value[ \t]?=[ \t]?"""
    r"""["'](?P<value>[^"'\n]{1,2000})"""
)
#: ``machine HOST login ME password …`` of a netrc file.
_NETRC = re.compile(
    r"""(?P<kept>\b(?:machine\s{1,5}\S{1,100}|default)\s{1,5}login\s{1,5}\S{1,100}\s{1,5}"""
    r"""(?:account\s{1,5}\S{1,100}\s{1,5})?password\s{1,5})\S{1,500}"""
)
#: Characters without width, behind which a key looks like none.
_WIDTHLESS = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_BARE = re.compile(r"""[^\s,;&"'<>)\]}\\]+""")
_LINE = re.compile(r"""[^\r\n"'\\]{1,2000}""")
_LINE_ENDS = re.compile(r"""["'\\]?[,;.]?[ \t]*(?:[\r\n#]|$)""")
_LONGEST = 10_000  # characters of a value in quotes
_SCHEME = re.compile(
    r"(?:bearer|basic|token|digest|negotiate|apikey)[ \t]+", re.IGNORECASE
)
#: User and password of a URL; what has a digest behind the sign is the name of an
#: image.
_USER = re.compile(
    r"""://(?P<user>[^/@\s]{1,200}|[^/@\s:]{1,100}:(?!\d{1,5}/)[^@\s"'<>]{1,200})@(?!sha\d+:)"""
)
_WORD = r"""[^\s:@/"'<>,;(){}\[\]\\]{6,100}@"""
#: The same without a scheme, before a port or path; not behind a sign of slices and
#: mappings, whose parts may look so, nor where a word says whose address it is. What
#: may be a name in a program (``x:weights@y.values/2``) is a password only before an
#: address that is none there.
_BARE_USER = re.compile(
    r"(?<![\w./:@%+,{\[-])(?!(?:e-?mail|mailto|mail|contact|author|from|to|b?cc|sips?|xmpp|acct):)[a-z][\w.-]{0,63}:(?:"
    rf"{_WORD}(?=(?:localhost|(?:[a-z0-9-]{{1,63}}\.){{2,8}}[a-z]{{2,24}}|\d{{1,3}}(?:\.\d{{1,3}}){{3}})(?:/|:\d))"
    rf"|(?![a-z_]\w{{5,99}}@){_WORD}(?=[a-z0-9-]{{1,63}}\.[a-z]{{2,24}}(?:/|:\d)))",
    re.IGNORECASE,
)
#: ``mysql -pPASSWORD``, with the programs of its kind; no variable, no ports, no word
#: of find's.
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
#: A word that may be a password or token: not one of these, no number, no sign of a
#: vocabulary, no path, no variable.
_PLAIN = re.compile(
    r"(?:true|false|yes|no|none|null|pass|fail|passed|failed|ok|error|[\d.]+)|[<\[/{$].*",
    re.I | re.S,
)


def without_credentials(value: Any) -> Any:
    """What a dump says of a run without keys and passwords: entries with such a name
    are left out, and in texts :data:`MASK` stands for what is stated as one or looks
    like one.

    Args:
        value: what JSON can hold; mappings become dictionaries. Nested too deep to look
            through, it is left out.
    """
    try:
        return _kept(value)
    except RecursionError:
        return type(value)()


def _kept(value: Any, *, in_list: bool = False) -> Any:
    if isinstance(value, str):
        if len(value) > _SHORT:
            return masked(value)
        return _masked_words(value)
    if isinstance(value, Mapping):
        has_user = any(
            isinstance(name, str) and name.lower() in _USERS for name in value
        )
        kept = {
            _masked_name(name): _kept(item)
            for name, item in value.items()
            if not _is_secret(name, item) and not (has_user and _is_pass(name, item))
        }
        return _without_named_value(kept)
    if isinstance(value, list | tuple):
        return list(_kept_in_list(value, in_list))
    return value


#: Beside one of these a ``pass`` is that of somebody.
_USERS = frozenset(
    "user username user_name login email account smtp_user host hostname".split()
)


def _is_pass(name: Any, item: Any) -> bool:
    return (
        isinstance(name, str)
        and name.lower() in ("pass", "pw")
        and isinstance(item, str)
    )


def _masked_name(name: Any) -> Any:
    """The name of an entry, which may be a key itself."""
    if isinstance(name, str):
        return _masked_words(name)
    return name


#: Characters of texts that are kept with what they are masked to: settings of one run
#: are those of the next.
_SHORT = 200


@lru_cache(8192)
def _masked_words(text: str) -> str:
    return masked(text)


def _is_secret(name: Any, item: Any) -> bool:
    """Whether an entry of a mapping is a key or password, or several."""
    if not isinstance(name, str) or not isinstance(item, str | list | tuple | Mapping):
        return False
    secrecy = secrecy_of(name)
    if isinstance(item, Mapping):
        has_parts = name.lower() in ("token", "key")  # or several
        return secrecy is Secrecy.CERTAIN and not has_parts
    if isinstance(item, str):
        return secrecy is Secrecy.CERTAIN or _may_be(secrecy, item)
    drawn = (
        isinstance(part, str) and _may_be(min(secrecy, Secrecy.DRAWN), part)
        for part in item
    )
    return secrecy is Secrecy.CERTAIN or any(drawn)


def _may_be(secrecy: Secrecy, value: str) -> bool:
    """Whether a text is a secret, under a name of which only so much is sure."""
    if secrecy is Secrecy.LIKELY:
        return (
            len(value) >= 4
            and not re.search(r"\s", value)
            and _PLAIN.fullmatch(value) is None
        )
    return secrecy is Secrecy.DRAWN and len(value) >= 12 and looks_drawn(value)


def _without_named_value(value: dict[str, Any]) -> dict[str, Any]:
    """``{"name": "API_KEY", "value": "…"}``, as environments and headers are written."""
    for name, item in (("name", "value"), ("key", "value"), ("name", "default")):
        if isinstance(value.get(name), str) and _is_secret(
            value[name], value.get(item)
        ):
            value = {**value, item: MASK}
    return value


def _kept_in_list(values: Sequence[Any], in_list: bool) -> Iterator[Any]:
    """Elements, of which one that follows the name of a secret is masked: arguments of
    a command, and pairs, which stand in a list: two texts that do not are two of a
    kind, as where a generation stops."""
    is_pair, named = in_list and len(values) == 2, ""
    for value in values:
        if isinstance(value, str) and named and _is_secret(named, value):
            yield MASK
        elif isinstance(value, str) and named in _LOGINS:
            yield masked(f"{named} {value}").removeprefix(f"{named} ")
        else:
            yield _kept(value, in_list=True)
        named = ""
        if isinstance(value, str) and (value.startswith("-") or is_pair):
            named = value


@lru_cache(64)  # what a file says of all its runs stands in each of them
def masked(text: str) -> str:
    """A text with :data:`MASK` for each key and password in it. Linear in the length of
    a text, whatever it holds: dumps are not trusted."""
    if not text.isascii() and _WIDTHLESS.search(text):
        plain = _WIDTHLESS.sub("", text)
        shown = masked(plain)
        if shown == plain:
            return text
        return shown
    if "@" in text:
        text = _BARE_USER.sub(f"{MASK}@", _USER.sub(_without_user, text))
    if " -p" in text:
        text = _MYSQL.sub(rf"\g<kept>{MASK}", text)
    text = _LOGIN.sub(rf"\g<kept>{MASK}", text) if "-" in text else text
    text = _statements_masked(_STATED, masked_looks(text))
    if "--" in text:
        text = _statements_masked(_OPTION, text)
    if "</" in text:
        text = _ELEMENT.sub(_without_value, text)
    if "value" in text:
        text = _ATTRIBUTES.sub(_without_value, text)
    if "Secret" in text:
        text = _SECRET_TEXT.sub(rf"\g<kept>{MASK}", text)
    if "login" in text:
        text = _NETRC.sub(rf"\g<kept>{MASK}", text)
    return text


#: A name that was masked before, with what tells it apart.
_MASKED_NAME = re.compile(rf"{re.escape(MASK)}-[0-9a-f]{{6}}")


@lru_cache(8192)
def masked_name(name: str) -> str:
    """The name of a model, benchmark, metric or the like with :data:`MASK` for each key
    and password in it.

    Behind the first mask stands the beginning of the name's sha256: things are told
    apart by their names, and two that differ in their keys alone stay two. A name that
    was masked before stays as it is.

    >>> masked_name("quiz-AKIAQ7X2BCD3EFG4HIJ5")
    'quiz-***-d9ae50'
    """
    shown = masked(name)
    if shown == name:
        return name
    earlier = _MASKED_NAME.sub(MASK, name)
    if earlier != name and masked(earlier) == earlier:
        return name
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return shown.replace(MASK, f"{MASK}-{digest[:6]}", 1)


def _without_user(found: re.Match[str]) -> str:
    """The beginning of a URL without its password, or without its user where that is a
    key: others are names."""
    user, _, password = (found["user"] or "").partition(":")
    is_name = (
        user
        and password in ("", MASK)
        and masked_looks(user) == user
        and not looks_drawn(user)
    )
    if is_name:
        return found[0]
    return f"://{MASK}@"


def _without_value(found: re.Match[str]) -> str:
    """An element or attribute of which the value is masked, if its name is that of a
    secret."""
    secrecy, value = secrecy_of(found["name"]), found["value"]
    is_secret = secrecy is Secrecy.CERTAIN or _may_be(secrecy, value)
    if not is_secret or _PLAIN.fullmatch(value.strip()) is not None:
        return found[0]
    start, end = (
        found.start("value") - found.start(),
        found.end("value") - found.start(),
    )
    return found[0][:start] + MASK + found[0][end:]


def _statements_masked(pattern: re.Pattern[str], text: str) -> str:
    parts, done = [], 0
    for statement in pattern.finditer(text):
        secrecy = secrecy_of(statement["name"])
        if secrecy is Secrecy.NONE or statement.start() < done:
            continue
        start, end = _value(text, statement)
        if start < end and _is_stated(text, statement, secrecy, start, end):
            parts += [text[done:start], MASK]
            done = end
    return "".join([*parts, text[done:]])


def _is_stated(
    text: str, statement: re.Match[str], secrecy: Secrecy, start: int, end: int
) -> bool:
    """Whether a value is a secret, and no word of a sentence behind a colon ("The
    secret: nobody knows.")."""
    name, value = statement["name"], text[start:end]
    if name.lower() in ("pass", "pw"):  # which is said of tests as well
        return statement["colon"] is None and looks_mixed(value)
    if secrecy is not Secrecy.CERTAIN:
        return _may_be(secrecy, value)
    if name.lower().endswith(("cookie", "cookies")):
        # what else is said of cookies is of those that are eaten
        return re.search(r"\w=\S", value[:200]) is not None and value[0] != "<"
    is_code = re.search(r"[_-]|[a-z][A-Z]", name) or name.lower() in _HEADERS
    if statement["colon"] is None or is_code:
        return True
    if _is_whole_line(text, statement.start(), value, end):
        return True
    has_digits = not value.isalpha() and re.search(r"\d", value) is not None
    return has_digits and _PLAIN.fullmatch(value) is None


def _is_whole_line(text: str, start: int, value: str, end: int) -> bool:
    """Whether a statement is all that its line says, and its value one word."""
    _, line_break, indent = text[max(0, start - 20) : start].rpartition("\n")
    begins_line = bool(line_break) or start <= 20
    if not begins_line or indent.strip(" \t-"):
        return False
    return " " not in value and _LINE_ENDS.match(text, end) is not None


def _value(text: str, statement: re.Match[str]) -> tuple[int, int]:
    """Where the value of a statement begins and ends."""
    start = statement.end()
    call = _CALL.match(text, start)
    if call:
        start = call.end()
    quote = _QUOTE.match(text, start)
    if quote:
        opening = quote[0]
    else:
        opening = text[start : start + 1]
    closing = ""
    if opening == "[":
        closing = "]"
    elif quote:
        closing = quote[0]
    if closing:
        start += len(opening)
    end = -1
    if closing:
        end = _closed(text, closing, start)
    of_header = statement["name"].lower().endswith(_HEADERS)
    if end < 0:
        rest = (_LINE if of_header else _BARE).match(text, start)
        end = start
        if rest:
            end = rest.end()
    scheme = None
    if closing or of_header:
        scheme = _SCHEME.match(text, start, end)
    return scheme.end() if scheme else start, end


def _closed(text: str, closing: str, start: int) -> int:
    """Where a value in quotes ends; a quote behind a backslash belongs to it, unless
    the first one had one too. -1: it does not end."""
    end = text.find(closing, start, start + _LONGEST)
    while end > start and text[end - 1] == "\\" and not closing.startswith("\\"):
        end = text.find(closing, end + 1, start + _LONGEST)
    return end
