"""Which facts the offline rules call the same, which exclude each other, and which they leave alone."""

import sys
from datetime import UTC, datetime, timedelta

import pytest

from agent_memory.language.grounding.ground import ground
from agent_memory.language.offline.reconcile import reconcile
from agent_memory.language.tasks import FactView, ReconcileInput, ReconcileOutput

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def facts(*contents: str) -> ReconcileInput:
    """Facts said a month apart, given oldest first; f1 is the newest, as the store hands them over."""
    views = [
        FactView(ref=f"f{len(contents) - at}", kind="fact", content=text, said_at=START + timedelta(days=30 * at))
        for at, text in enumerate(contents)
    ]
    return ReconcileInput(facts=views[::-1])


def verdict(older: str, newer: str) -> str:
    output = reconcile(facts(older, newer))
    assert not (output.duplicates and output.contradictions)
    if output.duplicates:
        return "duplicate"
    return output.contradictions[0].reason if output.contradictions else "neither"


UPDATES = [
    ("I'm 32, so I'm in my thirties.", "I'm 33 years old now."),
    ("I'm 32 years old.", "I turned 33 on Friday."),
    ("I'm 32.", "I'm 33 now, the passport expired."),
    ("My son Leo is 7 years old.", "My son Leo is 8."),
    ("We're on EKS 1.29.", "We're on EKS 1.31 now."),
    ("We're on EKS 1.29.", "We upgraded to EKS 1.31 over the weekend."),
    ("I live in Leipzig.", "We live in Halle now, the flat in Leipzig was too small."),
    ("Vet's name is Doc Sorensen.", "Our vet is Dr. Klein now."),
    ("My vet's name is Doc Sorensen.", "Our vet is now Dr. Klein."),
    # notes without a verb, and what they say is wrong
    ("Bins wed, recycling every 2nd", "Bins thu not wed, told u wrong"),
    ("Locker 88", "Locker 31 now"),
    ("Our anniversary is the 17th", "Our anniversary's the 18th, not the 17th"),
    ("Amlodipine 5 mg at night", "Dr Lind doubled the amlodipine to 10, since last Wednesday"),
    ("I'm pescatarian, so fish is fine", "Vegetarian now, full stop"),
    ("Ana: Stand-up is at 9:30 in the Aquarium, every day but Wednesday", "Ana: Stand-up's been moved too, 10:15"),
    ("The nightly import runs at 02:15 UTC", "I pushed the import to 04:00, it was fighting with the backups"),
    ("elise: I live in Lisbon", "elise: I moved to Porto"),
    ("My budget is $10,000.", "good news: my budget is now $15,000"),
    ("My budget is $10,000.", "Reminder: my budget is now $15,000"),
    ("öykü: My budget is $10,000", "öykü: My budget is now $15,000"),
    # amounts
    ("My budget for the Hawaii trip is $10,000.", "My budget for the Hawaii trip is now $15,000."),
    ("The Hawaii budget is $10k", "Our budget for Hawaii went up to $15,000"),
    ("User's budget for Hawaii is $10,000", "My budget for Hawaii is now $15,000 (Hawaii trip)"),
    ("Our budget for the Hawaii trip is $10,000.", "We raised the budget from $10,000 to $15,000."),
    ("Our budget for the Hawaii trip is $10,000, flights included.", "We've raised the Hawaii budget to $15,000."),
    ("I pay $1,200 in rent", "My rent is now 1300 dollars"),
    ("I weigh 90 kilos", "I weigh 84 kilos now"),
    ("I take 20 mg of lisinopril", "I take 40 mg of lisinopril now"),
    ("I work 5 days a week", "I work four days a week now"),
    ("I go to the gym twice a week", "I go to the gym four times a week now"),
    ("Our API listens on port 3000", "Our API listens on port 4000"),
    ("I'm 29 years old", "I'm 30 years old"),
    ("I have two kids", "We have three kids now"),
    ("I take 20 mg of citalopram.", "I'm down to 10 mg of citalopram."),
    # times
    ("The launch is in April", "We moved the launch to May"),
    ("The thesis is due on 1 September", "The thesis deadline is 15 September now"),
    ("My flight leaves on 12 June", "My flight now leaves on June 14"),
    ("My hip op is on 3 March", "The hip op got pushed back again, it's 9 June now"),
    ("Our budget is 48k all in", "The board topped up the budget, it stands at 55k"),
    ("I live in Leiden", "I moved in with my girlfriend Noor in Utrecht"),
    ("standup is at 9:30", "Our standup is now at 10"),
    ("My dentist appointment is on 3 May at 10:00", "My dentist appointment is on 3 May at 11:30"),
    ("The standup is on Mondays at 9:15", "The standup is on Mondays at 9:45"),
    ("The train from Porto leaves at 18:15", "The train from Porto leaves at 19:15 now"),
    ("The check-out is at 11:00", "The check-out is at noon now"),
    ("My train from Porto to Lisbon leaves at 9:15", "My train to Lisbon now leaves at 9:45"),
    ("My dentist appointment is on 3 May at 10:00", "My dentist appointment is not on 3 May"),
    ("Yoga class is every Thursday", "Yoga class moved to Tuesdays"),
    ("The release is planned for March 15th", "The release has slipped to April 2nd"),
    ("We want to fly out on March 12, 2027", "We now fly out on March 19, 2027"),
    ("I work from home on Tuesdays", "I work from home on Mondays and Fridays now"),
    # places, work, people
    ("I live in Lisbon.", "I now live in Porto."),
    ("I live in Ghent with my girlfriend", "We've relocated to Antwerp"),
    ("My brother lives in Toronto", "My brother moved to Calgary"),
    ("I work at Nuvela as a data engineer", "I left Nuvela"),
    ("I work at Siemens", "I started working at Bosch"),
    ("The movers are Huber & Sons", "Jonas found a cheaper mover, Umzug24 for 1,100 euros, so we cancelled Huber."),
    ("Our lawyers are Osborne & Vale.", "We dropped Osborne & Vale"),
    ("My boss is called Henrik", "My new boss is Sofia"),
    ("I'm engaged", "We got married on Saturday"),
    ("I drive a Toyota", "I drive a Tesla now"),
    # habits and diets
    ("I love a good steak for dinner", "I'm vegetarian now"),
    ("I love coffee", "I don't drink coffee any more"),
    ("I drink coffee every morning", "I gave up coffee"),
    ("I'm a vegetarian", "I'm vegan now"),
    ("I'm vegan", "I eat cheese again"),
    ("I smoke", "I quit smoking"),
    ("I play the guitar", "I don't play the guitar any more"),
    ("I'm allergic to peanuts", "I'm no longer allergic to peanuts"),
    ("I have a car", "I don't have a car any more"),
    ("I prefer window seats", "I prefer aisle seats now"),
    # tools and plans
    ("Our registry is Harbor, at harbor.example", "We've switched from Harbor to GitHub Container Registry"),
    ("We use Jenkins for CI", "We replaced Jenkins with GitHub Actions"),
    ("We use Jira for tracking issues", "We moved from Jira to Linear"),
    ("I'm planning a trip to Hawaii", "The Hawaii trip is cancelled"),
    # what the newer fact itself says is over
    ("We host on railway", "We moved from railway to fly.io"),
    ("We deploy to Fly.io", "We're off Fly.io, everything runs on Hetzner"),
    ("I drive a Golf", "I sold the Golf"),
    ("I work at Orange", "I quit Orange in March"),
    ("I work for Orange as an engineer", "I've started at Bouygues"),
    ("I prefer email", "I prefer Slack now, not email"),
    ("I smoke a pack a day", "I quit smoking last month"),
    ("I use Notion for notes", "I switched to Obsidian for notes"),
    ("The retro is on Wednesday", "Retro moved to Thursday"),
    # versions, addresses, what a thing is now
    ("We're on Node 18", "We upgraded to Node 22"),
    ("We run Kubernetes 1.28", "We upgraded Kubernetes to 1.30"),
    ("Our prod db is Postgres 15", "Our prod db is Postgres 17 now"),
    ("My email is ana@old.example", "My email changed to ana@new.example"),
    ("The venue is the Old Mill", "The venue is the Boathouse now"),
    # the change is told in other words than what it changes
    ("I'm an ICU nurse at St. Mary's.", "I work at Mercy General now."),
    ("I work as a barista at Blue Bottle.", "I started a new job at Philz last week."),
    ("I take warfarin every evening.", "My doctor took me off warfarin."),
    ("I take 10 mg of lisinopril every morning.", "I stopped taking lisinopril."),
    ("I'm on amlodipine.", "I'm off amlodipine now."),
    ("I'm on sertraline 50 mg.", "I came off sertraline in May."),
    ("I live with Paloma.", "Paloma moved out last weekend."),
    ("I'm dating Tom.", "Tom and I broke up."),
    ("My girlfriend is called Anna.", "Anna and I split up."),
    ("I work at Siemens.", "I quit Siemens."),
    ("I work at Siemens.", "I got laid off from Siemens."),
    ("I work at Siemens.", "I handed in my notice at Siemens."),
    ("I smoke ten cigarettes a day.", "I quit smoking in March."),
    ("I smoke.", "I don't smoke any more."),
    ("I have a dog named Max.", "Max died last week."),
    ("I have a dog named Max.", "We had to put Max down."),
    ("I drive a VW Golf.", "I sold the Golf."),
    ("I drive a VW Golf.", "I traded the Golf in for a Tesla."),
    ("I use Notion for my notes.", "I moved my notes to Obsidian."),
    ("We use Jenkins for CI.", "We switched CI to GitHub Actions."),
    ("We use Jenkins for CI.", "CI runs on GitHub Actions now."),
    ("We deploy to Heroku.", "We migrated off Heroku to Fly."),
    ("I'm vegetarian.", "I started eating meat again."),
    ("I'm vegan.", "I eat fish now."),
    ("I don't drink alcohol.", "I'm drinking again."),
    ("I'm married to Lena.", "Lena and I got divorced."),
    ("I'm engaged to Mark.", "Mark and I got married in June."),
    ("My gym is FitX.", "I cancelled my FitX membership."),
    ("My sister lives in Cromer.", "My sister moved to Norwich."),
    ("My sister Jean lives in Cromer.", "Jean moved to Norwich."),
    ("I'm learning Spanish.", "I gave up on Spanish."),
    ("I'm training for the Berlin marathon.", "I dropped out of the Berlin marathon."),
    ("My flight is on 3 June.", "My flight got moved to 5 June."),
    ("The wedding is on 12 September.", "We postponed the wedding to May."),
    ("The wedding is on 12 September.", "We called off the wedding."),
    ("My dentist is Dr. Huber.", "I have a new dentist, Dr. Klein."),
    ("My landlord is Mr. Fox.", "Our new landlord is Ms. Reed."),
    ("My favourite colour is green.", "Blue is my favourite colour now."),
    ("I weigh 82 kg.", "I'm down to 78 kg."),
    ("My rent is 900 a month.", "The rent went up to 950."),
    ("I prefer window seats.", "I'd rather have aisle seats now."),
    ("I run 5k every morning.", "I stopped running because of my knee."),
    ("I live in Berlin.", "We've settled into our new place in Leipzig."),
    ("I live in Berlin.", "I'm based in Leipzig now."),
    ("I study physics.", "I dropped out of physics."),
    ("I'm 34.", "I turned 35 yesterday."),
    ("I'm pescatarian.", "I eat meat again."),
    ("I'm vegetarian.", "I started eating meat again."),
    ("I take warfarin 5 mg in the evening.", "Dr. Osei took me off warfarin, I'm on apixaban now."),
    ("I take warfarin 5 mg in the evening.", "I stopped taking warfarin."),
    ("I take warfarin 5 mg in the evening.", "I'm on apixaban instead of warfarin now."),
    ("Deadline for the cover is 27 November.", "The deadline for the cover moved to December 4."),
    ("I work as a nurse.", "I quit nursing."),
    ("My boyfriend is called Max.", "We broke up."),
    ("My boyfriend is called Max.", "Max and I broke up."),
    ("My boyfriend is called Max.", "I'm single now."),
    ("I live in Porto.", "I live in Lisbon now."),
    ("We live in Porto.", "We moved back to Braga."),
    ("I have 11 staff.", "I have 10 staff now."),
    ("I owe my cousin 300.", "I don't owe my cousin anything any more."),
    ("Dont text me before 2pm.", "You can text me in the morning again."),
    ("Please don't call me.", "You can call me again."),
    ("Please always write in British spelling.", "No need for the British spelling any more."),
    ("My day rate is 280.", "Putting the day rate up to 310 from November."),
    ("Our rent is 900.", "We put the rent up to 950."),
    ("Ollie has chess club on Tuesdays.", "Ollie quit chess club."),
    ("Ollie has chess club on Tuesdays.", "We took Ollie out of chess club."),
    ("Bea is allergic to eggs.", "Bea isn't allergic to eggs any more."),
    ("Bea is allergic to eggs.", "Bea can eat eggs now."),
    ("My best man is my brother Ewan.", "My best man is Fraser now."),
    ("My best man is my brother Ewan.", "Fraser is my best man now."),
    ("Our builder is Piotr.", "Our builder is Brennan & Daughters now."),
    ("My wife's number is 0117 496 0182.", "My wife's number has changed: 0117 496 0377."),
    ("My wife's number is 0117 496 0182.", "My wife's new number is 0117 496 0377."),
    ("I always want an aisle seat.", "I want a window seat from now on."),
    ("Always book me an aisle seat.", "Always book me a window seat."),
    ("Our D&D group plays on Fridays.", "We've moved D&D to every other Sunday."),
    ("My novel is called Salt Hours.", "My novel is called The Keeper of Farrow Light now."),
]

