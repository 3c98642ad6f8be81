"""The things that people talk about, as far as the rules know them: people, food, places, attributes, tools, topics."""

from __future__ import annotations

from agent_memory.language.offline.lexicon import words

KIN = words("""
    wife husband spouse partner fiancé fiancée fiance fiancee girlfriend boyfriend mother father mom mum dad mommy
    daddy parents parent sister brother sisters brothers sibling siblings twin son daughter sons daughters kid kids
    child children baby toddler teenager grandmother grandfather grandma grandpa granny nana gran grandparents
    grandson granddaughter aunt uncle cousin cousins niece nephew mother-in-law father-in-law sister-in-law
    brother-in-law in-laws stepmother stepfather stepson stepdaughter family fam roommate flatmate housemate friend
    friends buddy bestie neighbor neighbour neighbors neighbours coworker colleague colleagues coworkers boss
    manager supervisor mentor coach teacher tutor therapist doctor dentist team crew band landlord dog cat puppy
    kitten pup horse rabbit parrot hamster turtle turtles pet pets dogs cats client clients
""")
"""Those in one's life who may be the subject of a fact."""

MANY_KIN = words("""
    friend friends cousin cousins colleague colleagues coworker coworkers client clients neighbor neighbors neighbour
    neighbours uncle aunt buddy niece nephew in-laws housemate
""")
"""Those of whom one usually has several, so that two statements need not be about the same."""

JOBS = words("""
    engineer developer programmer designer teacher professor lecturer nurse doctor surgeon dentist vet veterinarian
    pharmacist paramedic physiotherapist therapist psychologist counselor counsellor lawyer attorney paralegal
    accountant auditor banker broker analyst scientist researcher consultant manager director architect plumber
    electrician carpenter mechanic welder builder contractor driver pilot sailor captain soldier firefighter officer
    detective guard chef cook baker barista bartender waiter waitress server cashier salesperson realtor agent
    writer author journalist editor reporter translator interpreter artist painter illustrator photographer musician
    singer dancer actor actress producer filmmaker animator librarian archivist administrator assistant secretary
    receptionist recruiter marketer strategist planner coordinator supervisor foreman technician operator farmer
    gardener florist butcher tailor hairdresser barber stylist influencer streamer entrepreneur founder ceo cto cfo
    coo vp president intern apprentice student freelancer contractor freelance retired unemployed trainer coach
    athlete tutor principal dean judge clerk courier pastor priest biologist chemist physicist economist
    statistician geologist historian curator sre devops dba pm ux investor trader
""")

DEPARTMENTS = words("""
    marketing sales engineering finance hr legal support product operations design research it accounting
    procurement logistics security data platform infrastructure communications compliance r&d
""")

RELATIONSHIPS = words("single married engaged divorced widowed separated dating in_a_relationship")


DIETS = {
    "vegan": words("meat poultry seafood dairy egg honey"),
    "vegetarian": words("meat poultry seafood"),
    "veggie": words("meat poultry seafood"),
    "plant-based": words("meat poultry seafood dairy egg"),
    "pescatarian": words("meat poultry"),
    "pescetarian": words("meat poultry"),
    "meat-free": words("meat poultry"),
    "halal": words("pork alcohol"),
    "kosher": words("pork shellfish"),
    "teetotal": words("alcohol"),
    "sober": words("alcohol"),
    "gluten-free": words("gluten"),
    "dairy-free": words("dairy"),
    "lactose-intolerant": words("milk"),
    "omnivore": frozenset[str](),
    "carnivore": frozenset[str](),
}
"""What a diet keeps off the plate, by food group."""

EATING_DIETS = words("vegan vegetarian plant-based pescatarian pescetarian omnivore carnivore veggie")
"""Diets of which a person has one at a time."""

