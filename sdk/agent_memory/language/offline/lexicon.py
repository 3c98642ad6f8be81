"""The words that the rules know by what they do in a sentence: small words, verbs, and the formulas of talk.

Plain data. Lists are closed where the language closes them (pronouns, irregular verbs) and otherwise hold what is
common in everyday talk; a word that is missing here costs recall, never truth.
"""

from __future__ import annotations

from agent_memory.text.figures import NUMBERS as NUMBERS


def words(text: str) -> frozenset[str]:
    """Reads a set of words from text, `_` standing for a space inside an entry."""
    return frozenset(word.replace("_", " ") for word in text.split())


CONTRACTIONS = {
    "can't": "can not", "cannot": "can not", "cant": "can not", "won't": "will not", "wont": "will not",
    "shan't": "shall not", "ain't": "is not", "let's": "let us", "gonna": "going to", "wanna": "want to",
    "gotta": "have got to", "dont": "do not", "doesnt": "does not", "didnt": "did not", "isnt": "is not",
    "wasnt": "was not", "arent": "are not", "havent": "have not", "hasnt": "has not", "im": "i am",
    "ive": "i have", "i'ma": "i am going to", "youre": "you are", "theyre": "they are", "y'all": "you all",
    "'cause": "because", "cuz": "because",
}  # fmt: skip
"""What is short for more; regular endings ('m, 're, 've, 'll, n't, 's after a pronoun) are rules, not entries."""


STOPWORDS = words("""
    a an the this that these those some any each every such own same other another i me my mine myself we us our
    ours ourselves you your yours he him his she her hers it its they them their theirs user user's who whom whose
    which what where when why how be am is are was were been being do does did doing done have has had having will
    would shall should can could may might must got get gets getting and or but nor so if then than as of at by for
    with about into onto through from to in on off out over under up down again too also just very really quite so
    much more most many few lot lots bit kind sort of both all only there here not no yes yeah well oh ok okay
    please thanks actually basically currently now still already always usually often sometimes ever never even else
    like because while since until during 's s t d ll ve re m
""")
"""What carries no content of its own when two sentences are compared."""

MONTHS = words("""
    january february march april may june july august september october november december jan feb mar apr jun jul
    aug sept sep oct nov dec
""")
WEEKDAYS = words("""
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
""")

TIME_WORDS = words("""
    day days week weeks weekend weekends month months year years hour hours minutes yesterday today tomorrow
""")

MAGNITUDES = {"hundred": 100, "thousand": 1_000, "k": 1_000, "grand": 1_000, "million": 1_000_000, "m": 1_000_000}
CURRENCIES = {
    "$": "$", "usd": "$", "dollars": "$", "dollar": "$", "bucks": "$", "€": "€", "eur": "€", "euros": "€",
    "euro": "€", "£": "£", "gbp": "£", "pounds": "£", "quid": "£", "¥": "¥", "yen": "¥", "chf": "chf",
    "francs": "chf",
}  # fmt: skip

HEDGES = words("""
    maybe perhaps probably possibly might may i_think i_guess i_suppose i_believe i_feel_like not_sure not_certain
    likely kind_of sort_of apparently tentatively leaning toying thinking_about thinking_of considering
""")
"""What takes back part of what is said."""

CHANGE_WORDS = words("""
    now nowadays anymore any_more no_longer instead currently these_days today's as_of_now from_now_on new newly
    changed switched updated increased raised lowered reduced recently lately again became becoming
""")
"""What says that it was otherwise before."""

ADDITIVE_WORDS = words("also too as_well another additionally plus besides in_addition second extra")
"""What adds to what was, instead of replacing it."""

ADVERBS = words("""
    really just also still now currently already recently finally always usually often sometimes actually definitely
    absolutely totally probably maybe perhaps possibly only ever hardly rarely mostly mainly generally normally
    officially lately basically honestly truly simply both all personally kinda sorta particularly especially quite
    very so pretty super fully completely strictly newly nowadays almost nearly even rather slowly quickly
    temporarily permanently regularly typically generally long once soon eventually then secretly kindly literally
    obviously clearly seriously
""")

