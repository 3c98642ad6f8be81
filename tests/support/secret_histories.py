"""Seeded conversations in which somebody tells a secret several times, each time in other words."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)
FOODS = ("peanuts", "shellfish", "hazelnuts", "sesame", "lupins", "celery")
ILLNESSES = ("diabetes", "psoriasis", "epilepsy", "endometriosis", "glaucoma", "narcolepsy")
NAMES = ("Zephyrine", "Thaddeus", "Oluwaseun", "Ingeborg", "Marisol", "Benedikt")
FIRMS = ("Fabrikam", "Northwind", "Tailspin", "Wingtip", "Litware", "Adatum")
CITIES = ("Lisbon", "Oslo", "Graz", "Turin", "Ghent")
ORDINARY = (
    "I live in {city}.",
    "I work as a data engineer.",
    "My sister studies biology in Vienna.",
    "I prefer tea to coffee in the morning.",
    "We have two cats, Ada and Bob.",
    "I'm learning Portuguese with an app.",
    "I love hiking in the mountains.",
    "Our team meets on Tuesdays at ten.",
    "I use a Linux laptop at work.",
    "My favourite colour is green.",
)
ECHOES = ("Thanks, noted.", "Got it: {value}.", "Alright, I'll keep in mind: {told}")
TAKEN_UP = ("{value}? I see.", "That must keep you busy, {value} I mean.")
PASTED = "The minutes say that nothing of interest was decided. " * 320
"""What is pasted into a turn: 17 KB."""
ASIDE = (
    "Sure. The train to {city} takes three hours.",
    "Here is the function you asked for: def area(w, h): return w * h",
    "The weather should stay dry until the weekend.",
    "I have put milk and bread on the list.",
)
"""Answers about something else, which stay."""


@dataclass(frozen=True)
class Secret:
    """A secret: how it is told, what gives it away, and how its owner asks for it to be forgotten."""

    kind: str
    tellings: tuple[str, ...]
    needles: tuple[str, ...]
    query: str
    value: str
    by_id: bool


@dataclass
class History:
    """What is said by thread, in order; what comes late; which turns tell the secret, or answer with something else."""

    user_id: str
    secret: Secret
    threads: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    late: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    telling: set[str] = field(default_factory=set)
    aside: set[str] = field(default_factory=set)


def make_secret(rng: random.Random) -> Secret:
    """One of six kinds of secrets."""
    code = f"{rng.randrange(1, 10)}{rng.randrange(1000, 9999)}{rng.randrange(1, 10)}"
    pay = f"{rng.randrange(40, 190)}{rng.randrange(1, 10)}{rng.randrange(10)}0"
    food, illness, name, firm = (rng.choice(words) for words in (FOODS, ILLNESSES, NAMES, FIRMS))
    return rng.choice(
        [
            Secret(
                "code",
                (
                    f"My gym locker code is {code}.",
                    f"By the way, {code} opens my locker at the gym.",
                    f"Note for later: locker combination {code}.",
                    f"The locker again: {'-'.join(code)}.",
                ),
                (code, "-".join(code)),
                "my locker code",
                code,
                True,
            ),
            Secret(
                "pay",
                (
                    f"I earn {pay} euros a year.",
                    f"They pay me {int(pay):,} euros per year now.",
                    f"My salary is {pay} euros.",
                    f"With {int(pay):,} a year I should be able to afford the flat.",
                ),
                (pay, f"{int(pay):,}"),
                "my salary",
                pay,
                True,
            ),
            Secret(
                "food",
                (
                    f"I'm allergic to {food}.",
                    f"I can't eat {food}, I have an allergy.",
                    f"Please remember that {food} could kill me.",
                    f"My {food} allergy is a severe one.",
                ),
                (food,),
                food,
                food,
                False,
            ),
            Secret(
                "illness",
                (
                    f"I was diagnosed with {illness} last month.",
                    f"My doctor says that the {illness} is under control.",
                    f"Since the {illness} began I sleep badly.",
                    f"I take something for my {illness}.",
                ),
                (illness,),
                f"my {illness}",
                illness,
                False,
            ),
            Secret(
                "name",
                (
                    f"My therapist is called {name}.",
                    f"I see {name}, my therapist, every second week.",
                    f"{name} thinks that I should work less.",
                ),
                (name,),
                name,
                name,
                False,
            ),
            Secret(
                "firm",
                (
                    f"I have a job interview at {firm} on Friday.",
                    f"{firm} invited me to an interview, but tell nobody.",
                    f"The {firm} interview went well.",
                ),
                (firm,),
                f"the {firm} interview",
                firm,
                False,
            ),
        ]
    )


def make_history(seed: int) -> History:
    """One history: two or three threads, the secret told in each wording, one of them not processed yet."""
    rng, replies = random.Random(seed), random.Random(f"replies {seed}")
    secret = make_secret(rng)
    history = History(f"user-{seed}", secret)
    names = [f"talk-{seed}-{n}" for n in range(rng.choice((2, 3)))]
    ordinary = [line.format(city=rng.choice(CITIES)) for line in rng.sample(ORDINARY, 6)]
    tellings = rng.sample(secret.tellings, len(secret.tellings))
    lines = [(rng.choice(names), line, False) for line in ordinary]
    for number, telling in enumerate(tellings):
        place = rng.randrange(len(lines) + 1)
        # Now and then something else is told in the same breath.
        said = telling if number != 1 else f"{telling} {rng.choice(('I play the cello.', 'I was born in May.'))}"
        lines.insert(place, (rng.choice(names), said, True))
    late = rng.randrange(len(lines))
    clock = BEGIN
    for position, (thread, line, tells) in enumerate(lines):
        clock += timedelta(minutes=rng.randrange(1, 600))
        turn_id = f"turn-{seed}-{position:02d}"
        # A long turn becomes several chunks.
        told = f"{line} {PASTED} {line}" if tells and seed % 4 == 1 and not history.telling else line
        turn = {"role": "user", "content": told, "id": turn_id, "created_at": clock}
        into = history.late if position == late else history.threads
        into.setdefault(thread, []).append(turn)
        if tells:
            history.telling.add(turn_id)
        if tells and rng.random() < 0.6:
            echo = rng.choice(ECHOES).format(value=secret.value, told=line)
            echo_id = f"echo-{seed}-{position:02d}"
            reply = {"role": "assistant", "content": echo, "id": echo_id}
            into[thread].append(reply | {"created_at": clock + timedelta(seconds=5)})
            if any(needle.lower() in echo.lower() for needle in secret.needles):
                history.telling.add(echo_id)
        elif tells:
            aside = replies.random() < 0.6
            answer = replies.choice(ASIDE if aside else TAKEN_UP)
            answer_id = f"answer-{seed}-{position:02d}"
            content = answer.format(value=secret.value, city=replies.choice(CITIES))
            reply = {"role": "assistant", "content": content, "id": answer_id}
            into[thread].append(reply | {"created_at": clock + timedelta(seconds=5)})
            (history.aside if aside else history.telling).add(answer_id)
    return history
