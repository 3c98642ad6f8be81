"""Language models behind named tasks.

`tasks` is the contract. `offline`, `openai_chat` run tasks; `minilm`, `hashing`, `openai_embeddings` embed texts;
`tokens` counts. Import what is needed from its module: this package loads none of them by itself.
"""