TRAILING = {
    "change": words("""
        any_more anymore now right_now these_days nowadays instead currently from_now_on as_of_now again at_the_moment
    """),
    "additive": words("too as_well also"),
    "hedged": words("i_think i_guess i_believe maybe probably"),
    "": words("""
        though at_all lately recently already actually for_sure so_far by_the_way btw either altogether completely
        entirely for_good really a_lot very_much so_much today please thanks haha lol since_then of_course to_be_honest
        in_fact
    """),
}
"""What may close a clause, by the mark that it sets on the claim."""

IRREGULAR = """
    be:am,is,are,was,were,been,being become:became begin:began,begun break:broke,broken bring:brought build:built
    buy:bought catch:caught choose:chose,chosen come:came cost:cost cut:cut do:did,does,done draw:drew,drawn
    dream:dreamt drink:drank,drunk drive:drove,driven eat:ate,eaten fall:fell,fallen feel:felt fight:fought find:found
    fly:flew,flown forget:forgot,forgotten get:got,gotten give:gave,given go:went,gone grow:grew,grown have:had,has
    hear:heard hide:hid,hidden hit:hit hold:held hurt:hurt keep:kept know:knew,known lead:led learn:learnt leave:left
    lend:lent let:let lie:lay,lain lose:lost make:made mean:meant meet:met pay:paid put:put quit:quit read:read
    ride:rode,ridden ring:rang,rung rise:rose,risen run:ran say:said see:saw,seen sell:sold send:sent set:set
    sew:sewn shoot:shot show:shown sing:sang,sung sit:sat sleep:slept speak:spoke,spoken spend:spent stand:stood
    steal:stole,stolen swim:swam,swum take:took,taken teach:taught tell:told think:thought throw:threw,thrown
    understand:understood wake:woke,woken wear:wore,worn win:won write:wrote,written
"""
BASE_OR_PAST = words("cost cut hit hurt let put quit read set")
"""Irregular verbs whose past looks like the base."""

AUXILIARIES = words("""
    am is are was were be been being do does did have has had will would shall should can could may might must
""")
MODALS = words("would should could may might")

FINITE = AUXILIARIES | words("""
    need needs costs cost starts start started begins begin began ends end ended finishes finished leaves leave left
    departs depart arrives arrive arrived lands landed takes take took runs run lasts last lasted moved moves
    changed changes increased decreased went goes dropped drops rose grew became becomes gets got expires closes
    opens opened stays stayed happens lives live lived works work worked likes loves love loved prefers prefer hates
    hate wants want plays play studies study studied speaks speak uses use used deploys deploy deployed listens
    requires require allows allow includes include passed died shifted slipped turned turns weighs earns pays eats
    eat drinks drink drives drive owns own bought sold visited came comes makes made told said gave asked decided
    joined quit switched migrated taught teaches helps helped keeps kept meets meet rotates occurs
""")
"""Where the verb of a sentence with a noun for its subject may begin."""

LIKING = {
    "love": 1, "like": 1, "enjoy": 1, "adore": 1, "dig": 1, "fancy": 1, "appreciate": 1, "cherish": 1,
    "hate": -1, "dislike": -1, "detest": -1, "loathe": -1, "despise": -1, "avoid": -1,
}  # fmt: skip
"""Verbs of liking, and which way they go."""

CONSUMING = words("eat drink consume")
HABITS = CONSUMING | words("""
    smoke vape play practise practice do run swim cycle ride hike climb ski dance sing paint knit bake read watch
    use wear drive speak study attend volunteer meditate journal garden jog box surf own fly gamble fast exercise
""")
"""Verbs of what people do again and again."""

STOPPING = words("stop quit drop ditch abandon cease give_up cut_out get_rid_of cancel end skip")
INTENDING = words("plan hope aim try want wish need intend expect think consider look like love prefer decide")

CHANGING = words("""
    change move switch shift push postpone reschedule delay bump raise increase lower reduce cut drop update extend
    shorten bring set adjust rise grow slip go jump fall revise double migrate upgrade downgrade convert replace
    transfer swap relocate rename bring_forward
""")
"""Verbs that give a thing another value."""

