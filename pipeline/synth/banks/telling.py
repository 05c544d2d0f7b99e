"""How a fact is told in passing, by the user or by the assistant, and how it is talked around."""

from __future__ import annotations

USER_FRAMES = (
    "(by the way|oh|also|as it happens|incidentally), {fact}.",
    "{fact} (by the way|, if that matters|, just so you know).",
    "{fact}, (which took some nerve|which made my day|so that is done|and no regrets so far|for once without any drama).",
    "(speaking of which|that reminds me|before I forget|one more thing): {fact}.",
    "(I think I said it|not sure I told you), but {fact}.",
    "{fact}.",
    "(funny story|little update|small confession): {fact}, (anyway|so there|I still smile about it).",
    "(since|because) {fact}, I (have less time|am a bit tired|feel more relaxed|need to plan) (this week|at the moment).",
)

ASSISTANT_FRAMES = (
    "(Noted|Got it|Understood): {fact}.",
    "(As|Since) you (said|mentioned), {fact}, (so let's build on that|which is good to know|and that changes the picture a little).",
    "(To recap|To sum up what you told me|Keeping track): {fact}.",
    "(It sounds like|So) {fact} (, if I follow you correctly|).",
    "(Congratulations|How nice|Good to hear) that {fact}!",
    "I will (keep in mind|remember) that {fact}.",
)

EVENT_PRONOUN = "that one"

LEADS = (
    "(I|We) (keep|kept) going back and forth about {the thing}.",
    "{the thing} (has been on my mind|came up again yesterday) .",
    "(What did I decide|Where were we) about {the thing}?",
    "There is also (the matter|the story) of {the thing}.",
)

ANSWERING_LEADS = (
    "And what happened with {the thing}?",
    "You (had mentioned|brought up) {the thing} earlier.",
    "(How did it go|Where do things stand) with {the thing}?",
)

NOT_DONE = (
    "I (thought about|was this close to) {doing}, but (decided against it|it has to wait|changed my mind)",
    "we (cancelled|put off) {the thing} (at the last minute|until further notice)",
    "{doing} is (somewhere|still) on my wish list, (no idea when|maybe one day)",
    "I (dreamt|had a dream) about {doing}, of all things",
)

TIME_MARKS = ("today", "this morning", "just now", "this afternoon", "a few hours ago", "earlier today")

OLD_TIMES = ("years ago", "back in my student days", "two summers ago", "long before we met", "when we were kids")

TALK = {
    "dollars": (
        "what one (pays|spends) on {a thing} (varies a lot|depends on where one looks)",
        "the price of {a thing} has (gone up|climbed) (a lot|) (lately|over the years)",
    ),
    "days": (
        "how many days {a thing} should take is (a matter of taste|hard to say)",
        "a longer {thing} is not (always|automatically) a better one",
    ),
    "minutes": (
        "how many minutes {a thing} takes (varies|depends on the day)",
        "the time one needs for {a thing} is (mostly|) a matter of preparation",
    ),
    "pages": (
        "how many pages {a thing} has says (little|nothing) about how good it is",
        "some people never get through {a thing}, long or short",
    ),
    "any": (
        "there is a lot (of opinion|to read) about {a thing} (online|in the forums)",
        "where to go for {a thing} is something everybody has an opinion on",
        "it helps to have somebody along (for|when it comes to) {a thing}",
        "{a thing} is (more popular|easier to come by) than it was",
        "(the best thing about|the trouble with) {a thing} is the (planning|waiting|memory of it)",
        "who is the right person for {a thing} (depends on what you want|is not obvious)",
    ),
}

ABSENT_ANSWERS = (
    "You did not mention this information.",
    "The information provided is not enough. You did not mention it.",
)
