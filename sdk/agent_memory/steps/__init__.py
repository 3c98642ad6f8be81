"""One module a step. Each gathers an explicit range, thinks, and returns a draft; `step.commit` writes it."""
