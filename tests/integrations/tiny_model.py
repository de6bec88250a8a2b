"""A tiny random language model whose tokenizer knows the words of stories; made in seconds, says nothing sensible."""

from __future__ import annotations

from pathlib import Path

TEMPLATE = "{% for m in messages %}<{{ m['role'] }}> {{ m['content'] }} {% endfor %}<assistant>"


def make_tiny_model(folder: Path, texts: list[str]) -> Path:
    """Write a model of 0.3 million parameters in Hugging Face's form."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=700, special_tokens=["<eos>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(texts, trainer)
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", pad_token="<eos>")
    made.chat_template = TEMPLATE
    made.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=700,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        eos_token_id=0,
        bos_token_id=None,
        pad_token_id=0,
        initializer_range=0.2,  # far from zero, so that adapters have something to work on
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