SWITCHING = words("switch migrate move change replace swap convert transition")
"""Verbs of leaving one tool for another."""

STATIVE = words("""
    be cost run start begin end finish leave depart arrive land last take weigh expire close open happen stay remain
    pay earn return listen meet occur rotate
""")
"""Verbs by which a thing has a value."""

INFORMATIVE = words("""
    live work move start join quit leave buy sell adopt marry graduate study learn teach train play travel visit go
    attend volunteer write read watch cook bake run hike swim paint make build launch deploy use switch migrate plan
    book decide choose pick prefer hate need want have own drive eat drink take pay earn save invest owe meet date
    grow bear turn celebrate finish complete win lose break injure diagnose sleep weigh practice practise collect
    speak sign register apply get open create design organize organise host perform compete donate spend begin order
    receive give rent lease hire manage lead report commute fly drive ride ski climb surf dance sing knit garden
    fish camp attend apply interview retire relocate transfer promote renovate paint repair fix install upgrade
    subscribe cancel allergic avoid wear raise foster rescue stay publish record release sketch draw photograph
    develop code program test host run own found co-found research explore try follow support coach mentor tutor
    enrol enroll pass fail keep maintain monitor schedule reschedule postpone return borrow lend inherit suffer
    recover undergo score earn see find discover bring join enter set raise paint help watch call name consider look
    tear sprain pull catch pursue network expand shoot bank spend quote miss film direct submit land secure accept
    reject miss drop pick gather attend bond hang
""")
"""Verbs that tell something of a life or a work."""


SYNONYMS = {
    "adore": "love", "enjoy": "love", "like": "love", "kid": "child", "kids": "child", "children": "child",
    "mom": "mother", "mum": "mother", "dad": "father", "vacation": "trip", "holiday": "trip", "favourite": "favorite",
    "fave": "favorite", "fav": "favorite", "colour": "color", "purchase": "buy", "automobile": "car", "apartment":
    "flat", "reside": "live", "begin": "start", "commence": "start", "film": "movie", "physician": "doctor",
    "photo": "picture", "pic": "picture", "bike": "bicycle", "cell": "phone", "mobile": "phone", "holidays": "trip",
    "job": "role", "boss": "manager", "supervisor": "manager", "fiancee": "fiance",
    "fiancée": "fiance", "fiancé": "fiance", "puppy": "dog", "kitten": "cat", "pup": "dog", "renovation": "remodel",
    "renovations": "remodel", "stand-up": "standup", "check-up": "checkup", "practise": "practice",
    "remote": "home", "called": "name",
}  # fmt: skip
"""One word for several that say the same."""


TOOL_VERBS = words("""
    use run deploy build write code host develop program ship package test monitor store track manage log message
    chat
""")
"""Verbs of what is done with a tool."""


STANDING_VERBS = words("""
    answer reply respond write speak talk use keep include ask call give cite prefer avoid format show say tell
    explain quote mention send suggest recommend book choose pick order add check round express convert address
    remind assume start end sign put spell translate schedule
""")
"""What an assistant may be asked to do always or never."""

OPENINGS = words("""
    oh ah aw aww wow woah whoa woo woohoo yay hey hi hello hiya yo yes yeah yep yup no nope nah ok okay alright sure
    well so anyway anyways actually honestly basically btw by_the_way fyi hmm um uh haha lol omg cool great awesome
    nice perfect sweet amazing thanks thank_you thanks_a_lot thanks_so_much thank_you_so_much cheers sorry right
    true exactly totally definitely absolutely of_course for_sure no_worries no_problem good_question good_point
    fair_enough got_it i_see hey_there hi_there hello_there good_morning good_evening good_afternoon no_way
    same_here me_too you_know_what guess_what just_so_you_know for_what_it's_worth to_be_honest tbh in_fact
    speaking_of_which one_more_thing another_thing also and but plus then then_again oh_and oh_yeah oh_no phew whew
    man dude remember remember_that please_remember please_remember_that please_note please_note_that note_that note
    keep_in_mind keep_in_mind_that don't_forget don't_forget_that for_the_record quick_update update correction
    on_second_thought hopefully luckily fortunately unfortunately sadly i_forgot_to_mention i_forgot_to_mention_that
    first_of_all as_for_me sounds_good sounds_great that's_great that's_awesome that_is_great glad_to_hear_it
    good_idea great_idea i_wanted_to_tell_you let_me_think hm agreed good_news great_news bad_news big_news
    on_another_note on_a_side_note side_note for_example on_the_bright_side on_that_note in_other_news
    on_top_of_that believe_it_or_not not_gonna_lie besides however although for_context as_i_said as_mentioned
    to_be_clear turns_out it_turns_out sorry_to_hear_that i_should_mention_that i_mean i_must_say i_gotta_say
    i_have_to_say for_me in_my_case personally yes_please no_thanks more_importantly most_importantly importantly
    all_right aww you_know the_thing_is still
""")
"""What may open a statement without belonging to it."""

