"""Standing instructions: what a user wants from now on, whatever the verb, and what it applies to."""

import pytest

from agent_memory.text.instructions import standing_instruction


@pytest.mark.parametrize(
    ("sentence", "condition"),
    [
        ("Always list sources when I ask about papers.", "papers"),
        ("Always format all code snippets with syntax highlighting when I ask about details.", "details"),
        ("List your sources every time I ask about regulations.", "regulations"),
        ("When I ask about privacy, always include encryption details.", "privacy"),
        ("Whenever I paste a stack trace, start with the root cause.", "paste a stack trace"),
        ("Whenever I mention the gym then say: go and stretch", "the gym"),
        ("Whenever I mention Tom, then remind me of the loan.", "Tom"),
        ("From now on spell out units in variable names", ""),
        ("Answer in British English from now on.", ""),
        ("Cite sources at the end from now on", ""),
        ("Responde a partir de ahora en español", ""),
        ("And please always keep it short!", ""),
        ("pls never use abbreviations", ""),
        ("Bitte kommentier den Code künftig auf Englisch.", ""),
        ("Antworte bitte immer kurz", ""),
        ("Nunca reserves hoteles sin cancelación gratis", ""),
        ("Could you use metric units from now on?", ""),
        ("Would you mind booking the early train from now on?", ""),
        ("Is it possible to keep the heating at 19 degrees permanently?", ""),
        ("Set Radio Nova as my favourite station.", ""),
        ("Can you always answer in French when I ask about grammar?", "grammar"),
        ("Assume readers will know SQL by default", ""),
        ("Ensure tests can run offline from now on", ""),
        ("When I sound tired, suggest a walk.", "sound tired"),
        ("When you answer, give examples first", ""),
        ("Whenever you change the wiki, tag the editors", "change the wiki"),
        ("When you deploy, notify Sam.", "deploy"),
        ("If you find a bug, open an issue.", "find a bug"),
        ("If you write SQL, uppercase the keywords.", "write SQL"),
        ("When you schedule a meeting, leave 15 minutes between calls.", "schedule a meeting"),
        ("When I'm in a meeting, hold messages.", "'m in a meeting"),
        ("When I upload a CSV, print rows to the console.", "upload a CSV"),
        ("If you're not sure, don't guess.", "'re not sure"),
        ("When I said something wrong, correct me.", "said something wrong"),
        ("When I had my coffee, start the briefing.", "had my coffee"),
        ("Show a preview when you ask for approval.", "approval"),
    ],
)
def test_an_order_for_good_is_found_with_its_condition(sentence: str, condition: str):
    found = standing_instruction(sentence)
    assert found is not None
    assert found.condition == condition


@pytest.mark.parametrize(
    "sentence",
    [
        "I always forget my keys",
        "Always a pleasure!",
        "Never mind",
        "He never decided",
        "When I was young then it was fun",
        "Always loved that film",
        "Never been there",
        "Mom always calls when I ask about money",
        "I feel bad when I ask about money",
        "When I was young, we had a dog",
        "From now on I live in Rome",
        "Standup is at 10:15 from now on.",
        "Jules reads the drafts from now on.",
        "Standup ist ab jetzt um zehn.",
        "If I go to Rome, my sister joins",
        "when i oversleep, bruno waters the tomatoes",
        "When I stumble, coach says 'again'.",
        "if i wait too long, landlord can raise it",
        "when I finally reached the hut, everyone cheered, 'bravo, lena', and we ate",
        "when we moved here, neighbours with ladders helped us",
        "when I'm home on friday I will tell her everything, sister or not",
        "when you live above a bakery, ovens wake you at four",
        "If you need any help, let me know!",
        "If you have any questions, feel free to ask",
        "If you can't find coconut oil, look for tubs of another cream.",
        "write it on the list of things people say when you ask them for money",
        "junior cooks should be paid by default",
        "Lena's oven is set to 180 by default",
        "Do you always list sources?",
        "Can you tell me what changes from now on?",
        "Can you explain why 8080 is used as the default port?",
        "Can I use this as the default value?",
        "Could you always be so kind?",
        "Postgres is used as our default database.",
        "",
        "Always " + "x " * 400,
    ],
)
def test_what_orders_nothing_for_good_is_none(sentence: str):
    assert standing_instruction(sentence) is None


@pytest.mark.parametrize(
    ("sentence", "subject"),
    [
        ("Always answer in metric units.", ""),
        ("Antworte bitte immer kurz", ""),
        ("Always list sources when I ask about papers.", "papers"),
        ("Always take me to the same garage.", "Always take me to the same garage."),
        ("Could you deploy on Tuesdays from now on?", "Could you deploy on Tuesdays from now on?"),
    ],
)
def test_an_instruction_about_one_subject_does_not_apply_to_all(sentence: str, subject: str):
    found = standing_instruction(sentence)
    assert found is not None
    assert found.subject == subject
