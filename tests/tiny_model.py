"""A tiny random Llama with a tokenizer trained on the spot: says nothing sensible, but always the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

TEMPLATE = "{% for m in messages %}<{{ m['role'] }}> {{ m['content'] }} {% endfor %}<assistant>"
_LINE = "Ada entered the attic. The key is in the box. Ben exited the attic. Where will Ben look for the key? A B C "


def make_tiny_model(
    folder: Path, texts: Sequence[str] = (_LINE,) * 50, *, chat: bool = True, vocabulary: int = 512, context: int = 512
) -> Path:
    """Write the model in Hugging Face's form.

    Args:
        folder: Where.
        texts: What the tokenizer is trained on.
        chat: Whether it has a template for conversations.
        vocabulary: How many tokens there are.
        context: How many fit into a text.
    """
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=["<eos>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(texts, trainer)
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", pad_token="<eos>")
    if chat:
        made.chat_template = TEMPLATE
    made.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=context,
        eos_token_id=0,
        bos_token_id=None,
        pad_token_id=0,
        # Far from zero, so that adapters have something to work on, and that two engines do not differ by rounding.
        initializer_range=0.3,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