FOODS = {
    "meat": words("""meat steak steaks beef burger burgers hamburger hamburgers lamb veal venison ribs brisket meatballs
        meatball sausage sausages salami barbecue bbq mutton goat pastrami jerky kebab kebabs bolognese ribeye sirloin
        pork bacon ham prosciutto chorizo pepperoni carnitas"""),
    "pork": words("pork bacon ham prosciutto chorizo pepperoni carnitas"),
    "poultry": words("poultry chicken turkey duck goose wings nuggets"),
    "seafood": words("""seafood fish salmon tuna cod trout sushi sashimi shrimp shrimps prawn prawns lobster lobsters
        crab crabs oyster oysters mussels clams squid calamari octopus anchovies sardines mackerel shellfish scallops
        ceviche poke"""),
    "fish": words("fish salmon tuna cod trout sashimi anchovies sardines mackerel"),
    "shellfish": words("""shellfish shrimp shrimps prawn prawns lobster lobsters crab crabs oyster oysters mussels clams
        scallops"""),
    "dairy": words(
        "dairy milk cheese cheeses butter yogurt yoghurt cream ice_cream brie cheddar mozzarella latte gelato "
        "cheesecake lattes"
    ),
    "milk": words("milk milkshake milkshakes"),
    "egg": words("egg eggs omelette omelet omelettes frittata"),
    "honey": words("honey"),
    "alcohol": words(
        "alcohol wine wines beer beers whisky whiskey vodka gin rum cocktail cocktails champagne sake tequila bourbon"
    ),
    "nut": words("nuts nut almonds cashews walnuts hazelnuts pistachios pecans"),
    "peanut": words("peanut peanuts peanut_butter"),
    "gluten": words("gluten bread bagels wheat baguette croissants"),
    "caffeine": words("caffeine coffee espresso cappuccino latte lattes"),
    "coffee": words("coffee espresso cappuccino latte lattes americano"),
    "tea": words("tea matcha chai"),
}
"""Foods by group; a food may lie in several."""


TRAITS = words("""
    left-handed right-handed ambidextrous colour-blind colorblind color-blind deaf blind dyslexic bilingual
    introvert introverted extrovert extroverted religious atheist pregnant diabetic asthmatic epileptic autistic
    retired unemployed shy tall widowed nearsighted
""")
"""What people say that they are, in a word."""

JOB_ENDINGS = ("ologist", "ician", "grapher", "smith", "keeper", "monger")
"""How many names of trades end that are too many to list."""

NOT_FIRST_NAMES = words("""
    american argentinian australian austrian belgian brazilian british bulgarian canadian catholic chilean chinese
    christian colombian croatian cuban czech danish dutch egyptian english estonian finnish french german ghanaian
    greek hindu hungarian icelandic indian indonesian iranian irish israeli italian jamaican japanese jewish kenyan
    korean latvian lithuanian malaysian mexican moroccan muslim nigerian norwegian pakistani peruvian polish
    portuguese romanian russian scottish serbian slovak spanish swedish swiss thai turkish ukrainian vegan
    vegetarian vietnamese welsh buddhist republican democrat libra leo virgo aries taurus gemini cancer scorpio
    sagittarius capricorn aquarius pisces
""") - words("christian leo")
"""Capitalised words that people are, besides their names."""

COUNTRIES = words("""
    argentina australia austria bangladesh belgium brazil bulgaria cambodia canada chile china colombia croatia cuba
    cyprus czechia denmark egypt england estonia ethiopia finland france germany ghana greece hungary iceland india
    indonesia iran iraq ireland israel italy jamaica japan jordan kenya latvia lebanon lithuania luxembourg malaysia
    malta mexico morocco nepal netherlands new_zealand nigeria norway pakistan peru philippines poland portugal
    romania russia scotland serbia slovakia slovenia south_africa south_korea spain sri_lanka sweden switzerland
    taiwan tanzania thailand the_netherlands the_uk the_us the_usa tunisia turkey uganda uk ukraine united_kingdom
    united_states uruguay us usa venezuela vietnam wales alabama alaska arizona california colorado florida georgia
    hawaii illinois indiana kansas louisiana maryland massachusetts michigan minnesota montana nebraska nevada
    new_jersey new_mexico ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington_state
    wisconsin europe asia africa
""")
"""Countries and states: a city in one of them does not contradict it."""