CONTRADICTIONS = [
    ("I love steak", "I'm vegetarian"),
    ("I love hiking", "I hate hiking"),
    ("I can't drive", "I can drive"),
    ("I prefer tea to coffee", "I prefer coffee to tea"),
    ("We use npm", "We use pnpm not npm"),
    ("I use zsh", "I use fish instead of zsh"),
    ("My favourite colour is green", "My favorite color is blue"),
]

DUPLICATES = [
    ("I swim on Tuesdays at 7:00", "I swim on Tuesdays at 7 am"),
    ("I run 5 km on Mondays", "I run 5km on Mondays"),
    ("I fly to Oslo on 3 May and back on 5 May", "I fly to Oslo on May 3rd and back on May 5th"),
    ("I am allergic to nuts.", "I'm allergic to nuts"),
    ("I live in Lisbon", "I'm based in Lisbon"),
    ("My manager is Ana", "I report to Ana"),
    ("I enjoy hiking", "I really love hiking"),
    ("We raised the kitchen budget to $14k", "The budget for the kitchen remodel is $14,000"),
    ("My dog's name is Bruno", "I have a dog named Bruno"),
    ("Maria is still volunteering at the homeless shelter.", "Maria has been volunteering at a homeless shelter"),
]

NEITHER = [
    ("I'm a 29-year-old nurse from Torun.", "I'm 30."),
    ("My son Leo is 7 years old.", "My daughter Ana is 8."),
    ("I'm 80, and my wife is 79.", "I'm 80 kg."),
    ("We're 5, two adults and three kids.", "I'm 36."),
    ("I'm 30.", "I'm 4 and a half kilos lighter."),
    ("I'm 30.", "I'm 2 and 0 in the league."),
    ("Box 1 contains winter clothes", "Box 2 contains summer clothes"),
    ("Locker 2 holds skis", "Locker 3 holds boots"),
    ("Version 2.0 introduced dark mode", "Version 3.0 introduced tabs"),
    ("Invoice 17 includes shipping", "Invoice 18 includes tax"),
    ("Lesson 3 on Monday", "Lesson 4 on Tuesday"),
    ("We run Postgres 15.", "We run Redis 7 now."),
    ("We use Python 3.11.", "We use Python 3.12 for the new service."),
    ("My dog's name is Rex.", "My dog's name is Max."),
    ("My vet is Dr. Klein.", "My vet is lovely."),
    ("My sister's name is Ana.", "My sister is a nurse."),
    ("I prefer window seats on trains.", "I prefer aisle seats on planes."),
    ("I prefer dark mode in the editor", "I prefer light mode in the terminal"),
    ("We use Slack with clients.", "We moved from Slack to Teams for internal chat."),
    ("My brother works with Huber.", "We cancelled Huber."),
    ("Locker 88", "Gym 31"),
    ("Bins wed", "Recycling thu not wed"),
    ("The photo import runs at 02:15", "I pushed the invoice import to 04:00"),
    ("Maria: I'll volunteer at shelters next month", "Maria: I started volunteering here about a year ago"),
    ("elise: Today (5 January 2024) we play basketball.", "elise: Last year (2023) we went to Tulum, Mexico."),
    ("sam_92: After the game we all went home.", "sam_92: Yoga is totally a work-out."),
    ("I'm using SQLite 3.39 as my database", "I'm currently using Gunicorn 20.1.0."),
    ("I've achieved 99.9% uptime over 7 days", "I've achieved 85% test coverage on core modules."),
    ("My favorite team is Inter Milan", "My all-time favorite smoothie is banana"),
    ("My favorite team is Inter-Milan.", "My all time favorite is Banana-Blueberry."),
    # other topics, or a topic on one side only
    ("My budget for Hawaii is $10,000", "My budget for the kitchen is $12,000"),
    ("My budget is $10,000", "My budget for the kitchen renovation is $12,000"),
    ("The course starts in May", "The course ends in June"),
    ("My dentist appointment is on Tuesday", "My therapist appointment is on Friday"),
    ("Our flight to Rome is on May 4", "Our flight to Athens is on June 9"),
    ("The staging cluster runs Kubernetes 1.28", "The production cluster runs Kubernetes 1.30"),
    ("I take 10 mg of cetirizine", "I take 10 mg of loratadine"),
    ("The meeting takes place in room 4", "The meeting takes place on Monday"),
    # alike on the page, two facts
    ("Anna visits on 14 March", "Anna visits on 21 March"),
    ("I take my pills on Mondays at 8:00", "I take my pills on Mondays at 20:00"),
    ("I take bus 12 on Mondays", "I take bus 14 on Mondays"),
    ("The train to Porto leaves at 9:15", "The train from Porto leaves at 18:15"),
    ("My flight to Oslo is on 3 May", "My flight back from Oslo is on 9 May"),
    ("My flight there is on 3 May", "My flight back is on 9 May"),
    ("The check-in is at 14:00", "The check-out is at 11:00"),
    ("I run 5 km on Mondays", "I run 10 km on Mondays"),
    ("I fly to Oslo on 3 May and back on 5 May", "I fly to Oslo on 3 May and back on 9 May"),
    ("My dentist appointment is on 3 May at 11 am", "My dentist appointment is on 3 May"),
    ("My parents are visiting in July", "My in-laws are visiting in August"),
    # other people
    ("My sister lives in Oslo", "I live in Lisbon"),
    ("I hate running", "My sister loves running"),
    ("I'm a data engineer", "My sister is a nurse"),
    ("My older brother lives in Oslo", "My younger brother lives in Rome"),
    ("My friend Tom lives in Porto", "My friend Ana lives in Oslo"),
    ("A friend of mine lives in Porto", "My friend lives in Oslo"),
    ("My sister Anna's birthday is on May 3", "My sister Noor's birthday is on June 9"),
    # what one may have several of
    ("I have a dog", "I have a cat"),
    ("I like jazz", "I like rock"),
    ("I own two bikes", "I bought a road bike"),
    ("I speak French", "I speak Spanish"),
    ("I'm a nurse", "I'm a mother of two"),
    ("We use Postgres for billing", "We use MongoDB for the catalogue"),
    ("We deploy with Helm", "We also use Terraform"),
    ("I work at Bosch", "I also work at a bakery called Sunrise"),
    # narrower, or not said to be so
    ("I live in Portugal", "I live in Porto"),
    ("I love coffee", "I don't drink coffee after noon"),
    ("I take 20 mg of citalopram.", "I'm down to 10 mg of iron."),
    ("I love dogs", "I don't like big dogs"),
    ("I'm vegetarian", "I love vegan burgers"),
    ("I'm vegetarian", "I love pasta"),
    ("I live in Lisbon", "I'm thinking of moving to Berlin"),
    ("I live in Lisbon", "I'm moving to Berlin"),
    ("I live in Lisbon", "I'd love to live in Tokyo"),
    ("I used to live in Berlin", "I live in Porto"),
    ("The budget is $10k", "I think the budget may be $12k"),
    ("I went to Rome", "I'm going to Rome"),
    # liking a food never takes an allergy back
    ("I'm allergic to shellfish", "I love shrimp"),
    ("I'm allergic to cats", "I love cats"),
    # what is over is something else
    ("Our stack is sveltekit and firebase", "We switched from firebase to supabase"),
    ("I live in Hull", "I moved out of Leeds in May"),
    ("I work at Bosch", "I left Bosch's party early"),
    ("I have three kids", "I dropped the kids at school"),
    ("I like Emacs", "I use vim, not Emacs"),
    ("My brother drives a Golf", "I sold my Golf"),
    ("I'm using Flask 2.3 for my database service", "I've already set up my database URL"),
    ("My job is at Bosch", "My job is fun"),
    ("We run Node 18 in the API", "We upgraded the worker to Node 22"),
    # somebody else's, something else, or not over
    ("I work at Siemens.", "My sister got laid off from Siemens."),
    ("I take warfarin every evening.", "My dad's doctor took him off warfarin."),
    ("I live with Paloma.", "Paloma and I went hiking."),
    ("I have a dog named Max.", "My neighbour's dog Rex died."),
    ("I use Notion for my notes.", "I moved my bookmarks to Raindrop."),
    ("We use Jenkins for CI.", "We use GitHub Actions for the docs."),
    ("I love sushi.", "I gave up coffee."),
    ("My friend Max is a chef.", "Tom and I broke up."),
    ("I'm learning Spanish.", "I gave up on Italian."),
    ("I take the bus to work.", "I got off the bus too early."),
    ("I work at Siemens.", "I joined a gym at Bosch."),
    ("My dentist is Dr. Huber.", "I have a new doctor, Dr. Klein."),
    ("I play the cello.", "I stopped playing the piano."),
    ("I'm allergic to eggs.", "I can eat nuts now."),
    ("My phone number is 555 1234.", "My wife's number is 555 9876."),
    ("Always answer in English.", "Always answer politely."),
    ("Always cc Anna.", "Always cc Bob."),
    ("Please don't call me before 9.", "You can email me again."),
    ("I run 5k every morning.", "I stopped smoking."),
    ("My sister Jean lives in Cromer.", "Ana moved to Norwich."),
    ("I live in Berlin.", "My office moved to Leipzig."),
    ("I have a meeting with Anna on Friday.", "Anna moved out last weekend."),
    ("My favourite author is Anna Burns.", "Anna and I split up."),
    ("I love Paris in spring.", "I came off the motorway near Paris."),
    ("I'm a nurse.", "I'm a member at the FitX club."),
    ("We have two cats.", "We had to put Rex down."),
    ("I like my job at Aldi.", "I quit smoking in March."),
    ("My son goes to chess club.", "I quit the chess club."),
    ("I drive a Golf.", "I drove a Tesla instead of a Golf on holiday."),
    ("My best friend is Tom.", "Sara is my best student."),
    ("My gym is FitX.", "My office is near FitX now."),
    ("I eat meat.", "I had fish instead of meat yesterday."),
    ("Ask me before you book anything.", "Please ask Anna before you pay anything."),
    ("I always send invoices to Anna.", "I always send reports to Anna."),
    ("I prefer tea in the morning.", "I prefer coffee in the afternoon."),
    ("I'd rather have an aisle seat on trains.", "I prefer window seats on planes."),
    ("My manager is Sara.", "My new neighbour is Ben."),
    ("I bought a house in Leeds.", "I sold my car."),
    # for a while, in part, by somebody else, or another order
    ("I take warfarin.", "My doctor took my mother off warfarin."),
    ("I take warfarin.", "They took her off warfarin."),
    ("I live in Berlin.", "Tom moved away from Berlin."),
    ("We use Jira.", "Our client moved away from Jira."),
    ("I work at Bosch.", "Two colleagues were let go by Bosch."),
    ("I have a Netflix subscription.", "Tom cancelled Netflix."),
    ("My daughter is Emma.", "Emma moved out in September."),
    ("My boss is Karin.", "Karin walked out of the meeting early."),
    ("My girlfriend is Lea.", "Lea pulled out her phone."),
    ("My wife is Anna.", "Anna and I split the bill."),
    ("My wife is Anna.", "Anna and I are done with the kitchen."),
    ("My sister is Anna.", "Anna and I are done with the presents."),
    ("My project lead is Petra.", "Petra passed away the time reading."),
    ("I drink wine.", "I gave up wine for January."),
    ("I drink coffee.", "Today I am having tea instead of coffee."),
    ("I drive a Volvo.", "I am taking the bus instead of the Volvo this week."),
    ("I have therapy on Thursdays.", "I cancelled therapy this week."),
    ("I use Slack at work.", "I got rid of Slack on my phone."),
    ("I love beef.", "The stew uses lentils instead of beef."),
    ("Never share my phone number.", "Never share my home number."),
    ("Never call me at work.", "Never call me at home."),
    ("Never use red paint.", "Never use blue paint."),
    ("Always call my mother first.", "Always call my sister first."),
    ("Always send the report on Monday.", "Always send the invoice on Monday."),
    ("Always use short sentences.", "Always use simple sentences."),
    ("Never email my boss.", "You can email me now."),
    ("Please don't call me before 9.", "You can call me now."),
    ("Always answer in short sentences.", "I don't need short answers any more when I'm home."),
    ("My day rate is 280.", "Putting the deposit up to 310."),
    ("I am 42.", "I turned 18 in Spain."),
    ("I am 42.", "I turned 50 pages last night."),
    ("I weigh 80 kg.", "I am at 60 kg squats."),
    ("I work at Bosch.", "I have a job with Lidl on Saturdays."),
    ("I work at SAP.", "I accepted a position at Caritas as a volunteer."),
    # in the words of what is known, and about something else
    ("I'm a nurse at St. Mary's.", "I'm a volunteer at Mercy Hospice."),
    ("I'm a nurse at St. Mary's.", "I was a waiter at Luigi's."),
    ("My sister works at Siemens.", "I joined Bosch."),
    ("I work at Siemens.", "I started a new position at the choir as treasurer."),
    ("I live with Paloma.", "Paloma moved out of her office."),
    ("My cat is called Max.", "Max and I moved out."),
    ("I use Notion for notes.", "I gave up on Notion's calendar."),
    ("I drink coffee every morning.", "I gave up sugar in my coffee."),
    ("I run on Sundays.", "I stopped running the book club."),
    ("I play guitar in a band.", "I quit my job at the bank."),
    ("I'm learning Spanish.", "I dropped out of the Spanish film club."),
    ("I'm on the board of the school.", "I came off the phone with the school."),
    ("We have a Netflix subscription.", "We cancelled the Netflix party."),
    ("I have an appointment with Dr. Klein.", "I cancelled the gym."),
    ("I love chocolate.", "I gave up chocolate for Lent."),
    ("I own a house in Leeds.", "I sold the house's old furniture."),
    ("I drive a Golf.", "I sold the Golf's winter tyres."),
    ("My best friend is Fraser.", "Fraser is my best man now."),
    ("My brother's name is Ewan.", "Ewan is my best man now."),
    ("My dog is called Rex.", "Our cat is called Mia."),
    ("My phone number is 555 1234.", "My office number is 555 9876."),
    ("My phone number is 555 1234.", "I got a new number plate: 555 9876."),
    ("My sister's number is 0117 496 0182.", "My number is 0117 496 0377."),
    ("I weigh 82 kg.", "My dog weighs 30 kg now."),
    ("I'm 34.", "My wife turned 35 yesterday."),
    ("I'm 34.", "I turned 35 minutes late."),
    ("I have a new dentist, Dr. Klein.", "I have a new hygienist, Ms. Fox."),
    ("We use Jenkins for CI.", "The docs now run on Netlify."),
    ("Our API runs on AWS.", "Our website runs on Vercel."),
    ("I use vim at work.", "I would rather have coffee."),
    ("I prefer window seats.", "I would rather take the train."),
    ("I am vegetarian.", "My son eats meat again."),
    ("Bea is allergic to eggs.", "Bea can eat nuts now."),
    ("Bea is allergic to eggs.", "Ollie can eat eggs now."),
    ("I can't eat gluten.", "I can walk again."),
    ("Please don't text me.", "You can text my wife again."),
    ("Please don't call me after 8pm.", "You can call me again on Monday."),
    ("No tables please.", "I like tables now that we have a dining room."),
    ("Always answer in German.", "Always answer in Slack."),
    ("Always book an aisle seat on trains.", "Always book a window seat on planes."),
    ("Always use metric units.", "Always use imperial units for my US clients."),
    ("I'm single.", "My sister and I got divorced in the same year."),
    ("I work for Acme.", "I handed in my notice to the landlord."),
    ("I work for Acme.", "I was fired up by Acme's launch."),
    ("I go to the gym on Mondays.", "I let go of the gym bag."),
    ("My manager is Sara.", "Sara and I split up the work."),
    ("I'm dating Tom.", "We broke up the concrete in the garden."),
    ("I live in Berlin.", "We have settled into our holiday flat in Rome."),
    ("I live in Berlin.", "I moved my savings to Luxembourg."),
    ("I work at Bosch.", "I moved to the Bosch campus in Renningen."),
    ("My car is a Golf.", "I traded the Golf in for the weekend."),
    ("I'm on sertraline.", "I came off the bike on Tuesday."),
    ("I take ibuprofen.", "I took the kids off school."),
    ("My novel is called Salt Hours.", "My second novel is called Cold Light."),
    ("My project is called Atlas.", "My side project is called Hermes."),
    ("My team is the Bears.", "My favourite team is the Wolves."),
    ("My boss is Sara Lund.", "My boss is nice."),
    ("My address is 12 Main St.", "My work address is 40 High St."),
    ("My birthday is on 3 May.", "My wife's birthday is on 5 June."),
    ("My favorite place has to be San Diego, California!", "My favorite tea is mint tea."),
    ("My favorite tea is mint tea.", "My favorite place is San Diego."),
]


