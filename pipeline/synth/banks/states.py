"""Things about the user that hold until they change: what questions about the latest value ask for.

Templates over {value}. `now` says the value in the user's words, `change` says a newer one (it names the old state
only vaguely), `others` says it of another person, and `ask` asks for the present value.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.synth.banks.topic import words


@dataclass(frozen=True)
class State:
    """A lasting fact with a value of `values`."""

    name: str
    topics: tuple[str, ...]
    values: tuple[str, ...]
    now: str
    change: str
    others: str
    aside: str
    ask: str


STATES = (
    State(
        "weekly distance",
        ("running", "sleep", "strength training"),
        words("12 kilometres; 18 kilometres; 25 kilometres; 31 kilometres; 40 kilometres; 52 kilometres"),
        "(my legs carry me|I jog|my weekly running distance is|I run) about {value} (a week|every week|)",
        "(I have moved up|my jogging has moved up|my running distance went) to {value} (a week|per week)",
        "(does|runs) {value} a week",
        "runners (argue|talk) a lot about how many kilometres a week are sensible",
        "(How far do I run per week?|What is my weekly running distance?)",
    ),
    State(
        "wake-up time",
        ("sleep", "nutrition", "parenting"),
        words("5:15; 5:50; 6:10; 6:45; 7:05; 7:30; 8:20"),
        "(my alarm goes off at|I get out of bed at|I wake up at|I rise at) {value} (on workdays|in the morning)",
        "(the alarm is set to|I have shifted to getting up at|I wake up at|I rise at) {value} (since the change|in the morning now)",
        "(rises|is up) at {value} every day",
        "an early alarm only works (together with|after) an early evening",
        "(What time do I wake up?|At what time do I rise in the morning?)",
    ),
    State(
        "rent",
        ("personal finance", "home renovation", "interior design"),
        words("840 dollars; 910 dollars; 1,050 dollars; 1,180 dollars; 1,240 dollars; 1,390 dollars; 1,475 dollars"),
        "(the landlord gets|we hand over|I pay|my rent is) {value} (a month|each month) for the flat",
        "the landlord (changed it|sent a letter) and (the flat|the rent I pay|my monthly rent) is {value} from here on",
        "(pays|spends) {value} a month on an apartment",
        "landlords (may|can) raise what they charge for a flat once a year",
        "(How much rent do I pay?|What is my monthly rent?)",
    ),
    State(
        "commute",
        ("cycling", "car maintenance", "language learning", "job search"),
        words("by tram; by folding bike; on the ferry; by motor scooter; on foot; in a carpool; by electric bus"),
        "I (get to the office|commute|commute to work) {value} (these days|)",
        "(I gave up my old way in and|after some grumbling I) (go to the office|commute|commute to work) {value}",
        "(gets|travels) to the office {value}",
        "the way to the office (eats|takes) an hour of everybody's day",
        "(How do I commute?|What is my means of transport to work?)",
    ),
    State(
        "savings goal",
        ("personal finance", "travel", "event planning"),
        words("4,000 dollars; 5,500 dollars; 7,200 dollars; 9,000 dollars; 12,500 dollars; 15,000 dollars"),
        "(we want to put aside|I am trying to put by|my savings target is|I aim to save) {value} (by the end of the year|this year)",
        "(we talked and want to|I changed my mind and will) (put aside|save|aim to save) {value} (instead|)",
        "(hopes|wants) to put aside {value}",
        "putting money aside is (easier|less painful) with a number in mind",
        "(What is my savings target?|How much do I aim to save?)",
    ),
    State(
        "plant count",
        ("houseplants", "gardening", "interior design"),
        words("seven; nine; eleven; fourteen; seventeen; twenty-two; twenty-six"),
        "(there are|I own) {value} (green things in pots|houseplants|indoor plants) in my flat",
        "(with the newcomers it makes|the windowsill now holds) {value} (green things in pots|houseplants|indoor plants)",
        "(looks after|owns) {value} green things in pots",
        "green things in pots (multiply|add up) faster than one thinks",
        "(How many houseplants do I own?|What is the number of my indoor plants?)",
    ),
    State(
        "practice",
        ("guitar", "language learning", "painting"),
        words("10 minutes; 15 minutes; 25 minutes; 35 minutes; 50 minutes; 70 minutes"),
        "I (sit down with the instrument|practise|practise music) for {value} (every evening|per day)",
        "(I stretched it to|it has become) {value} (with the instrument|of music practice) (every evening|per day)",
        "(spends|plays) {value} a day with an instrument",
        "a few minutes with the instrument each evening (is|are) the whole secret",
        "(How long do I practise music per day?|What is my daily practice time?)",
    ),
    State(
        "squat",
        ("strength training", "running", "nutrition"),
        words("45 kilos; 60 kilos; 72 kilos; 85 kilos; 97 kilos; 110 kilos"),
        "(my best on the bar across the shoulders is|I went down and up with|my squat record is|I can squat) {value}",
        "(the bar across my shoulders held|I went down and up with|I can squat|I did a squat with) {value} (today|), a new (best|record)",
        "(goes down and up|squats) with {value}",
        "(a bar|the weight) across the shoulders (asks|calls) for a straight back",
        "(What is my squat record?|How much can I squat?)",
    ),
    State(
        "diet",
        ("nutrition", "cooking", "baking"),
        words("""vegetarian; pescatarian; gluten-free; vegan; low-carb; dairy-free; Mediterranean"""),
        "(at home we eat|the way I eat is|my diet is|the diet I follow is) {value}",
        "(after talking to the doctor|following a long chat at home) (the meals are|the meals went|I follow a diet that is) {value}",
        "(has gone|eats) {value}",
        "what one eats at home (is|becomes) a habit within weeks",
        "(What diet do I follow?|Which kind of diet am I on?)",
    ),
    State(
        "team",
        ("programming", "job search", "event planning"),
        words("4 people; 6 people; 8 people; 11 people; 15 people; 19 people"),
        "(I look after|there are) {value} (in my group|reporting to me|in the team that I manage) at the company",
        "after the (reshuffle|reorganisation) (there are|it is) {value} (who report to me|in my team|in the team that I manage)",
        "(leads|has) {value} at the company",
        "(groups|departments) grow until nobody knows who reports to whom",
        "(How large is the team that I manage?|What is the size of my team?)",
    ),
    State(
        "language level",
        ("language learning", "travel", "reading"),
        words("A1 in Italian; A2 in Italian; B1 in Italian; B2 in Italian; C1 in Italian; C2 in Italian"),
        "(the school put me at|a test said|my level is|I am at the level) {value}",
        "(the school moved me to|I passed the exam for|my level at present is) {value}",
        "(was placed at|reached) {value}",
        "the letters of the school (say|tell) little about how well one talks",
        "(What is my level of Italian?|How good is my Italian at present?)",
    ),
    State(
        "screen limit",
        ("parenting", "sleep", "board games"),
        words("20 minutes; 30 minutes; 45 minutes; 60 minutes; 75 minutes; 90 minutes"),
        "(the children may have the tablet for|the kids get a screen time of|the daily screen time limit of my kids is) {value} (a day|after school)",
        "(we agreed on|it has become) {value} (with the tablet|of daily screen time) for the (children|kids) (after some tears|)",
        "(lets the children have|allows) {value} on the tablet",
        "tablets and children (are|remain) a daily negotiation",
        "(What is the daily screen time limit of my kids?|How much screen time do my kids get?)",
    ),
    State(
        "coffee habit",
        ("coffee", "sleep", "nutrition"),
        words("one cup; two cups; three cups; four cups; five cups; six cups"),
        "(on a normal day I have|I am at|I drink) {value} of (the black stuff|coffee) (a day|)",
        "(I went|my doctor made me go) to {value} of (the black stuff|coffee) (a day|daily)",
        "(has|drinks) {value} of the black stuff a day",
        "the black stuff (tastes|works) best before noon",
        "(How much coffee do I drink daily?|What is my daily amount of coffee?)",
    ),
    State(
        "helper role",
        ("volunteering", "gardening", "pets"),
        words("""at the food bank; at the animal shelter; with the river clean-up; in the repair cafe; at the youth club; in the
        charity shop"""),
        "(on Saturdays I lend a hand|my free mornings go to lending a hand|I volunteer|I am doing voluntary work) {value}",
        "(I switched, and|they needed people, so I) (lend a hand|volunteer|am doing voluntary work) {value} (instead|)",
        "lends a hand {value}",
        "lending a hand (feels|is) better with company",
        "(Where do I volunteer?|Where am I doing voluntary work?)",
    ),
)
