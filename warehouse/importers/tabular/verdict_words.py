"""Words in which judges give their verdict on a response, and the number of each."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Words for right, for partly right, for wrong, and for no attempt at an answer, in the
#: languages in which people publish tables.
_RIGHT = """
correct right true pass passed passes success succeeded successful solved resolved ok
yes y t win won accept accepted good match matched valid grounded supported faithful
complete completed safe
richtig wahr ja bestanden korrekt vrai oui juste correcto correcta verdadero si sí
acierto certo correto correta sim vero esatto corretto goed juist waar
верно правильно да истина správně pravda ano poprawne poprawna tak riktig rätt rigtig
oikein doğru evet
正确 对 是 通过 正解 正しい はい 정답 맞음 예
""".split()
_PARTLY = """
partial partially partly partially_correct partly_correct half tie tied draw
teilweise partiel parcial parziale частично
""".split()
_WRONG = """
incorrect wrong false fail failed fails failure unsolved unresolved no n f loss lose
lost reject rejected bad mismatch invalid hallucinated hallucination ungrounded
unsupported unfaithful incomplete unsafe
falsch nein faux non incorrecto incorrecta falso errado incorreto incorreta não errato
sbagliato fout onjuist nee
неверно неправильно нет ложь špatně ne nie niepoprawne fel forkert väärin yanlış hayır
错误 错 否 不正确 失败 不正解 誤り いいえ 오답 틀림 아니오
""".split()
_NONE = """
not_attempted unattempted refusal refused refuse no_answer abstain abstained
unanswered not_answered skipped idk dont_know no_response keine_antwort
""".split()
#: Marks in place of words, with a reason behind them or not: ``× not the same``.
_MARKS: dict[str, float] = {
    **dict.fromkeys("○◯⭕✓✔☑✅√", 1),
    **dict.fromkeys("△▲", 0.5),
    **dict.fromkeys("×✗✘✕❌☒✖", 0),
}
#: What programs that run a contest say of a submission: accepted, or why not.
_ACCEPTED, _NOT_ACCEPTED = "AC", frozenset("WA TLE MLE RE CE RTE OLE PE PTE".split())
#: Words around them that say nothing.
_AROUND = frozenset("answer answered response the is was a result verdict".split())

#: The number of each word; no attempt is no right answer.
_NUMBERS: dict[str, float] = {
    **dict.fromkeys(_NONE, 0),
    **dict.fromkeys(_PARTLY, 0.5),
    **dict.fromkeys(_WRONG, 0),
    **dict.fromkeys(_RIGHT, 1),
}
#: Words that are said of an answer, and are no answers.
_JUDGED = frozenset(
    """
    correct incorrect right wrong pass passed fail failed failure success solved
    unsolved resolved unresolved not_attempted refusal hallucinated grounded ungrounded
    partially_correct partly_correct correcto incorrecto correto incorreto korrekt
    richtig falsch correct_answer incorrect_answer верно неверно 正确 错误 不正确 正解 不正解
    """.split()
)
#: Letters of SimpleQA and its family: correct, incorrect, not attempted; and those of
#: people who mark with a circle and a cross.
_LETTERS: dict[str, float] = {"A": 1, "B": 0, "C": 0}
_CIRCLES: dict[str, float] = {"O": 1, "X": 0}
#: Words that a judge hardly says without one of right or wrong beside.
_BOTH = 2


def numbers_of_words(values: Iterable[object]) -> dict[str, float]:
    """The number of each text of a column of verdicts; empty where one is no known
    verdict, or all have one number."""
    texts = [str(value) for value in values if str(value).strip()]
    numbers: dict[str, float] = {}
    if _ACCEPTED in texts and {*texts} <= {_ACCEPTED, *_NOT_ACCEPTED}:
        numbers = {text: float(text == _ACCEPTED) for text in texts}
        texts = []
    for text in texts:
        number = _number_of(text)
        if number is None:
            return {}
        numbers[text] = number
    if len({*numbers.values()}) < _BOTH:
        return {}
    return numbers


def numbers_of_letters(values: Iterable[object]) -> dict[str, float]:
    """The number of each letter of SimpleQA's graders, where all values are such: also
    of those that other files may have; and of ``O`` and ``X``."""
    texts = {str(value).strip() for value in values}
    if texts == {*_CIRCLES}:
        return dict(_CIRCLES)
    if texts <= {*_LETTERS} and "A" in texts and len(texts) >= _BOTH:
        return dict(_LETTERS)
    return {}


def numbers_of_some(values: Iterable[object]) -> dict[str, float]:
    """The number of each text of a column of which some are verdicts, one of them that
    for right; 0 for the others. Empty where none is said by judges alone."""
    texts = [str(value) for value in values if str(value).strip()]
    numbers = {text: _number_of(text) for text in texts}
    if not are_judged(texts) or 1 not in numbers.values():
        return {}
    return {text: number or 0 for text, number in numbers.items()}


def are_judged(values: Iterable[object]) -> bool:
    """True if texts are what a judge says of an answer, and no answers themselves:
    questions are answered by yes and no, too."""
    texts = [str(value).strip() for value in values]
    return any(_key_of(text) in _JUDGED or text[:1] in _MARKS for text in texts)


def _number_of(text: str) -> float | None:
    mark = _MARKS.get(text.strip()[:1])
    return _NUMBERS.get(_key_of(text)) if mark is None else mark


def _key_of(text: str) -> str:
    """A text as it is compared with the words above."""
    word = re.sub(r"[^\w]+", "_", text.strip().lower().replace("'", "")).strip("_")
    if word in _NUMBERS:
        return word
    return "_".join(part for part in word.split("_") if part not in _AROUND)