@pytest.mark.req("S1-32", "S0-103")
@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        *((older, newer, "update") for older, newer in UPDATES),
        *((older, newer, "contradict") for older, newer in CONTRADICTIONS),
        *((older, newer, "duplicate") for older, newer in DUPLICATES),
        *((older, newer, "neither") for older, newer in NEITHER),
    ],
)
def test_pairs(older: str, newer: str, expected: str) -> None:
    assert verdict(older, newer) == expected


# Written when the rules were done; the rules were not changed for them.
HELD_OUT = [
    ("The caterer costs $45 per person", "The caterer costs $52 per person now", "update"),
    ("I paid 80 euros for the shoes", "I paid 60 euros for the jacket", "neither"),
    ("My electricity bill is about 70 a month", "My electricity bill is about 95 a month now", "update"),
    ("The ferry leaves at 8:15", "The ferry now leaves at 8:45", "update"),
    ("Dinner is at 7 on Saturday", "Lunch is at noon on Sunday", "neither"),
    ("Our lease ends in March", "Our lease ends in August now", "update"),
    ("The viewing is on Monday", "They moved the viewing to Wednesday", "update"),
    ("Choir rehearsal is every Tuesday", "Choir rehearsal moved to Fridays", "update"),
    ("I live in Utrecht", "I live in the Netherlands", "neither"),
    ("My grandmother lives in Naples", "I live in Milan", "neither"),
    ("We live in Cork", "We moved to Galway last summer", "update"),
    ("I'm staying at the Hilton", "I'm staying with friends", "neither"),
    ("I work at a hospital", "I work nights", "neither"),
    ("I work at Ikea", "I quit my job at Ikea", "update"),
    ("I'm an electrician", "My father is an electrician", "neither"),
    ("I report to Ms Okafor", "I report to Mr Lindqvist now", "update"),
    ("I'm vegetarian", "I'm vegetarian now", "duplicate"),
    ("I'm vegan", "I eat honey", "contradict"),
    ("I eat everything", "I'm allergic to kiwi", "neither"),
    ("I love cheese", "I've gone vegan", "update"),
    ("I don't drink", "I have a sister", "neither"),
    ("I like sleeping in", "I hate getting up early", "neither"),
    ("I love Bach", "I can't stand Bach", "contradict"),
    ("I like the blue one", "I like the red one", "neither"),
    ("I prefer trains to planes", "I prefer planes to trains now", "update"),
    ("My favourite dish is lasagne", "My favourite dish is ramen now", "update"),
    ("My favourite singer is Adele", "My favourite sport is tennis", "neither"),
    ("We track bugs in Jira", "We track bugs in Linear now", "update"),
    ("We write our services in Go", "We write our scripts in Python", "neither"),
    ("Our CI runs on Jenkins", "We replaced Jenkins with Buildkite", "update"),
    ("The gateway times out after 30 seconds", "The gateway times out after 60 seconds now", "update"),
    ("We have two environments", "We have three engineers", "neither"),
    ("I go running twice a week", "I go running four times a week now", "update"),
    ("I used to play rugby", "I play badminton", "neither"),
    ("I'm learning the piano", "I gave up learning the piano", "update"),
    ("I have asthma", "I don't have asthma any more", "update"),
    ("My knee hurts", "My back hurts", "neither"),
    ("My son is called Milo", "My daughter is called Ida", "neither"),
    ("I'm married", "I'm divorced now", "update"),
    ("We booked a hotel in Bergen", "We cancelled the hotel in Bergen", "update"),
    ("I might buy a boat", "I bought a boat", "neither"),
    ("I'm 170 cm tall", "I'm tall", "neither"),
    ("I enjoy painting", "I like painting", "duplicate"),
    ("Our dog is called Pip", "We have a dog named Pip", "duplicate"),
    ("I live in Cork", "I'm based in Cork", "duplicate"),
    ("I really hate traffic", "I hate traffic", "duplicate"),
]


