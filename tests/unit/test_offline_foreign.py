"""What users say of themselves in other languages than English is remembered in their own words, if it is plain."""

from datetime import UTC, datetime, timedelta

import pytest

from agent_memory import AsyncMemory
from agent_memory.language.offline.extract import of_turn
from agent_memory.language.offline.reconcile import reconcile
from agent_memory.language.tasks import ExtractedMemory, FactView, ReconcileInput, TurnView

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
THURSDAY = datetime(2026, 3, 12, 9, tzinfo=UTC)
PLAIN = [
    ("Ich heiße Jana.", "fact"),
    ("Wir wohnen jetzt in Halle.", "fact"),
    ("Ich wohne mit meiner Frau Rima zusammen.", "fact"),
    ("Vivimos en Cádiz.", "fact"),
    ("Me he hecho vegetariana desde septiembre.", "fact"),
    ("Nous habitons à Lyon.", "fact"),
    ("Abitiamo a Torino.", "fact"),
    ("Moramos em Braga.", "fact"),
    ("We wonen in Gent.", "fact"),
    ("Seit Mai wohne ich in Wien.", "fact"),
    ("Ich bin im Mai nach Dresden gezogen.", "fact"),
    ("Ahora vivo en Madrid.", "fact"),
    ("Ya no vivimos en Sevilla, nos mudamos a Cádiz.", "fact"),
    ("Ich arbeite als Krankenschwester im Uniklinikum.", "fact"),
    ("Übrigens, ich bin allergisch gegen Nüsse.", "fact"),
    ("Meine Tochter heißt Mia.", "fact"),
    ("Ich hasse Koriander.", "preference"),
    ("Ich mag keine Horrorfilme.", "preference"),
    ("Antworte mir bitte immer auf Deutsch.", "requirement"),
    ("Soy alérgico a los cacahuetes.", "fact"),
    ("No me gusta el cilantro.", "preference"),
    ("Mi hija se llama Lucía.", "fact"),
    ("Je suis végétarienne.", "fact"),
    ("Je déteste les réunions le matin.", "preference"),
    ("Mia madre è diabetica.", "fact"),
    ("Preferisco il treno all'aereo.", "preference"),
    ("Sou alérgica a amendoim.", "fact"),
    ("Não gosto de café.", "preference"),
    ("Moro em Lisboa.", "fact"),
    ("Ik woon in Gent.", "fact"),
    ("Prefiero el té, no el café.", "preference"),
    ("Abito a Milano con la mia famiglia.", "fact"),
    ("Mijn zoon heet Daan.", "fact"),
    ("Ik hou niet van koriander.", "preference"),
    # somebody by name, figures, changes, illnesses
    ("Mein Sohn Lukas spielt beim SV Kiel.", "fact"),
    ("Meine Schwiegermutter Hildegard ist 84.", "fact"),
    ("Unsere Vorsitzende heißt Birgit Lohmann.", "fact"),
    ("Ma sœur Nolwenn habite à Brest.", "fact"),
    ("Il mio commercialista si chiama Bruno.", "fact"),
    ("Unser Beitrag liegt bei 96 Euro.", "fact"),
    ("Der Trainer bekommt 25 € die Stunde.", "fact"),
    ("Wir haben jetzt 352 Mitglieder.", "fact"),
    ("Wir sind mit dem Konto zur Volksbank gewechselt.", "fact"),
    ("Armelle n'est plus institutrice.", "fact"),
    ("Mi suegro ya no conduce de noche.", "fact"),
    ("Ahora trabajo en un banco.", "fact"),
    ("Het bezorgadres is veranderd van Zwolle naar Kampen, vanaf 1 december.", "fact"),
    ("Mein Mann hat Asthma.", "fact"),
    ("Ramipril 5 mg morgens.", "fact"),
    ("Ich bin Kassenwart im Turnverein.", "fact"),
    ("Soy electricista.", "fact"),
    ("Wir nutzen Excel für die Buchhaltung.", "fact"),
    ("Réponds toujours en français et sans listes.", "requirement"),
    ("Contéstame siempre con frases cortas.", "requirement"),
    ("Du musst keine Stichpunkte mehr schreiben.", "requirement"),
    ("Ya no hace falta que me escribas en inglés.", "requirement"),
]
LEFT = [
    "Wohne ich jetzt in Leipzig?",
    "Wenn ich in Rom wohne, lerne ich Italienisch.",
    "Ich bin allergisch gegen Montage, haha",
    "Ich mag das.",
    "Ich liebe es!",
    "Ich liebe mein Leben",
    "Vielleicht bin ich allergisch.",
    "Am 3. Mai ist Feiertag.",
    "Si vivo en Bilbao, necesito coche.",
    "Me gusta mucho.",
    "Odio esto.",
    "«Soy alérgico», dijo.",
    "Tal vez prefiero el tren.",
    "J'aime ça.",
    "Si je suis enceinte, on verra.",
    "Mi piace molto!",
    "Se sono allergico, lo scopro.",
    "Gosto disso.",
    "Ik haat dat.",
    "Misschien woon ik in Gent.",
    "Er wohnt in Leipzig.",
    "Su hermana vive en Bilbao.",
    "Ma come va?",
    "Ich habe jetzt alles verstanden, danke.",
    "Ich weiß es nicht mehr genau.",
    "Ich bin der Meinung, dass das stimmt.",
    "Das Wetter ist jetzt endlich besser.",
    "Der Kaffee kostet hier 4 Euro.",
    "Die Funktion wird jetzt nicht mehr aufgerufen.",
    "Mein Chef nervt mich total.",
    "Meine Freundin Lena lacht sich kaputt.",
    "Ahora lo entiendo todo, gracias.",
    "He dejado el coche en la puerta.",
    "El servidor ya no responde.",
    "Je ne comprends plus rien à ce truc.",
    "J'ai arrêté la cuisson après dix minutes.",
    "Mia madre dice che ho ragione.",
    "Adesso funziona tutto, grazie mille.",
    "Agora já percebi, obrigado pela ajuda.",
    "Nu snap ik het eindelijk, bedankt.",
    "Ya no hace falta que lo mandes.",
]


