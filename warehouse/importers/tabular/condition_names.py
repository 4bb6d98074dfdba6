"""What columns are called that name conditions: how prompts were put, or by what; and what
is called otherwise, whatever its rows say."""

from __future__ import annotations

from warehouse.importers.tabular.column_names import words_of

#: Words of names of columns that say how prompts were put, or by what.
_CONDITIONS = frozenset(
    "condition conditions cond arm treatment scaffold scaffolding strategy method methode "
    "methodology variant mode modus config configuration setting settings setup style "
    "profile persona agent harness pipeline prompting template framework technique "
    "approach intervention policy framing tone role ablation experiment group cohort "
    "system retriever reranker embedder quantization quant effort thinking "
    "temperature context shots fewshot version engine backend provider "
    "bedingung einstellung verfahren ansatz estrategia enfoque condición condicion "
    "configuración configuracion méthode approche estratégia modo modalità условие метод "
    "режим 条件 方法 設定 设置 戦略 조건 방법 설정".split()
)
#: Words of names of columns that say of what kind a prompt is, whatever its rows say.
_OF_PROMPTS = frozenset(
    "category categories type kind class topic theme thema tema subject domain area field "
    "fields difficulty level levels language languages lang locale source origin split "
    "subset section chapter genre tag tags bucket intent modality skill skills format "
    "region country year family stratum task suite dataset benchmark part unit hop hops "
    "kategorie schwierigkeit sprache fach niveau categoría categoria dificultad idioma "
    "catégorie langue difficulté категория тема сложность язык 类别 カテゴリ 難易度 언어 "
    "question prompt problem item answer options choices image".split()
)
#: Words of names of columns that say how an answer came out.
_OF_OUTCOMES = frozenset(
    "status state error errors reason stop finish outcome failure verdict severity action "
    "decision prediction predicted response refusal refused parsed parse label flags flag "
    "correct wrong grade graded result results confidence kommentar comment note notes "
    "feedback critique explanation rationale warning mistake".split()
)


def is_condition(name: str) -> bool:
    """True if a column is called as conditions are, and not as properties of prompts or
    outcomes of answers."""
    words = {*words_of(name)}
    return bool(words & _CONDITIONS) and not words & (_OF_PROMPTS | _OF_OUTCOMES)


def is_of_outcome(name: str) -> bool:
    """True if a column is called as outcomes of answers are."""
    return bool({*words_of(name)} & _OF_OUTCOMES)


def is_of_prompt_or_outcome(name: str) -> bool:
    """True if a column is called as properties of prompts or outcomes of answers are."""
    return bool({*words_of(name)} & (_OF_PROMPTS | _OF_OUTCOMES))
