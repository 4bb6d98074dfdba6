"""One key changed between two equal dumps: another condition, or the same one.

What comes out for every key is said by ``test_every_leaf_is_read``; these are pairs of which the answer is known.
"""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.dumps import DATA
from tests.support.setting_leaves import Leaves, headers_of
from warehouse.importers.lm_eval.importer import IMPORTER as LM_EVAL
from warehouse.importers.lm_eval.v03 import IMPORTER as LM_EVAL_V03
from warehouse.records.settings import settings_of

Change = Callable[[Any], None]


def conditions(importer: Any, folder: Path, document: Path, change: Change, tmp_path: Path) -> list[str]:
    """The conditions of a copy of a dump of which one document was changed."""
    copied = tmp_path / f"{len(list(tmp_path.iterdir()))}" / folder.name
    shutil.copytree(folder, copied)
    path = copied / document
    changed = copy.deepcopy(json.loads(path.read_text(encoding="utf-8")))
    change(changed)
    path.write_text(json.dumps(changed), encoding="utf-8")
    return [settings_of(header).condition_key for header in headers_of(importer, copied)]


# --- lm-evaluation-harness -----------------------------------------------------------------------

LM_EVAL_FOLDER = DATA / "subsets" / "lm_eval" / "lab__one"
LM_EVAL_FILE = Path("results_2026-11-22T16-25-26.787714.json")


def arguments(**added: Any) -> Change:
    def change(document: Any) -> None:
        document["config"] = {
            **document["config"],
            "model": "vllm",
            "model_args": {"pretrained": "lab/one"} | added,
            "model_dtype": "torch.bfloat16",
        }
        document["chat_template_sha"] = "c0ffee"

    return change


def lm_eval_version(version: str, **added: Any) -> Change:
    def change(document: Any) -> None:
        arguments(**added)(document)
        document["lm_eval_version"] = version

    return change


def generation(**settings: Any) -> Change:
    def change(document: Any) -> None:
        document["config"] |= settings.pop("config", {})
        document["configs"]["sums"] |= {"output_type": "generate_until"} | settings

    return change


def metadata(**values: Any) -> Change:
    def change(document: Any) -> None:
        arguments(revision="main")(document)
        document["configs"]["sums"]["metadata"] = values

    return change


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (arguments(lora_local_path="/run1/final"), arguments(lora_local_path="/run2/final"), False),
        (arguments(tokenizer="/a/tok"), arguments(tokenizer="/b/tok"), False),
        (arguments(gguf_file="/a/m.gguf"), arguments(gguf_file="/b/m.gguf"), False),
        (arguments(steer_path="/a/v.pt"), arguments(steer_path="/b/v.pt"), False),
        (arguments(tokenizer="lab/one"), arguments(), True),
        (arguments(dtype="auto"), arguments(dtype="bfloat16"), True),
        (arguments(batch_size=8), arguments(batch_size="auto"), True),
        (arguments(device_map="auto"), arguments(device_map="cpu"), True),
        (arguments(max_model_len=100), arguments(max_model_len=200), False),
        (arguments(load_in_8bit=True), arguments(load_in_8bit=False), False),
        (arguments(load_in_8bit=False), arguments(), True),
        (arguments(unheard_of=1), arguments(unheard_of=2), False),
        (metadata(max_seq_lengths=[4096]), metadata(max_seq_lengths=[8192]), False),
        (metadata(version=1.0, pretrained="lab/one"), metadata(version="1"), True),
        (metadata(version=1), metadata(version=2), False),
        (lm_eval_version("0.4.9"), lm_eval_version("0.4.9", enable_thinking=False), True),
        (lm_eval_version("0.4.11"), lm_eval_version("0.4.11", enable_thinking=True), True),
        (lm_eval_version("0.4.9"), lm_eval_version("0.4.11"), False),
        (lm_eval_version("0.4.13"), lm_eval_version("0.4.13", enable_thinking=False), False),
        (lm_eval_version("0.4.9", add_bos_token=False), lm_eval_version("0.4.9"), True),
        (lm_eval_version("0.4.11", add_bos_token=False), lm_eval_version("0.4.11"), False),
        (lm_eval_version("0.4.10"), lm_eval_version("0.4.11"), True),
        (
            generation(generation_kwargs={"until": ["a", "b"]}),
            generation(generation_kwargs={"until": ["b", "a"]}),
            True,
        ),
        (
            generation(generation_kwargs={"temperature": 0.7}),
            generation(generation_kwargs={"temperature": 0.2}, config={"gen_kwargs": "temperature=0.7"}),
            True,
        ),
        (
            generation(generation_kwargs={"max_gen_toks": 5}, config={"model_args": "pretrained=lab/one"}),
            generation(
                generation_kwargs={"max_gen_toks": 5}, config={"model_args": "pretrained=lab/one,max_gen_toks=9"}
            ),
            True,
        ),
    ],
)
def test_lm_eval(first: Change, second: Change, is_same: bool, tmp_path: Path) -> None:
    one = conditions(LM_EVAL, LM_EVAL_FOLDER, LM_EVAL_FILE, first, tmp_path)
    other = conditions(LM_EVAL, LM_EVAL_FOLDER, LM_EVAL_FILE, second, tmp_path)
    assert len(one) == 1
    assert (one == other) is is_same


def test_a_model_name_that_lm_eval_makes_up_is_none(tmp_path: Path) -> None:
    def made_up(name: str) -> Change:
        def change(document: Any) -> None:
            document["config"] |= {"model": "dummy", "model_args": None}
            document["model_name"] = document["model_name_sanitized"] = name

        return change

    one = conditions(LM_EVAL, LM_EVAL_FOLDER, LM_EVAL_FILE, made_up("aB3dE6gH"), tmp_path)
    other = conditions(LM_EVAL, LM_EVAL_FOLDER, LM_EVAL_FILE, made_up("zY9xW7vU"), tmp_path)
    assert one == other


# --- every leaf ----------------------------------------------------------------------------------

LEAVES: dict[str, tuple[Any, str, str, str, str]] = {
    "lm_eval": (
        LM_EVAL,
        "lm_eval",
        "subsets/lm_eval/lab__one",
        r"results_.*\.json",
        r"^(results|groups)\b|fewshot_config",
    ),
    "lm_eval 0.4.9": (LM_EVAL, "lm_eval", "lm_eval/v0_4_9", r"run:7.*\.json", r"^(results|groups|chat_template)\b"),
    "lm_eval 0.3": (LM_EVAL_V03, "lm_eval", "lm_eval/v0_3", r"tiny_step300\.json", r"^results\b"),
}


@pytest.mark.parametrize("name", LEAVES)
def test_every_leaf_is_read(name: str, tmp_path: Path) -> None:
    importer, harness, folder, documents, not_settings = LEAVES[name]
    copied = tmp_path / Path(folder).name
    shutil.copytree(DATA / folder, copied)
    chosen = [path for path in sorted(copied.rglob("*")) if re.fullmatch(documents, path.name)]
    assert chosen
    leaves = Leaves(importer, harness, copied, chosen, not_settings, {"model": "org/unnamed"}, of_a_kind=1)
    assert leaves.dropped() == []
