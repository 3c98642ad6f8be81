"""Language models behind named tasks.

`tasks` is the contract. `offline` and the modules `…_chat` run tasks; `minilm`, `hashing` and the modules
`…_embeddings` embed texts. Import from the modules: this package loads none of them by itself.
"""
