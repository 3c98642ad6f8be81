"""A notebook about a memory: what it recalls, how it follows a change, and what forgetting leaves.

    marimo edit samples/notebook.py          # read it and change it
    marimo run samples/notebook.py           # use it as a page
    marimo export html samples/notebook.py --output notebook.html

It reads five conversations of Maya, who plans a trip. It needs the packages marimo and matplotlib, and no model, key or
network. With OPENAI_API_KEY (or OPENAI_BASE_URL) a model extracts the memories instead of rules.
"""

import marimo

app = marimo.App(width="medium")

with app.setup:
    import json
    import os
    from collections import Counter
    from datetime import UTC, datetime
    from pathlib import Path

    import marimo as mo
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.figure import Figure

    from agent_memory import Memory
    from agent_memory.language.openai_chat import OpenAIChat

    TALK = Path(__file__).parent / "conversations" / "trip.jsonl"
    MODEL = os.environ.get("AGENT_MEMORY_CHAT_MODEL", "gpt-4.1-mini")
    HAS_A_MODEL = bool(os.environ.keys() & {"OPENAI_API_KEY", "OPENAI_BASE_URL"})
    LAST_DAY = datetime(2026, 8, 1, tzinfo=UTC)

    def label(text: str, length: int) -> str:
        """A text for a plot, where two dollar signs would enclose a formula."""
        return (text if len(text) <= length else f"{text[:length].rstrip()}…").replace("$", r"\$")


@app.cell
def _():
    memory = Memory.local(chat_model=OpenAIChat(MODEL) if HAS_A_MODEL else None)
    maya = memory.user("maya")
    for line in TALK.read_text(encoding="utf-8").splitlines():
        turn = json.loads(line)
        maya.thread(turn["thread_id"]).add_many([{key: turn[key] for key in ("role", "content", "created_at", "id")}])
    memory.drain(timeout=600)
    stats = maya.stats()
    mo.md(f"# A memory at work\n{stats.turns} turns in {stats.threads} conversations became {stats.memories} memories.")
    return maya, memory


@app.cell
def _():
    question = mo.ui.text(value="What's my budget for Hawaii?", label="Question", full_width=True)
    mo.vstack([mo.md("## Recall\nA search ranks memories. A context holds the best, within a budget."), question])
    return (question,)


@app.cell
def _(maya, question):
    best_last = maya.search(question.value, limit=8)[::-1]
    recalled = Figure(figsize=(9, 3.5), layout="constrained")
    ranking = recalled.subplots()
    names = [f"{label(hit.memory.content, 60)} ({place})" for place, hit in enumerate(best_last)]
    ranking.barh(range(len(best_last)), [hit.relevance or 0 for hit in best_last], tick_label=names)
    ranking.set(title="Relevance to the question", xlim=(0, 1))
    context = maya.thread("next").context(question.value)
    mo.vstack([recalled, mo.md(f"The context, {context.tokens} tokens:\n```text\n{context.text}\n```")])
    return


@app.cell
def _(maya):
    told = {one.id: one for one in maya.memories(types=["fact"], include_superseded=True)}
    changes = [(one, told[one.superseded_by]) for one in told.values() if one.superseded_by in told]
    changed = Figure(figsize=(9, 1 + len(changes)), layout="constrained")
    lines = changed.subplots()
    for row, (old, new) in enumerate(changes):
        since, until = (one.valid_from or one.created_at for one in (old, new))
        for fact, start, end, colour in ((old, since, until, "lightgrey"), (new, until, LAST_DAY, "lightgreen")):
            lines.barh(row, end - start, left=start, color=colour)
            lines.text(start, row, f" {label(fact.content, 40)}", va="center", fontsize=8)
    lines.set(title="What was true when", yticks=[])
    lines.xaxis.set_major_formatter(ConciseDateFormatter(AutoDateLocator()))
    budgets = [
        f"- as of {day:%d %B %Y}: {maya.search('the budget for Hawaii', limit=1, as_of=day)[0].memory.content}"
        for day in (datetime(2026, 4, 1, tzinfo=UTC), LAST_DAY)
    ]
    head = "## Change\nThe new value replaces the old one, which stays on record.\n\n"
    is_shown = True
    mo.vstack([mo.md(head + "\n".join(budgets)), changed])
    return (is_shown,)


@app.cell
def _(is_shown, maya, memory):
    assert is_shown  # what was recalled and changed is shown before anything is forgotten
    asked = maya.thread("later")
    said = [asked.context("Am I allergic to peanuts?").text]
    plan = maya.forget(query="peanuts", dry_run=True)
    before = Counter(one.type for one in maya.memories()) + Counter(turn=maya.stats().turns)
    maya.forget(query="peanuts")
    memory.drain(timeout=600)  # summaries and the profile are made again
    after = Counter(one.type for one in maya.memories()) + Counter(turn=maya.stats().turns)
    said.append(asked.context("Am I allergic to peanuts?").text)
    forgotten = Figure(figsize=(9, 3), layout="constrained")
    bars = forgotten.subplots()
    for shift, name, counts in ((-0.2, "before", before), (0.2, "after", after)):
        drawn = bars.bar([at + shift for at in range(len(before))], [counts[key] for key in before], 0.4, label=name)
        bars.bar_label(drawn)
    bars.set(title="What is stored", xticks=range(len(before)), xticklabels=list(before))
    bars.margins(y=0.1)
    bars.legend()
    contexts = [mo.md(f"{when}:\n```text\n{text}\n```") for when, text in zip(("Before", "After"), said, strict=True)]
    mo.vstack([mo.md(f"## Forgetting\n```text\n{plan}\n```"), forgotten, *contexts])
    return


if __name__ == "__main__":
    app.run()