def of(text: str, said_at: datetime) -> list[ExtractedMemory]:
    return of_turn(TurnView(ref="t1", role="user", content=text, created_at=said_at), [])


def memories(text: str) -> list[tuple[str, str | None]]:
    return [(memory.content, memory.kind) for memory in of(text, AT)]


@pytest.mark.parametrize(("text", "kind"), PLAIN)
def test_a_plain_statement_is_kept_in_its_own_words(text: str, kind: str):
    assert memories(text) == [(text, kind)]


@pytest.mark.parametrize("text", LEFT)
def test_what_is_not_plain_is_left_to_the_raw_talk(text: str):
    assert memories(text) == []


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("Ich heiße Jana und wohne in Leipzig.", ["Ich heiße Jana", "Ich wohne in Leipzig."]),
        ("Me llamo Jorge y vivo en Bilbao.", ["Me llamo Jorge", "Vivo en Bilbao."]),
        ("Je m'appelle Claire et j'habite à Nantes.", ["Je m'appelle Claire", "J'habite à Nantes."]),
        ("Mi chiamo Marco e abito a Torino.", ["Mi chiamo Marco", "Abito a Torino."]),
        ("Ik heet Daan en woon in Gent.", ["Ik heet Daan", "Ik woon in Gent."]),
        ("Meine Tochter heißt Mia und ist drei.", ["Meine Tochter heißt Mia und ist drei."]),
    ],
)
def test_two_statements_are_two_memories(text: str, contents: list[str]):
    assert [content for content, _ in memories(text)] == contents


def test_what_follows_a_contrast_is_left_out():
    assert memories("Sou alérgica a marisco, mas o meu marido come por dois") == [("Sou alérgica a marisco", "fact")]
    assert memories("Kommentier bitte künftig auf Englisch, Tom kann kein Deutsch.") == [
        ("Kommentier bitte künftig auf Englisch", "requirement")
    ]


async def test_a_german_user_has_a_profile_and_is_remembered():
    async with AsyncMemory.local() as memory:
        jana = memory.user("jana")
        await jana.thread("t1").add(
            "user", "Hallo! Ich heiße Jana und wohne in Leipzig. Ich bin allergisch gegen Nüsse."
        )
        await memory.drain()
        profile = await jana.profile()
        assert profile is not None
        assert "wohne in Leipzig" in profile.content
        assert "allergisch gegen Nüsse" in profile.content
        context = await jana.context("Wo wohne ich?")
        assert "Leipzig" in context.text


async def test_a_profile_has_the_newest_home():
    async with AsyncMemory.local() as memory:
        jana = memory.user("jana")
        await jana.thread("t1").add("user", "Ich heiße Jana und wohne in Leipzig.", created_at=AT)
        await jana.thread("t2").add("user", "Ich wohne jetzt in Wien.", created_at=AT + timedelta(days=30))
        await jana.thread("t2").add("user", "Meine Tochter heißt Mia. Meine Tochter heißt Lea.", created_at=AT)
        await memory.drain()
        profile = await jana.profile()
        assert profile is not None
        assert "Wien" in profile.content
        assert "Jana" in profile.content
        assert "Leipzig" not in profile.content
        assert "Mia" in profile.content
        assert "Lea" in profile.content
        await jana.thread("t3").add("user", "Wir wohnen jetzt in Graz.", created_at=AT + timedelta(days=60))
        await memory.drain()
        profile = await jana.profile()
        assert profile is not None
        assert "Graz" in profile.content
        assert "Wien" not in profile.content