ATTRIBUTES = {
    "number": words("""
        budget salary rent mortgage price cost fee income wage headcount weight height age limit timeout port quota
        target capacity dose dosage size allowance stipend deposit speed threshold rate pressure cholesterol hourly_rate
        retention replicas memory subscription tuition allocation cap deductible premium balance pace
    """),
    "date": words("""
        deadline due_date birthday anniversary launch release go-live appointment meeting wedding departure arrival
        return flight interview exam surgery checkup check-up standup stand-up demo retro review presentation party
        ceremony conference trip move kickoff kick-off handover start_date end_date check-in checkout check-out viewing
        delivery call class lesson practice rehearsal game match race marathon concert recital graduation audit
        migration freeze cutover workshop webinar sync session visit reservation lunch dinner event due_day closing
    """),
    "name": words("""
        manager boss supervisor employer company city hometown school university college doctor dentist therapist physio
        gp bank landlord hotel airline provider insurer insurance gym car laptop phone address neighborhood
        neighbourhood airport carrier vendor supplier lead mentor coach advisor assistant contact nickname surname name
        major roommate
    """),
    "label": words("""
        region database framework cloud editor ide os registry timezone branch environment cluster repository language
        username email zip postcode currency orchestrator queue host stack theme domain password pin
    """),
    "text": words("""
        role job title position seat colour color shift diet version size tier destination blood_type
        email e-mail username
    """),
}

ATTRIBUTE_SYNONYMS = {
    "due date": "deadline", "go-live": "launch", "release date": "release", "launch date": "launch",
    "supervisor": "manager", "boss": "manager", "colour": "color", "position": "role", "title": "role", "job": "role",
    "job title": "role", "company": "employer", "dosage": "dose", "neighbourhood": "neighborhood",
    "checkup": "check-up",
    "stand-up": "standup", "kick-off": "kickoff", "check-out": "checkout", "wage": "salary", "pay": "salary",
    "college": "university", "physio": "physiotherapist", "takeoff": "departure", "city": "residence",
}  # fmt: skip

WEAK_TOPICS = words("""
    trip vacation holiday getaway project thing plan event app application service program programme initiative
    stuff journey team system work total overall whole current upcoming final original main date day time new next
    monthly annual yearly weekly daily amount number renovation remodel spending
""")
"""Words that may be left out of a topic without making it another one."""

MEATLESS = words("""
    vegan veggie vegetarian plant plant-based oat almond soy soya coconut tofu tempeh seitan cauliflower impossible
    beyond fake mock peanut lentil bean mushroom root ginger non-alcoholic alcohol-free decaf decaffeinated
    portobello cashew jackfruit free cocoa shea virgin
""")
"""Words that turn the name of a food into that of its substitute, or of another food."""

TOOLS = {
    "cluster deployment": words("helm kustomize argocd argo flux kubectl skaffold ansible"),
    "continuous integration": words(
        "jenkins github_actions gitlab_ci circleci travis buildkite teamcity azure_pipelines"
    ),
    "relational database": words("postgres postgresql mysql mariadb sqlite oracle sql_server cockroachdb"),
    "document database": words("mongodb mongo cosmos_db dynamodb couchdb firestore"),
    "cloud": words("aws azure gcp google_cloud digitalocean heroku hetzner"),
    "chat": words("slack teams microsoft_teams discord mattermost zulip"),
    "editor": words("vscode vs_code vim neovim emacs pycharm intellij sublime zed cursor"),
    "package manager": words("npm yarn pnpm bun"),
    "python packaging": words("pip poetry uv pipenv conda pdm"),
    "frontend framework": words("react vue angular svelte solid"),
    "issue tracker": words("jira linear trello asana github_issues clickup monday.com"),
    "notes": words("notion obsidian evernote onenote roam logseq apple_notes"),
    "browser": words("chrome firefox safari edge brave arc"),
    "music service": words("spotify apple_music tidal deezer youtube_music"),
    "registry": words("docker_hub dockerhub ecr gcr ghcr acr harbor artifactory quay"),
    "message broker": words("kafka rabbitmq nats pulsar sqs"),
    "infrastructure": words("terraform pulumi bicep cloudformation opentofu"),
    "observability": words("datadog grafana prometheus new_relic splunk honeycomb"),
    "source control": words("github gitlab bitbucket"),
    "design": words("figma sketch adobe_xd"),
    "video calls": words("zoom google_meet webex skype"),
    "operating system": words("windows linux macos ubuntu fedora arch"),
    "phone": words("iphone android pixel"),
    "finance": words("ynab mint quicken excel quickbooks xero freshbooks"),
    "test runner": words("jest vitest mocha pytest unittest"),
}
"""Tools that do the same work, so that switching to one means leaving another."""

