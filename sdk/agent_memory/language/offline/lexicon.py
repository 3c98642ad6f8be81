"""The words that the rules know by what they do in a sentence. Plain data.

Lists are closed where the language closes them (pronouns, irregular verbs), and hold what is common elsewhere. A word
that is missing here costs recall, never truth.
"""

from __future__ import annotations

from agent_memory.text import dates
from agent_memory.text.figures import NUMBERS as NUMBERS


def words(text: str) -> frozenset[str]:
    """Reads a set of words from text, `_` standing for a space inside an entry."""
    return frozenset(word.replace("_", " ") for word in text.split())


CONTRACTIONS = {
    "can't": "can not", "cannot": "can not", "cant": "can not", "won't": "will not", "wont": "will not",
    "ain't": "is not", "let's": "let us", "gonna": "going to", "wanna": "want to", "gotta": "have got to",
    "dont": "do not", "doesnt": "does not", "didnt": "did not", "isnt": "is not", "im": "i am", "ive": "i have",
    "cuz": "because", "pls": "please", "plz": "please", "b4": "before", "w": "with", "w/": "with",
    "u": "you", "ur": "your",
}  # fmt: skip
"""What is short for more; regular endings ('m, 're, 've, 'll, n't, 's after a pronoun) are rules, not entries."""

STOPWORDS = words("""
    a an the this that these those some any each every such own same other another i me my mine myself we us our
    ours ourselves you your yours he him his she her hers it its they them their theirs user user's who whom whose
    which what where when why how be am is are was were been being do does did doing done has have had having will
    would shall should can could may might must got get gets getting and or but nor so if then than as of at by for
    with about against around into onto through from to in on off out over under up down again too also just very really
    quite so much more most many few lot lots bit kind sort of both all only there here not no yes yeah well oh ok okay
    please thanks actually basically currently now still already always usually often sometimes ever never even else
    like because while since until during 's s t d ll ve re m
""")
"""What carries no content of its own when two sentences are compared."""

MONTHS = frozenset(dates.MONTHS)
WEEKDAYS = frozenset(dates.DAYS)
TIME_WORDS = words("""
    day days week weeks weekend weekends month months year years hour hours minutes yesterday today tomorrow morning
    afternoon evening night tonight
""")

CHANGE_WORDS = words("now nowadays anymore currently instead newly recently lately again finally already")
"""What says that it was otherwise before."""

HEDGES = words("maybe perhaps probably possibly apparently tentatively hopefully")

ADVERBS = (
    CHANGE_WORDS
    | HEDGES
    | words("""
    really just also still always usually often sometimes actually definitely absolutely totally only ever hardly rarely
    mostly mainly generally normally officially basically honestly simply both all personally especially quite very so
    pretty super fully completely strictly almost nearly even rather quickly temporarily permanently regularly long once
    soon eventually then literally obviously clearly too
""")
)

TRAILING = {
    "change": words(
        "after_all any_more anymore now right_now these_days instead currently from_now_on as_of_now again"
    ),
    "additive": words("too as_well also"),
    "hedged": words("i_think i_guess i_believe maybe probably"),
    "": words("""
        though at_all lately recently already actually for_sure so_far by_the_way btw either completely really a_lot
        very_much so_much today please thanks haha lol of_course to_be_honest in_fact
    """),
}
"""What may close a clause, by the mark that it sets."""

