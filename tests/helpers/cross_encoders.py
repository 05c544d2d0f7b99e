"""Cross-encoders of a few kilobytes: a small BERT with a vocabulary of its own, as it comes or trained for seconds."""

from __future__ import annotations

from pathlib import Path

TOPICS = ("bees", "piano", "garden", "bread")
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_WORDS = (*TOPICS, "what", "did", "i", "say", "about", "the", "keep", "my", "and", "in", "to", "of", ".", "?", ":")


def tiny_cross_encoder(folder: Path, steps: int = 0, labels: int = 1) -> Path:
    """Saves a cross-encoder with random weights, the same ones each time, to a folder.

    It reads 128 word pieces, each a word of its small vocabulary. `steps` of training on every pair of a request about
    one of TOPICS and a turn about one teach it to score a turn about the same topic higher.
    """
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        config = BertConfig(
            vocab_size=len(_SPECIAL) + len(_WORDS),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=128,
            num_labels=labels,
            initializer_range=0.2,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        model, tokenizer = BertForSequenceClassification(config), tiny_tokenizer()
        if steps:
            _train(model, tokenizer, steps)
    torch.set_num_threads(threads)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def tiny_tokenizer():
    """A word is a word piece; what it does not know is [UNK]."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    numbers = {word: number for number, word in enumerate((*_SPECIAL, *_WORDS))}
    made = Tokenizer(WordLevel(numbers, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = Lowercase(), BertPreTokenizer()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(word, numbers[word]) for word in ("[CLS]", "[SEP]")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=128,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def trained_cross_encoder(folder: Path) -> Path:
    """One that scores a turn about the request's topic higher than any other: two seconds."""
    return tiny_cross_encoder(folder, steps=150)


def _train(model, tokenizer, steps: int) -> None:
    import torch

    pairs = [(asked, told) for asked in TOPICS for told in TOPICS]
    inputs = tokenizer(
        [f"what did i say about the {asked} ?" for asked, _ in pairs],
        [f"i keep my {told} ." for _, told in pairs],
        return_tensors="pt",
    )
    alike = torch.tensor([float(asked == told) for asked, told in pairs])
    loss_of = torch.nn.BCEWithLogitsLoss(pos_weight=torch.tensor(float(len(TOPICS) - 1)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model.train()
    for _ in range(steps):
        loss = loss_of(model(**inputs).logits.squeeze(-1), alike)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