async def test_a_speaker_with_a_name_has_a_profile_too():
    async with AsyncMemory.local() as memory:
        jana = memory.user("jana")
        await jana.thread("t1").add("user", "Ich wohne in Leipzig.", name="Jana", created_at=AT)
        await jana.thread("t2").add("user", "Ich wohne jetzt in Wien.", name="Jana", created_at=AT + timedelta(days=30))
        await memory.drain()
        profile = await jana.profile()
        assert profile is not None
        assert "Wien" in profile.content
        assert "Leipzig" not in profile.content


EVENTS = [
    ("Gestern habe ich die Prüfung bestanden.", "11 March 2026"),
    ("Am Montag habe ich mir ein neues Rad gekauft.", "9 March 2026"),
    ("Ich habe am Montag ein Vorstellungsgespräch.", "16 March 2026"),
    ("Mein Zahnarzttermin ist am 18. März um 10 Uhr.", "18 March 2026"),
    ("El lunes tengo cita con el dentista.", "16 March 2026"),
    ("El viernes pasado me operaron de la rodilla.", "6 March 2026"),
    ("Hier j'ai vendu ma voiture.", "11 March 2026"),
    ("Nous partons en vacances le 12 juillet.", "12 July 2026"),
    ("Ieri ho venduto la macchina.", "11 March 2026"),
    ("Domani parto per Genova con mia moglie.", "13 March 2026"),
    ("Ontem fui ao médico.", "11 March 2026"),
    ("Segunda-feira tenho uma entrevista.", "16 March 2026"),
    ("Vorige week ben ik geslaagd voor mijn examen.", "week of 2 March 2026"),
    ("Vrijdag heb ik een afspraak bij de tandarts.", "13 March 2026"),
    ("Lundi j'ai rendez-vous chez le dentiste.", "16 March 2026"),
    ("El lunes tengo un café con mi amigo aquí en Bilbao.", "16 March 2026"),
]
NO_EVENTS = [
    "Guten Morgen, ich brauche Hilfe.",
    "Ich brauche bis Freitag einen Plan.",
    "Wenn ich am Freitag fertig bin, fahre ich nach Hause.",
    "Der Vertrag läuft am 31. März aus.",
    "Heute habe ich schlecht geschlafen.",
    "Necesito un plan para el viernes.",
    "Escribe un correo a mi jefe para el lunes.",
    "Martes y viernes voy al gimnasio.",
    "El martes llueve en Madrid.",
    "Traduis ma lettre pour lundi.",
    "Le train part lundi à huit heures.",
    "Vous avez acheté une voiture lundi.",
    "Je kunt maandag komen.",
    "So ein herrlicher Sonntag, alle krank, ich liebe mein Leben.",
    "Ich habe am Montag nichts vor.",
    "Mijn afspraak is verzet naar dinsdag.",
    "Ik werk sinds maandag aan het rapport.",
]


@pytest.mark.parametrize(("text", "day"), EVENTS)
def test_a_dated_event_is_kept_with_its_day(text: str, day: str):
    [memory] = of(text, THURSDAY)
    assert (memory.content, memory.kind) == (f"{text.rstrip('.')} ({day}).", "fact")
    assert memory.quote == text
    assert f"{memory.valid_from:%-d %B %Y}" in day


@pytest.mark.parametrize("text", NO_EVENTS)
def test_what_has_no_certain_day_of_the_users_own_is_no_event(text: str):
    assert of(text, THURSDAY) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Ich gehe montags immer zum Yoga.", "fact"),
        ("Los viernes cierro la tienda a las dos.", "fact"),
        ("Tengo dos hijas.", "fact"),
        ("J'apprends le portugais.", "fact"),
        ("Insegno matematica in un liceo di Novara.", "fact"),
        ("O meu irmão trabalha na TAP.", "fact"),
        ("Ik verdraag geen melk.", "fact"),
        ("Abbiamo deciso di vendere il camper.", "decision"),
        ("La renta ha subido a 980 euros.", "fact"),
        ("Der Kurs ist abgesagt.", "fact"),
    ],
)
def test_what_lasts_is_kept_without_a_day(text: str, kind: str):
    [memory] = of(text, THURSDAY)
    assert (memory.content, memory.kind, memory.valid_from) == (text, kind, None)


@pytest.mark.parametrize(
    "text",
    [
        "Mein Nachbar behauptet, er habe drei Ferraris.",
        "Nunca disse que era diabético.",
        "Sono Napoleone, piacere, ahah.",
        "In dat boek woont ze al jaren in Brugge met haar vier zussen.",
        "Ich habe mich für die blaue Variante entschieden, mach weiter.",
        "Me quedo con la segunda versión.",
        "Je travaille sur la page 12.",
        "No puedo tomar decisiones ahora.",
        "Ik leer elke dag iets van je.",
        "Le lait est passé à 1,20 euro.",
        "Somos três na fila.",
        "Mijn telefoon heeft 12 gemiste oproepen.",
        "Altijd hetzelfde liedje met die trein.",
    ],
)
def test_hearsay_jokes_and_what_is_at_hand_are_not_kept(text: str):
    assert of(text, THURSDAY) == []