CHATTER_OPENERS = words("""
    thanks thank_you hi hello hey bye goodbye cheers good_morning good_evening good_afternoon good_night see_you
    see_ya talk_soon talk_to_you take_care congrats congratulations welcome you're_welcome no_problem no_worries
    my_pleasure nice_to_meet good_to_see good_to_hear great_to_hear glad_to_hear happy_to_hear sorry_to_hear
    long_time_no_see happy_birthday good_luck best_of_luck keep_it_up keep_up way_to_go well_done great_job good_job
    nice_work sounds_good sounds_great sounds_like looks_great looks_good looks_like sure_thing never_mind nevermind
    here's here_is here_are check_it_out check_out take_a_look have_fun have_a catch_you wish_me let_me_know
    let_me_think let_me_see can't_wait can_not_wait hope_you hope_to hopefully it_was_nice enjoy_your glad_you
    glad_it so_glad so_happy_for so_proud proud_of_you rock_on go_for_it same_here me_too i_agree i_see i_know
    i_understand i_hear you_bet that_is_all that's_all speaking_of
""")

ASSISTANT_COMMANDS = words("""
    summarise summarize explain tell show give write draft list translate help suggest recommend find search look
    compare rewrite fix correct check calculate generate make create describe convert remind send set schedule add
    remove delete open play stop continue repeat try go let proofread review outline brainstorm pick plan update
    edit shorten expand format rephrase run print compute estimate analyse analyze walk ignore disregard forget read
    think consider imagine pretend act roleplay
""")
"""Imperatives that ask the assistant for something once."""

GENERIC_NOUNS = words("""
    thing things stuff time times way ways lot lots bit kind sort ton bunch couple everything something anything nothing
    life world people person moment moments experience idea ideas point sense reason part day days feeling feelings
    one ones everyone someone anyone others other yourself myself ourselves future past place step side chance work
    working better best more able deal new old big huge small whole real different together
""")
"""Nouns and adjectives so general that a sentence of nothing else tells nothing."""

EMOTIONS = words("""
    happy glad excited proud sorry sure thrilled grateful thankful ready okay ok fine good great sad upset worried
    nervous anxious tired exhausted busy stressed overwhelmed delighted pleased interested keen confident certain
    kidding joking back here right wrong afraid surprised relieved motivated hungry bored late sick
""")
"""What people are for a while, and say of themselves in passing."""

PRAISE = words("""
    good great nice cool fun amazing awesome wonderful incredible fantastic beautiful lovely perfect bad awful terrible
    horrible hard tough easy important worth funny cute sweet weird strange annoying boring interesting exciting blast
""")
"""What people call a thing without telling what it is."""

LANGUAGES = words("""
    python java javascript typescript golang rust ruby php kotlin swift scala elixir django flask fastapi rails laravel
    spring express next.js node node.js deno docker kubernetes k8s nginx redis elasticsearch graphql grpc
""")
"""Languages and frameworks of programmers, besides the tools by what they do."""

WEAK_VERBS = words("""
    think know see guess agree hope understand mean bet believe appreciate imagine wonder remember hear feel wish
    suppose notice realize realise recommend suggest doubt admire trust promise swear care mind can say tell talk
    seem thank ask
""")
"""Verbs of mind and speech; what follows them may be worth keeping, they are not."""
