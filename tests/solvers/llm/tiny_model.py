"""A tiny random Llama with a tokenizer trained on the spot: says nothing sensible, but always the same."""

from __future__ import annotations

from pathlib import Path

TEMPLATE = "{% for m in messages %}<{{ m['role'] }}> {{ m['content'] }} {% endfor %}<assistant>"
_LINE = "Ada entered the attic. The key is in the box. Ben exited the attic. Where will Ben look for the key? A B C "


def make_tiny_model(folder: Path, *, chat: bool = True) -> Path:
    """Write the model in Hugging Face's form."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=512, special_tokens=["<eos>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator([_LINE] * 50, trainer)
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>")
    if chat:
        made.chat_template = TEMPLATE
    made.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=512,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=512,
        eos_token_id=0,
        bos_token_id=None,
        initializer_range=0.3,  # far from uniform, so that two engines do not differ by rounding
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
