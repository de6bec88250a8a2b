"""The columns of kinship rows.

| column | content |
|---|---|
| k | how many facts the chain has |
| task | which kind of noise the benchmark was asked for |
| query | the two people asked about: what is the second to the first? |
| genders | everybody with their gender, `Ann:female`, in the order by which edges and steps number them |
| edges | the facts as pairs of people, those of the chain first |
| edge_types | what the second of each pair is to the first |
| noise_types | the type of each fact after the chain |
| pattern | the chain without genders |
| placeholders | how each line of the story was worded |
| status | whether the answer is entailed, ambiguous, contradicted or impossible under strict kinship |
| proof_steps | the proof tree from the top down: first, through whom, second |
| proof_relations | what the second is to the first in each step |
"""

from __future__ import annotations

import pyarrow as pa

from storyproof.example import SCHEMA, WORD

KINSHIP_SCHEMA = pa.schema(
    [
        *SCHEMA,
        ("k", pa.int8()),
        ("task", WORD),
        ("query", pa.list_(pa.string())),
        ("genders", pa.list_(pa.string())),
        ("edges", pa.list_(pa.list_(pa.int16()))),
        ("edge_types", pa.list_(pa.string())),
        ("noise_types", pa.list_(pa.string())),
        ("pattern", WORD),
        ("placeholders", pa.list_(pa.string())),
        ("status", WORD),
        ("proof_steps", pa.list_(pa.list_(pa.int16()))),
        ("proof_relations", pa.list_(pa.string())),
    ]
)
