"""Advice: questions whose answers depend on what the user likes, although they do not ask for it.

"Suggest a hotel in Las Vegas" has little in common with "I avoid casinos". A search ranks what was said about Las Vegas
higher, and what is far from the question is left out as about something else. So a request for advice or help is also
compared with the user's preferences and requirements alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_memory.calibration import Calibration
from agent_memory.models import Hit, Memory
from agent_memory.recall.relevance import nearness
from agent_memory.text.patterns import either, linear

PREFERENCES_READ = 3
"""Preferences of a request in a context, the nearest. Of 400 requests to somebody with 20 preferences (PrefEval), the
one that matters is the nearest for 74 in 100, among the nearest two for 90 and among the nearest three for 93."""
PREFERS = 0.4
"""Minimum nearness of a preference to a request. Of 100 preferences that matter, 91 pass it, and so do 84 of 100 others
among the nearest three."""

_ENGLISH = either(
    r"recommend suggest advi[sc]e advising recommendations? suggestions? tips ideas? options help_(?:me|us)"
    r" should_(?:i|we) (?:can|could|may)_(?:i|we) (?:can|could|would|will)_you what_are_(?:some|the_best|good) best_way"
    r" what_do_you_think would_be_(?:good|best) (?:an?|any|some)_good how_(?:do|would)_(?:i|we)"
    r" (?:i|we)(?:['’](?:m|re|d)|_am|_are|_would)?"
    r"_(?:want|like|need|planning|thinking|hoping|trying|looking)_(?:to|of|for)"
)
_OTHERS = either(
    # German, French, Spanish, Portuguese, Italian, Dutch
    r"empfiehl empfiehlst empfehlen empfehlung(?:en)? vorschlag vorschläge vorschlagen rat tipps soll_ich sollen_wir"
    r" sollte_ich hilf_mir kannst_du könntest_du ich_suche"
    r" recommande[szr]? recommandations? conseille[szr]? conseils? suggère[szr]? suggestions idées aide-moi peux-tu"
    r" pourrais-tu pouvez-vous je_cherche devrais-je"
    r" recomi(?:enda|éndame|endas) recomendar recomendaciones sugiere[s]? sugerencias consejos? ayúdame puedes podrías"
    r" busco debería"
    r" recomenda[sr]? recomendações sugere[s]? sugestões dicas ajuda-me me_ajuda podes poderia pode procuro devo"
    r" consigli(?:a|o|ami|are|eresti)? suggerisci suggerimenti aiutami puoi potresti cerco dovrei"
    r" aanraden raad_je aanbevelen aanbeveling(?:en)? ideeën help_me kun_je kan_je ik_zoek moet_ik"
)
_ORDERS = either(
    "plan book reserve order find locate get pick choose cook make create design write draft give_(?:me|us) play set"
    " adjust start schedule prepare organi[sz]e build generate navigate take_me show_me"
)
_ASKS = linear(
    rf"(?:^|\W)(?:{_ENGLISH}|{_OTHERS})(?:\W|$)|^(?:please |hey,? |hi,? |ok,? )?{_ORDERS}\W"
    r"|推荐|推薦|建议|建議|帮我|幫我|おすすめ|お勧め|すすめて|提案|추천|제안|조언",
    re.IGNORECASE,
)
_EARLIER = either(
    "did remember remind recall said told mentioned talked discussed brought ago you_(?:suggested|recommended|advised)"
    " last_time summary summari[sz]e tell_me_about_my (?:have|had)_(?:i|we|you)"
    " our_(?:conversations?|sessions?|chats?|discussions?)"
)
_OF_BEFORE = linear(rf"(?:^|\W){_EARLIER}(?:\W|$)", re.IGNORECASE)
"""What a question about earlier talk has in it: "What did you recommend?"."""


def asks_for_advice(query: str) -> bool:
    """Whether a message asks for advice or help: "Which hotel should I book?", but not "Which hotel did I book?"."""
    return _ASKS.search(query) is not None and _OF_BEFORE.search(query) is None


def preferred(found: Sequence[tuple[Memory, float]], calibration: Calibration) -> list[Hit]:
    """The preferences near enough to a request, the nearest first."""
    near = sorted((one for one in found if nearness(one[1], calibration) >= PREFERS), key=lambda one: -one[1])
    return [Hit(memory=memory, score=similarity, similarity=similarity) for memory, similarity in near]