@pytest.mark.parametrize(
    ("question", "reply", "kept"),
    [
        ("Welke schoenmaat heb je?", "Maat 41, trouwens.", True),
        ("Combien de fois par semaine courez-vous ?", "Trois fois, tôt le matin.", True),
        ("Welche Seite meinst du?", "Ich meine 14.", False),
        ("Wie viele Beispiele möchtest du?", "Drei reichen.", False),
        ("¿Cuántos sois en casa?", "Creo que cuatro, quizás.", False),
    ],
)
def test_a_short_reply_is_kept_with_its_question(question: str, reply: str, kept: bool):
    before = [TurnView(ref="t1", role="agent", content=question, created_at=AT)]
    turn = TurnView(ref="t2", role="user", content=reply, created_at=AT)
    found = [memory.content for memory in of_turn(turn, before)]
    assert found == ([f"{reply.rstrip('.')} (asked: {question})"] if kept else [])


def test_a_dutch_noun_is_no_verb_in_the_past():
    [memory] = of("Vrijdag heb ik een gesprek bij de gemeente.", AT)
    assert memory.valid_from == datetime(2026, 3, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("Ab Januar arbeite ich 20 Stunden.", "2027-01-01", None),
        ("Seit August wohne ich in Halle.", "2025-08-01", None),
        ("Ich arbeite bei der Post bis März.", None, "2026-03-01"),
        ("Ya no trabajo en el banco, desde el lunes.", "2026-03-09", None),
        ("Unser Termin ist verschoben auf den 21. April.", None, None),
    ],
)
def test_what_is_so_from_or_to_a_time_is_dated(text: str, start: str | None, end: str | None):
    [memory] = of(text, THURSDAY)
    assert [day and f"{day:%Y-%m-%d}" for day in (memory.valid_from, memory.valid_to)] == [start, end]


@pytest.mark.parametrize(
    ("older", "newer", "replaced"),
    [
        ("Ich wohne in Potsdam.", "Ich bin nach Kiel gezogen.", True),
        ("J'habite à Rennes.", "On a déménagé à Cancale.", True),
        ("Ich arbeite als Elektriker.", "Ich arbeite bei der Post.", False),
        ("Trabajo en el banco.", "Ya no trabajo en el banco.", True),
        ("Je travaille à la médiathèque, le mardi et le jeudi.", "J'ai quitté la médiathèque.", True),
        ("Unsere Miete liegt bei 780 Euro.", "Unsere Miete ist jetzt 910 Euro.", True),
        ("Unsere Miete liegt bei 780 Euro.", "Mein Lohn ist jetzt 2.910 Euro.", False),
        ("Mi madre vive en Sevilla.", "Me he mudado a Cádiz.", False),
        ("Unsere Miete ist jetzt 910 Euro.", "Andrij hat bei Bosch gekündigt, er ist jetzt bei Daimler.", False),
        ("Ik werk bij de bank.", "Ik werk niet meer op vrijdag.", False),
        ("Ich wohne in Köln.", "Ich wohne in Ehrenfeld.", False),
        ("Vivo en Madrid.", "Nos mudamos a Cádiz.", True),
        ("Mein Mann hat jetzt Asthma.", "Ich habe jetzt bei Bosch gekündigt.", False),
        ("Meine Frau arbeitet bei Bosch.", "Ich arbeite nicht mehr bei Bosch.", False),
        ("Contéstame siempre con frases cortas.", "Ya no hace falta que contestes con frases cortas.", True),
        ("Contéstame siempre con frases cortas.", "Ya no hace falta que contestes en inglés.", False),
        ("Antworte mir bitte immer in kurzen Stichpunkten.", "Stichpunkte brauchst du nicht mehr, danke.", True),
        ("Antworte bitte immer auf Deutsch.", "Stichpunkte brauchst du nicht mehr, danke.", False),
        ("Ich wohne mit meiner Frau Rima in Bonn.", "Ich bin nach Kiel gezogen.", False),
    ],
)
def test_a_change_retires_what_it_names_and_no_more(older: str, newer: str, replaced: bool):
    views = [FactView(ref=text, kind=of(text, AT)[0].kind, content=text, said_at=AT) for text in (older, newer)]
    views[1] = views[1].model_copy(update={"said_at": THURSDAY})
    assert bool(reconcile(ReconcileInput(facts=views[::-1])).contradictions) == replaced