def test_pairs_that_the_rules_were_not_made_for() -> None:
    wrong = [(older, newer) for older, newer, expected in HELD_OUT if verdict(older, newer) != expected]
    alarms = [
        (older, newer) for older, newer, _ in HELD_OUT if (older, newer) in wrong and verdict(older, newer) != "neither"
    ]
    assert alarms == []
    assert len(wrong) <= len(HELD_OUT) / 10


@pytest.mark.parametrize(("older", "newer"), NEITHER + DUPLICATES)
def test_what_agrees_agrees_both_ways(older: str, newer: str) -> None:
    # A wish or a past state does not clash with the present one, whichever was said last.
    assert verdict(newer, older) == verdict(older, newer) or "budget" in older


def test_one_pass_finds_both_kinds_and_passes_the_grounding_of_any_model() -> None:
    data = facts(
        "My budget for Hawaii is $10,000",
        "I'm allergic to nuts",
        "I love steak",
        "I have a dog",
        "I am allergic to nuts.",
        "My budget for Hawaii is now $15,000",
        "I'm vegetarian now",
    )
    output, rejected = ground(reconcile(data), data)
    assert rejected == []
    assert {tuple(pair.refs) for pair in output.contradictions} == {("f2", "f7"), ("f1", "f5")}
    assert [set(group.refs) for group in output.duplicates] == [{"f3", "f6"}]


