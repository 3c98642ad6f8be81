"""Language models behind named tasks.

`tasks` is the contract. `offline` and the modules `…_chat` run tasks, `answers` reads what a model writes, and
`grounding` checks that it was said. `minilm`, `hashing` and the modules `…_embeddings` embed texts. Import from the
modules: this package loads none of them by itself.
"""
