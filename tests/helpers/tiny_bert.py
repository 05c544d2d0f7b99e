"""Random encoders of a few thousand weights, saved as real ones are: what a test loads and tunes in no time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORDS = [
    "kite",
    "lamp",
    "moss",
    "fern",
    "drum",
    "where",
    "is",
    "the",
    "my",
    "a",
    "red",
    "blue",
    "##s",
    "?",
    ".",
    "user",
    ":",
]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[Q]", "[D]", *WORDS]
WIDTH = 32


def tiny_bert(folder: Path, layers: int = 2) -> Path:
    """A BERT of random weights with a vocabulary of these words, in a folder of its own."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=WIDTH,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * WIDTH,
        max_position_embeddings=256,
        initializer_range=0.3,
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def tiny_colbert(folder: Path, dim: int = 8) -> Path:
    """The same, projected to `dim` values a token, with prompts and a skip list, saved by MultiVectorEncoder itself."""
    import torch
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Dense, Transformer
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
    from sentence_transformers.sentence_transformer.modules import Normalize

    tokens = {"module_input_name": "token_embeddings", "module_output_name": "token_embeddings"}
    modules: list[Any] = [
        Transformer(str(tiny_bert(folder.with_name(f"{folder.name}-base"))), max_seq_length=64),
        Dense(WIDTH, dim, bias=False, activation_function=torch.nn.Identity(), **tokens),
        MultiVectorMask(skiplist_words=["?", "."]),
        Normalize(module_input_name="token_embeddings"),
    ]
    MultiVectorEncoder(modules=modules, prompts={"query": "[Q] ", "document": "[D] "}).save(str(folder))
    return folder