def test_each_loser_is_named_once_with_the_next_that_replaced_it() -> None:
    output = reconcile(facts("My rent is $1,000", "My rent is now $1,100", "My rent is now $1,200"))
    assert {tuple(pair.refs) for pair in output.contradictions} == {("f1", "f2"), ("f2", "f3")}


def test_a_fact_that_says_more_than_what_changed_stays() -> None:
    assert verdict("My partner Noor puts in 600 a month and I put in 900", "I put in 1,000 now") == "neither"
    assert verdict("I live in Lisbon and work at Nuvela", "I moved to Porto") == "neither"


def test_a_change_that_names_what_it_leaves_keeps_other_things_in_use() -> None:
    change = "We've switched from Harbor to GitHub Container Registry"
    assert verdict("I use a Mac at work", change) == "neither"
    assert verdict("We use Harbor", change) == "update"


def test_all_kinds_of_things_are_no_subject() -> None:
    assert verdict("Tobiah's thing is on Fly.", "Tobiah moved his to MySQL of all things.") == "neither"


def test_a_value_that_came_back_is_no_duplicate_of_the_one_that_was_replaced() -> None:
    output = reconcile(facts("I live in Lisbon", "I moved to Porto", "I live in Lisbon now"))
    assert output.duplicates == []
    assert {tuple(pair.refs) for pair in output.contradictions} == {("f1", "f2"), ("f2", "f3")}