_IRREGULAR = """
    be:am,is,are,was,were,been,being become:became begin:began,begun break:broke,broken bring:brought build:built
    buy:bought catch:caught choose:chose,chosen come:came cost:cost cut:cut do:did,does,done draw:drew,drawn
    drink:drank,drunk drive:drove,driven eat:ate,eaten fall:fell,fallen feel:felt fight:fought find:found
    fly:flew,flown forget:forgot,forgotten get:got,gotten give:gave,given go:went,gone grow:grew,grown have:had,has
    hear:heard hide:hid,hidden hit:hit hold:held hurt:hurt keep:kept know:knew,known lead:led leave:left lend:lent
    let:let lie:lay,lain lose:lost make:made mean:meant meet:met pay:paid put:put quit:quit read:read ride:rode,ridden
    ring:rang,rung rise:rose,risen run:ran say:said see:saw,seen sell:sold send:sent set:set shoot:shot show:shown
    sing:sang,sung sit:sat sleep:slept speak:spoke,spoken spend:spent stand:stood steal:stole,stolen swim:swam,swum
    take:took,taken teach:taught tell:told think:thought throw:threw,thrown understand:understood wake:woke,woken
    wear:wore,worn win:won write:wrote,written
"""
IRREGULAR = {
    form: base for base, forms in (verb.split(":") for verb in _IRREGULAR.split()) for form in forms.split(",")
}
"""Irregular forms of verbs, with their bases."""
BASE_OR_PAST = words("cost cut hit hurt let put quit read set")
"""Irregular verbs whose past looks like the base."""

BE = words("am is are was were be been being")
MODALS = words("would should could may might")
FINITE = (
    BE
    | MODALS
    | words("""
    do does did have has had will shall can must need needs costs cost starts start started begins begin began ends end
    ended finishes finished leaves leave left departs depart arrives arrive arrived lands landed takes take took runs
    run lasts last lasted moved moves changed changes went goes dropped drops rose grew became becomes gets got expires
    closes opens opened stays stayed happens lives live lived works work worked likes loves love loved prefers prefer
    hates hate wants want plays play plays studies study studied speaks speak uses use used listens requires require
    allows allow passed died shifted slipped turned turns weighs earns pays eats eat drinks drink drives drive owns own
    bought sold visited came comes makes made told said gave asked decided joined quit switched taught teaches helps
    keeps kept meets meet rotates occurs smokes deploys builds caps sits retires graduates
""")
)
"""Where the verb of a sentence with a noun for its subject may begin."""

LIKING = {
    "love": 1, "like": 1, "enjoy": 1, "adore": 1, "hate": -1, "dislike": -1, "detest": -1, "loathe": -1, "despise": -1,
    "avoid": -1,
}  # fmt: skip
"""Verbs of liking, and which way they go."""

CHANGING = words("""
    change move switch shift push postpone reschedule delay bump raise increase lower reduce cut drop update extend
    shorten bring set adjust rise grow slip go jump fall upgrade downgrade double halve triple
""")
"""Verbs that give a thing another value."""
SWITCHING = words("switch migrate move change replace swap")
"""Verbs of leaving one tool for another."""
TOOL_VERBS = words("use run deploy build write code host develop test monitor store track manage log chat")
"""Verbs of what is done with a tool."""
LASTING = words("""
    live work study graduate marry divorce retire adopt bear founded join quit leave move hire fire promote diagnose
    operate break fracture sprain sell buy rent lease own speak cancel subscribe enrol enroll relocate switch stop
    become drop ditch
""")
"""Verbs of what changes a life or a work, so that it matters without a date too."""

SYNONYMS = {
    "adore": "love", "enjoy": "love", "like": "love", "kid": "child", "kids": "child", "children": "child",
    "mom": "mother", "mum": "mother", "dad": "father", "vacation": "trip", "holiday": "trip", "holidays": "trip",
    "favourite": "favorite", "fave": "favorite", "colour": "color", "purchase": "buy", "apartment": "flat",
    "reside": "live", "begin": "start", "film": "movie", "bike": "bicycle", "job": "role", "boss": "manager",
    "supervisor": "manager", "renovation": "remodel", "stand-up": "standup", "check-up": "checkup",
    "practise": "practice", "called": "name", "wage": "salary", "company": "employer", "due": "deadline",
}  # fmt: skip
"""One word for several that say the same."""