IMPORTANT = {
    "health": words("""allergic allergy allergies anaphylaxis diabetic diabetes asthma asthmatic epilepsy pregnant
        pregnancy cancer surgery diagnosed diagnosis medication prescribed insulin blood pressure celiac coeliac
        intolerant doctor hospital injury injured chronic disability migraine migraines depression anxiety vegetarian
        vegan gluten-free lactose"""),
    "money": words("budget salary rent mortgage loan debt price cost savings invoice payment deposit income tax"),
    "deadline": words("deadline due launch release expires appointment interview exam flight"),
    "life": words("""married engaged divorced born baby graduated promoted hired fired retired moved wedding died
        funeral adopted adoption birthday job house"""),
}
"""Words that raise the importance of a fact, by why."""

TOPIC_HEADS = words("""
    trip vacation holiday getaway honeymoon cruise tour project wedding renovation remodel party class course app
    service website house apartment flat move conference meeting workshop thesis dissertation paper book novel album
    exhibition garden kitchen bathroom bedroom garage roof launch release migration deployment campaign startup shop
    store studio business podcast blog game tournament marathon race championship recital concert festival event
    reunion anniversary birthday dinner barbecue picnic gym yoga pottery lesson lessons appointment surgery
    treatment therapy medication diet car bike van boat flight hotel villa airbnb cottage cabin internship interview
    job application visa loan mortgage insurance subscription membership policy contract invoice report presentation
    dashboard pipeline cluster database server api gateway backend frontend feature sprint team offsite onboarding
    training program programme scholarship semester exam degree fundraiser charity season league match puppy dog cat
    commute schedule shift laptop phone camera server conference exhibit gig tour play film movie screenplay script
    pension bathroom basement deck pool fence catering venue photographer band dress shoes standup rehearsal
""")
"""What people talk about for several turns: heads of the noun phrases that name a topic."""

DEPENDENT = {
    "budget": "money", "cost": "money", "price": "money", "fee": "money", "quota": "money",
    "deadline": "time", "timeline": "time",
    "headcount": "any", "venue": "any", "date": "any", "size": "any", "target": "any",
    "limit": "any", "duration": "any",
}  # fmt: skip
"""Attributes that say nothing without what they are of, and the sort of topic that has them."""

FITTING_TOPICS = {
    "money": words("""
        trip vacation holiday getaway honeymoon cruise tour project wedding renovation remodel party course house
        apartment flat move conference workshop book album exhibition garden kitchen bathroom bedroom garage roof launch
        migration campaign startup shop store studio business podcast game festival event reunion birthday dinner picnic
        treatment car bike van boat flight hotel villa laptop phone camera server offsite training degree fundraiser
        film movie basement deck pool fence catering venue photographer band dress team
    """),
    "time": words("""
        project thesis dissertation paper book novel album exhibition renovation remodel kitchen bathroom app service
        website migration deployment campaign startup podcast game application visa loan contract report presentation
        dashboard pipeline api feature program programme scholarship fundraiser course film movie screenplay script
        internship mortgage invoice launch release
    """),
}
"""The heads of the topics that have a budget, or a deadline."""
