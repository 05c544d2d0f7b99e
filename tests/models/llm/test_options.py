"""What a profile may say of a language model."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from models.llm.options import LlmOptions

pytestmark = pytest.mark.flash


def test_only_what_decides_the_answers_is_said_to():
    plain = LlmOptions(model="some/folder/m-1b")
    decides = {"dtype": "auto", "quantization": None, "max_model_len": 8192, "repetition_penalty": 1.0}
    assert plain.affects_output() == {"model": "m-1b", **decides}
    elsewhere = LlmOptions(
        model="m-1b",
        engine="endpoint",
        url="http://host/v1",
        key_variable="K",
        tensor_parallel=2,
        concurrency=4,
        price_per_gpu_hour=2.0,
    )
    assert elsewhere.affects_output() == plain.affects_output()
    assert LlmOptions(model="m-1b", dtype="float32").affects_output() != plain.affects_output()


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"model": ""},
        {"model": "m", "engine": "endpoint"},
        {"model": "m", "url": "http://host/v1"},
        {"model": "m", "key": "sk-1"},
        {"model": "m", "engine": "other"},
        {"model": "m", "max_model_len": 0},
        {"model": "m", "gpu_memory_share": 1.5},
        {"model": "m", "price_per_gpu_hour": -1},
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValidationError):
        LlmOptions.model_validate(wrong)
