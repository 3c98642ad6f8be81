"""Claims that turn round a comparison, an order or a reason, leave out a condition, or make a part the whole."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent_memory.language.grounding.said_dates import Spoken
from agent_memory.language.grounding.support import why_unsupported

AT = datetime(2026, 11, 3, 10, tzinfo=UTC)


def why(said: str, content: str, asked: str | None = None) -> str | None:
    ahead = [] if asked is None else [Spoken(asked, AT, None, False)]
    return why_unsupported(content, said, [Spoken(said, AT, None)], ahead)


@pytest.mark.parametrize(
    ("said", "wrong", "right"),
    [
        # comparisons
        ("Nights pay better than days here.", "Days pay better than nights", "Nights pay better than days"),
        ("I'd rather paint in oil than in acrylic.", "User prefers acrylic to oil", "User prefers oil to acrylic"),
        ("The Jersey gives less milk than the Holstein.", "The Jersey gives more milk than the Holstein", None),
        ("The Jersey gives less milk than the Holstein.", None, "The Holstein gives more milk than the Jersey"),
        ("The old heap runs hotter than the new one.", None, "The new heap runs cooler than the old one"),
        # orders
        ("Tempero o peixe depois de o grelhar.", "O utilizador tempera o peixe antes de o grelhar", None),
        (
            "I worked at Bosch before I joined the fire brigade.",
            "The user worked at Bosch after joining the fire brigade",
            "The user joined the fire brigade after working at Bosch",
        ),
        (
            "Je sale les aubergines avant de les griller.",
            "L'utilisateur sale les aubergines après les avoir grillées",
            "L'utilisateur sale ses aubergines avant de les griller",
        ),
        (
            "Kit first, then roll call, then the warm-up.",
            "Sessions start with roll call, then kit, then the warm-up",
            "Sessions start with the kit, then roll call and then the warm-up",
        ),
        # reasons
        (
            "Wir haben den Hof verkauft, weil mein Vater krank wurde.",
            "Der Vater des Nutzers wurde krank, weil der Hof verkauft wurde",
            "Der Hof des Nutzers wurde verkauft, weil sein Vater krank wurde",
        ),
        (
            "The crew never came on Monday so the roof is open.",
            None,
            "The user's roof is open because the crew did not come on Monday",
        ),
        (
            "We chose Kafka, Rabbit couldn't keep up.",
            None,
            "The user's team chose Kafka because Rabbit could not keep up",
        ),
        # conditions
        (
            "We cut hay on Friday if it stays dry.",
            "The user cuts hay on Friday",
            "If it stays dry, user cuts hay on Friday",
        ),
        (
            "I'll sign the lease provided they add a break clause.",
            "The user will sign the lease",
            "The user will sign the lease if a break clause is added",
        ),
        (
            "Als mijn knie het houdt, loop ik de marathon.",
            "De gebruiker loopt de marathon",
            "De gebruiker loopt de marathon als zijn knie het houdt",
        ),
        ("Si el banco acepta, abrimos la tienda en mayo.", "El usuario abre la tienda en mayo", None),
        ("Let me know if you need more, I live in Ulm.", None, "User lives in Ulm"),
        ("I don't know if I mentioned it, I live in Ulm.", None, "User lives in Ulm"),
        # shares
        (
            "I usually cycle to the clinic.",
            "The user always cycles to the clinic",
            "The user cycles to the clinic mostly",
        ),
        ("La plupart des clients paient ici.", "Tous les clients paient ici", "La majorité des clients paient ici"),
        ("I only eat meat at weekends.", "The user eats meat every day", "The user eats meat only at weekends"),
        ("Di solito chiudiamo tardi.", "Il locale dell'utente chiude sempre tardi", "Il locale chiude di solito tardi"),
        # deals have two sides
        ("Leo sold his Tacoma to Marcus.", "Leo bought a Tacoma from Marcus", "Marcus bought Leo's Tacoma"),
        ("My uncle sold me his truck.", "User sold a truck to their uncle", "User bought a truck from their uncle"),
        ("Leo sold his old Tacoma to Marcus.", "Marcus sold his old Tacoma to Leo for $9,000", None),
    ],
)
def test_what_is_turned_round_is_doubted_and_what_says_the_same_is_not(said: str, wrong: str | None, right: str | None):
    assert wrong is None or why(said, wrong) is not None
    assert right is None or why(said, right) is None


@pytest.mark.parametrize(
    ("said", "wrong", "right"),
    [
        # what was promised, allowed or wished
        (
            "The landlord promised to fix the boiler.",
            "The landlord fixed the boiler",
            "The landlord will fix the boiler",
        ),
        ("I'm allowed to prescribe, but I don't.", "The user prescribes now", "The user has permission to prescribe"),
        (
            "Vorrei iscrivermi al conservatorio.",
            "L'utente si è iscritto al conservatorio",
            "L'utente desidera iscriversi al conservatorio",
        ),
        # what two sentences say beside each other
        (
            "I left the orchestra. The conductor also retired that summer.",
            "The user left the orchestra because the conductor retired",
            None,
        ),
        # what nearly happened
        ("We almost bought the van.", "The user bought the van", "The user did not buy the van"),
        ("On a failli acheter la ferme.", "L'utilisateur a acheté la ferme", None),
        ("We've almost finished the barn.", None, "The user has almost finished the barn"),
        # "not … after all", figures beside a "not", "no" of Portuguese
        ("The hearing wasn't adjourned after all.", "The hearing was adjourned", "The hearing was not adjourned"),
        ("No wait, the van's a 2017, not 2015.", "The van is from 2015", "The van is from 2017"),
        ("Sou garçom, a Teresa é chefe do Rui.", None, "O utilizador trabalha no restaurante de que a Teresa é chefe"),
        # tenses and suppositions of other languages
        ("I was going to enrol, but fees doubled.", "The user enrolled", "The user was going to enrol"),
        ("Dicen que cierran la piscina.", "Cierran la piscina", "Según dicen, cierran la piscina"),
        ("Antes tocaba la trompeta, ya lo dejé.", "El usuario toca la trompeta", "El usuario tocaba la trompeta"),
        ("¿Y si vendiera la furgoneta? ¿Cuánto me darían?", "El usuario vende la furgoneta", None),
        # "depends on" and "I'd say" are no guesses
        ("The mod depends on CraftLib.", None, "The user's mod needs CraftLib, on which it depends"),
        ("I'd say it takes us 3 hours a week.", None, "It takes the user's team 3 hours a week"),
        # figures
        ("They offered 60k, our floor is 75k.", "The user's floor is 60,000", "The user's floor is 75,000"),
        ("We close at 8am on Monday.", "The user's shop closes on Monday at 8pm", "The shop closes on Monday at 8:00"),
        ("I run a bakery.", "The user runs a bakery with two employees", None),
        ("My daughter plays chess.", "The user's six-year-old daughter plays chess", None),
        ("My kids Ann, Bo and Cy love it.", None, "The user's three children love it"),
        ("Our AOV is $42 and we ship 300 orders.", None, "The average order value of the user's shop is $42"),
        # days are nobody's
        ("Mon, Wed and Fri mornings I swim.", None, "The user swims on Monday, Wednesday and Friday mornings"),
        # other people, also in Dutch
        ("Mijn buurman heeft drie bijenkasten.", "De gebruiker heeft drie bijenkasten", None),
        ("Le fils de ma voisine joue du hautbois.", "Le fils de l'utilisateur joue du hautbois", None),
        (
            "Mum's pills were changed to amlodipine.",
            "The user takes amlodipine pills",
            "The user's mother takes amlodipine",
        ),
        ("Le fils de ma voisine joue, le mien chante.", None, "Le fils de l'utilisateur chante"),
        # texts of others
        ("Im Newsletter steht: Leser wünschen den Premium-Tarif.", "Der Nutzer wünscht den Premium-Tarif", None),
        ("A bio for my character: I'm Thorin, a smith from Eastvale.", "The user is a smith from Eastvale", None),
    ],
)
def test_forms_of_talk_are_read_as_they_are_meant(said: str, wrong: str | None, right: str | None):
    assert wrong is None or why(said, wrong) is not None
    assert right is None or why(said, right) is None


@pytest.mark.parametrize(
    ("asked", "said", "wrong", "right"),
    [
        (
            "Do you have a truck licence?",
            "No, just for cars.",
            "User has a truck licence",
            "User has a car licence only",
        ),
        ("I'd take the Makita over the Bosch.", "hm, interesting", "The user decided to buy the Makita", None),
        ("As you're lactose intolerant, no cream.", "ok the recipe looks good", "The user is lactose intolerant", None),
        ("As you're lactose intolerant, no cream.", "yes, that's right, I am", None, "The user is lactose intolerant"),
        ("Recomendo a casta Touriga.", "Obrigado, vou pensar nisso.", "O utilizador plantou a casta Touriga", None),
        (
            "Soll ich den Termin auf den 20. legen?",
            "Nein, lieber den 22.",
            "Der Nutzer hat am 20. November 2026 einen Termin",
            "Der Nutzer möchte den Termin lieber am 22. November 2026",
        ),
        ("Shall I move the 20th?", "No, that's fine, keep it.", None, "User keeps the 20th"),
    ],
)
def test_what_an_agent_says_needs_a_yes(asked: str, said: str, wrong: str | None, right: str | None):
    assert wrong is None or why(said, wrong, asked) is not None
    assert right is None or why(said, right, asked) is None


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("Als Kind wohnte ich in Rom, jetzt arbeite ich in Köln.", "Der Nutzer arbeitet in Köln."),
        ("Wenn ich mich recht erinnere, wohnt Eva in Graz.", "Eva wohnt in Graz."),
        ("Se non sbaglio, Paolo lavora a Torino.", "Paolo lavora a Torino."),
        ("My sign reads: no dogs. I have two kids.", "User has two kids."),
    ],
)
def test_what_sets_no_condition_and_quotes_nobody_is_believed(said: str, content: str):
    assert why(said, content) is None


@pytest.mark.parametrize(
    ("asked", "reply", "content"),
    [
        ("Is your meeting on Friday at 8?", "No, at 9.", "User's meeting is on Friday at 9."),
        ("Do you like jazz music?", "No doubt, absolutely.", "User likes jazz music."),
        ("So you like jazz music?", "Yes, good to know, thanks.", "User likes jazz music."),
    ],
)
def test_a_reply_that_brings_the_value_or_agrees_is_believed(asked: str, reply: str, content: str):
    assert why(reply, content, asked) is None


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("I'm going to London for two weeks.", "User went to London on 20 October 2026."),
        ("J'ai été à Lyon avec ma femme.", "User was in Lyon in summer 2026."),
        ("I work in real estate in Boston.", "User works in Boston in the summer."),
    ],
)
def test_a_length_of_time_and_words_like_seasons_are_no_dates(said: str, content: str):
    assert why(said, content) is not None
