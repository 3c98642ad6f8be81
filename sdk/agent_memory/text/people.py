"""Words for people by what they are to somebody."""

from __future__ import annotations

from collections.abc import Iterable

KIN = frozenset(
    """sister brother mother father mom mum mam dad wife husband son daughter kid kids child children baby partner
    fiancé
    fiancée fiance boyfriend girlfriend ex aunt uncle cousin niece nephew grandmother grandfather grandma grandpa granny
    nan gran twin parents boss manager lead colleague coworker co-worker intern neighbour neighbor neighbours neighbors
    landlord landlady tenant roommate flatmate housemate friend friends buddy mate teacher doctor client customer
    mother-in-law father-in-law sibling siblings assistant coach trainer therapist
    schwester bruder mutter vater mama papa oma opa frau mann sohn tochter kind kinder freund freundin chef chefin
    kollege kollegin nachbar nachbarin tante onkel cousine vermieter mitbewohner mitbewohnerin
    hermana hermano madre padre abuela abuelo esposa marido mujer hijo hija hijos novio novia jefe jefa vecino vecina
    amigo amiga tía tío primo prima compañero compañera suegra suegro
    sœur soeur frère mère père maman grand-mère grand-père femme mari fils fille enfants copain copine patron chef
    voisin voisine ami amie tante oncle cousine collègue coloc
    sorella fratello nonna nonno moglie marito figlio figlia fidanzato fidanzata capo vicino vicina amico amica zia zio
    zus broer moeder zoon dochter kinderen vriend vriendin buurman buurvrouw baas collega huisbaas echtgenoot echtgenote
    irmã irmão mãe pai avó avô filha filho namorado namorada chefe vizinho vizinha""".split()
)
"""In English, German, Spanish, French, Italian, Portuguese and Dutch."""
SAME_KIN = {
    word: kin
    for kin, words in {
        "mother": "mum mom mam mama",
        "father": "dad daddy papa",
        "grandmother": "grandma granny nan gran",
        "grandfather": "grandpa grandad",
        "child": "kid kids children",
    }.items()
    for word in words.split()
}
"""Other English words for the same kin."""

AS_I = frozenset("i i'm i've i'd i'll ich yo je j'ai j'aime io eu ik".split())
MY = frozenset("my mein meine meinen meinem meiner mi mis mon ma mes mio mia meu minha mijn".split())
ME = frozenset("me us mir mich uns moi".split())
WE = frozenset("we we're we've we'd we'll wir nosotros nous noi nós wij".split())
OUR = frozenset("our ours unser unsere unserem unserer nuestro nuestra notre nos ons onze".split())
"""How speakers name themselves and what is theirs, in the languages of `KIN`. `ME` has "us", too."""
OWN = MY | OUR


def plain_kin(words: Iterable[str]) -> set[str]:
    """The words without a possessive ending, each relative under one name: "mum's" is "mother"."""
    return {SAME_KIN.get(bare, bare) for bare in (word.removesuffix("'s") for word in words)}