OPENINGS = words("""
    oh ah wow hey hi hello yes yeah yep yup no nope ok okay alright sure well so anyway actually honestly basically btw
    by_the_way fyi hmm um haha lol great thanks thank_you cheers sorry right exactly definitely of_course for_sure
    got_it hi_there hello_there good_morning good_evening good_afternoon to_be_honest tbh in_fact one_more_thing also
    and but plus then remember remember_that please_remember please_remember_that please_note please_note_that note_that
    note keep_in_mind keep_in_mind_that don't_forget don't_forget_that for_the_record quick_update update correction
    on_second_thought hopefully luckily unfortunately sadly i_forgot_to_mention i_forgot_to_mention_that first_of_all
    agreed good_news big_news besides however for_context as_i_said as_mentioned to_be_clear turns_out it_turns_out
    i_mean for_me personally yes_please no_thanks not_any_more not_anymore most_importantly you_know
    speaking_of_which come_to_think_of_it just_so_you_know
""")
"""What may open a statement without belonging to it."""

COMMANDS = words("""
    summarise summarize explain tell show give write draft list translate help suggest recommend find search look
    compare rewrite fix correct check calculate generate make create describe convert remind send set schedule add
    remove delete open play stop continue repeat try go let proofread review outline brainstorm pick plan update edit
    shorten expand format rephrase run print estimate analyse analyze ignore forget read think consider imagine pretend
    act answer reply respond speak talk use keep include ask call cite avoid say quote mention book choose order
    round address start end sign put spell confirm navigate locate adjust proceed
""")
"""Imperatives that ask the listener for something."""

GENERIC = words("""
    thing things stuff time times way ways lot lots bit kind sort ton bunch couple everything something anything nothing
    life world people person moment experience idea ideas point sense reason part day days feeling feelings one ones
    everyone someone anyone others other yourself myself future past place step side chance work working better best
    more able deal new old big huge small whole real different together
""")
"""So general that a sentence of nothing else tells nothing."""

EMOTIONS = words("""
    asleep awake happy glad excited proud sorry sure thrilled grateful thankful ready okay ok fine sad upset worried
    nervous anxious tired exhausted busy stressed overwhelmed delighted pleased interested keen confident certain joking
    back here right wrong afraid surprised relieved motivated hungry bored late sick done stuck lost confused good great
    nice cool fun amazing awesome wonderful incredible fantastic beautiful lovely perfect bad awful terrible horrible
    hard tough easy important worth funny cute sweet weird strange annoying boring interesting exciting blast adorable
    crucial
""")
"""What people are for a while and say of themselves in passing, or call a thing without telling what it is."""

WEAK_VERBS = words("""
    think know see guess agree hope understand mean bet believe appreciate imagine wonder remember hear feel wish
    suppose notice realize realise recommend suggest doubt admire trust promise swear care mind can say tell talk
    seem thank ask try look forget
""")
"""Verbs of mind and speech; what follows them may be worth keeping, they are not."""

KIN = words("""
    mother mom mum dad father parents brother sister siblings son daughter sons daughters kid kids child children
    baby wife husband partner spouse fiance fiancé fiancee fiancée girlfriend boyfriend grandmother grandma
    grandfather grandpa granny nana gran aunt uncle cousin niece nephew stepmother stepfather stepson stepdaughter
    mother-in-law father-in-law brother-in-law sister-in-law son-in-law daughter-in-law in-laws family friend
    friends neighbour neighbor colleague coworker co-worker cofounder boss manager mentor roommate flatmate
    housemate dog cat puppy kitten horse rabbit hamster parrot pet team ex twin twins landlord teacher doctor
    dentist therapist coach supervisor vet accountant lawyer
""")
"""Who and what is spoken of as one's own."""
MANY_KIN = words(
    "friend friends cousin neighbour neighbor colleague coworker co-worker niece nephew aunt uncle teacher"
)
"""Of whom one has several, so that "my friend" may be another one each time."""
PARENTS = words("mum mom dad grandma grandpa granny nana gran")
"""Who is spoken of without "my"."""

STATES = words("""
    allergic vegetarian vegan pescatarian based single married divorced retired born intolerant lactose diabetic coeliac
    celiac pregnant widowed left-handed right-handed
""")
"""What people say that they are with the verb left out."""