def test_three_facts_that_say_the_same_are_one_group_with_the_fullest_words() -> None:
    output = reconcile(facts("I live in Lisbon", "I'm living in Lisbon", "Actually, I live in Lisbon."))
    assert [sorted(group.refs) for group in output.duplicates] == [["f1", "f2", "f3"]]
    assert output.duplicates[0].content == "Actually, I live in Lisbon."


def test_a_change_of_a_bare_attribute_is_about_the_only_one_known() -> None:
    one_known = reconcile(facts("My budget for the Hawaii trip is $10,000", "My budget is now $15,000"))
    assert [pair.refs for pair in one_known.contradictions] == [["f1", "f2"]]
    measured = reconcile(facts("The API rate limit is 100 per second", "We raised the rate limit to 250 per second"))
    assert [pair.refs for pair in measured.contradictions] == [["f1", "f2"]]
    two_known = reconcile(
        facts("My budget for the Hawaii trip is $10,000", "The wedding budget is $9,000", "My budget is now $15,000")
    )
    assert two_known == ReconcileOutput()
    bare = reconcile(facts("The Hawaii budget is $15,000", "My trip budget is $3,000", "The trip budget is $4,000 now"))
    assert [pair.refs for pair in bare.contradictions] == [["f1", "f2"]]


def test_facts_said_at_once_are_ordered_as_given() -> None:
    views = [
        FactView(ref=ref, kind="fact", content=content, said_at=START)
        for ref, content in (("f1", "I live in Porto now"), ("f2", "I live in Lisbon"))
    ]
    (pair,) = reconcile(ReconcileInput(facts=views)).contradictions
    assert pair.refs == ["f1", "f2"]


def test_the_work_grows_no_faster_than_the_pairs_of_facts() -> None:
    """Four times the facts are sixteen times the pairs; whatever took all triples would do 64 times the work."""
    cities = ["Porto", "Lisbon", "Oslo", "Turin", "Ghent"]

    def calls(number: int) -> int:
        contents = [f"My friend Ana{n} lives in {cities[n % 5]} and works at Shop{n}." for n in range(number)]
        given = facts(*contents)
        counted = 0

        def count(*_: object) -> None:
            nonlocal counted
            counted += 1

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            output = reconcile(given)
        finally:
            sys.setprofile(before)
        assert output == ReconcileOutput()
        return counted

    calls(10)  # patterns and tables are made at the first call
    assert calls(240) < 24 * calls(60)
