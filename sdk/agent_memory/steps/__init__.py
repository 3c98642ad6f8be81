"""One module a step. Each gathers an explicit range, thinks, and returns a draft; `draft.commit` writes it."""