MEASURES = words("""
    age allowance balance budget capacity cost deposit dose fee headcount height income limit mortgage port premium
    pressure price quota rate rent retention salary size speed subscription target threshold timeout tuition weight
""")
"""What things and people have that takes a number."""
ATTRIBUTES = MEASURES | words("""
    accountant address airline airport anniversary appointment arrival audit bank bday birthday branch call car ceremony
    checkin checkout checkup choir city class cloud cluster coach code color concert conference currency database
    deadline delivery demo dentist departure destination diet dinner doctor domain editor email employer event exam
    flight framework game gp graduation gym handover hometown host hotel insurer interview job kickoff landlord
    language laptop launch lesson location lunch manager match meeting mentor migration move name nickname offsite
    os party password phone pin plan practice presentation pw race region registry rehearsal release repository
    reservation return review role school shift stack standup supplier surgery surname tariff therapist tier
    timezone title trip tz university username venue version vet viewing visit webinar lawyer wedding wifi workshop yoga
""")
"""What things and people have: a time, a name, an amount."""

COUNTED = words("""
    chapter day draft episode error exercise figure floor game gate issue item level lesson line module number option
    page part phase point question round rule scene season section step story table task top unit version vol week year
""")
"""Things that people number ("step 4"), so that a figure after one is no value."""

WEAK_TOPICS = words("""
    trip vacation holiday project thing plan event app application service programme team system total overall whole
    current upcoming final original main date day time new next monthly annual yearly weekly daily amount number remodel
""")
"""Words that may be left out of a topic without making it another one."""
TOPIC_HEADS = words("""
    trip vacation holiday honeymoon cruise tour project wedding renovation remodel party course app website apartment
    flat move conference workshop thesis dissertation paper book album exhibition garden kitchen bathroom launch release
    migration campaign startup shop podcast marathon festival event reunion birthday surgery treatment internship
    interview application visa loan mortgage contract invoice report presentation dashboard pipeline cluster api sprint
    offsite training semester exam degree class lesson visit
""")
"""What people talk about for several turns: heads of the noun phrases that name a topic."""

DIETS = {
    "vegan": "meat fish dairy", "plant-based": "meat fish dairy", "vegetarian": "meat fish", "veggie": "meat fish",
    "pescatarian": "meat",
    "halal": "", "kosher": "", "gluten-free": "", "dairy-free": "dairy",
}  # fmt: skip
"""What a diet keeps off the plate, by food group."""
FOODS = {
    "meat": words("""
        meat steak beef burger lamb pork bacon ham sausage salami barbecue kebab chicken turkey duck
    """),
    "fish": words("fish seafood salmon tuna sushi shrimp"),
    "dairy": words("dairy milk cheese butter yogurt yoghurt cream egg"),
    "": words("nut peanut almond gluten bread wheat pasta alcohol wine beer coffee shellfish honey"),
}
"""Foods by group."""
MEATLESS = words("vegan veggie vegetarian plant-based oat almond soy coconut tofu free mock fake")
"""Words that turn the name of a food into that of its substitute."""

IMPORTANT = {
    "health": words("""
        allergic allergy allergies diabetic diabetes asthma epilepsy pregnant pregnancy cancer surgery diagnosed
        diagnosis medication prescribed insulin celiac coeliac intolerant doctor hospital injury injured chronic
        disability migraine migraines depression anxiety vegetarian vegan gluten-free lactose pacemaker deaf blind
        dyslexic dyslexia adhd autistic autism asthmatic epileptic wheelchair dialysis
    """),
    "money": words("budget salary rent mortgage loan debt price cost savings invoice payment deposit income tax"),
    "deadline": words("deadline due launch release expires appointment interview exam flight"),
    "life": words("""
        married engaged divorced born baby graduated promoted hired fired retired moved wedding died funeral adopted
        birthday job house
    """),
}
"""Words that raise the importance of a fact, by why."""

ROLE_ENDING = "(?:er|or|ist|ian|eer|ant|ent|nurse|chef|lead|head|intern|clerk|coach|mother|father|mum|dad|pilot|vet)"
"""How the names of what people are end."""
