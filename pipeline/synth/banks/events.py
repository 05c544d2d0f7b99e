"""Things that happen once and are told in passing: the facts behind most questions.

Every event has a thing, an amount, a place and a person. Templates over {thing}, {amount}, {place}, {person}:
`did` is past tense for any subject, `doing` its gerund, `do` its plain form in other words (used by questions).
A clause says one attribute; `ask` holds its questions, `echo` the assistant's word for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.synth.banks.topic import words

ATTRIBUTES = ("amount", "place", "person")


@dataclass(frozen=True)
class Family:
    """One kind of event. `things` are pairs: the name in questions, and another name for the same thing."""

    name: str
    topics: tuple[str, ...]
    group: str
    unit: str
    amounts: tuple[int, int, int]
    venue: str
    things: tuple[tuple[str, str], ...]
    did: str
    doing: str
    do: str
    clauses: dict[str, str]
    ask: dict[str, str]
    total: str


def pairs(text: str) -> tuple[tuple[str, str], ...]:
    """`a / b; c / d` as pairs."""
    split = [entry.split(" / ") for entry in words(text)]
    return tuple((one, other) for one, other in split)


FAMILIES = (
    Family(
        "kitchen purchase",
        ("cooking", "baking", "coffee", "nutrition"),
        "kitchen equipment",
        "{n} dollars",
        (18, 420, 1),
        "{family} (Kitchen|Home|Supply)",
        pairs("""espresso machine / coffee maker with a steam wand; stand mixer / big dough kneader; air fryer / little
        convection oven; carbon steel wok / hammered stir-fry pan; food processor / chopping gadget with the discs;
        Dutch oven / heavy enamel pot; rice cooker / automatic steamer for grains; knife set / block of Japanese blades;
        ice cream maker / churner for gelato; immersion blender / stick mixer for soups; waffle iron / press for Belgian
        waffles; pasta roller / hand-cranked noodle machine"""),
        "(bought|picked up|ordered|got hold of) {a thing}",
        "(buying|getting) {a thing}",
        "(buy|purchase) {a thing}",
        {
            "amount": "(for {amount}|which came to {amount}|and paid {amount} for it)",
            "place": "(at {place}|from {place}|in that shop called {place})",
            "person": "(with {person} along to help choose|on the advice of {person}|while out with {person})",
        },
        {
            "amount": "(How much did I (pay|spend) (for|on) the {thing}?|What was the price of my {thing}?)",
            "place": "(Where did I buy the {thing}?|Which store does my {thing} come from?)",
            "person": "(Who helped me pick the {thing}?|Who was with me when I bought the {thing}?)",
        },
        "How much (money|) have I spent on kitchen equipment (in total|altogether)?",
    ),
    Family(
        "class",
        ("painting", "guitar", "language learning", "photography", "volunteering"),
        "courses and workshops",
        "{n} dollars",
        (25, 310, 5),
        "{family} (Hall|Studio|House)",
        pairs("""pottery class / evening of wheel throwing; salsa course / Latin dance lessons; calligraphy workshop / day of
        lettering with ink; beekeeping course / introduction to keeping hives; improv class / spontaneous theatre lessons;
        bookbinding workshop / day of sewing paper into covers; sailing course / week of learning to handle a dinghy;
        glassblowing session / afternoon at the furnace shaping glass; sign language class / lessons in talking with the
        hands; wine tasting course / evening about grapes and vintages; self-defence training / martial arts basics;
        darkroom workshop / day of developing film"""),
        "(took|went to|signed up for|did) {a thing}",
        "(taking|signing up for) {a thing}",
        "attend {a thing}",
        {
            "amount": "(for {amount}|which set me back {amount}|the fee being {amount})",
            "place": "(at {place}|over at {place})",
            "person": "(taught by {person}|with {person} as the teacher|led by {person})",
        },
        {
            "amount": "(What was the fee of the {thing}?|How much did the {thing} cost me?)",
            "place": "(Where was the {thing} held?|At which venue did I attend the {thing}?)",
            "person": "(Who was the instructor of my {thing}?|Who taught the {thing}?)",
        },
        "What did I pay for courses and workshops (in total|all together)?",
    ),
    Family(
        "trip",
        ("travel", "camping", "photography", "cycling"),
        "trips",
        "{n} days",
        (2, 16, 1),
        "(Hotel|Pension|Hostel) {family}",
        pairs("""city break in Lisbon / weekend wandering around the Portuguese capital; hiking holiday in Norway / walk through
        the fjords; beach week in Crete / lazy stay by the sea on a Greek island; ski trip to Austria / stay in the snow in
        Tyrol; road trip through Scotland / drive around the Highlands; food tour of Bologna / eating expedition to Emilia;
        canal cruise in France / slow ride on a houseboat in Burgundy; rail journey to Vienna / train ride to the Austrian
        capital; safari in Kenya / drive among elephants in East Africa; retreat in Bali / quiet stay on an Indonesian island;
        cycling tour of Flanders / pedalling past Belgian canals; desert tour in Morocco / camel ride in the Sahara"""),
        "(came back from|returned from|finished) {a thing}",
        "(going on|booking) {a thing}",
        "go on {a thing}",
        {
            "amount": "(which lasted {amount}|that took {amount}|after {amount} away)",
            "place": "(sleeping at {place}|staying at {place}|with a room at {place})",
            "person": "(together with {person}|in the company of {person}|with {person})",
        },
        {
            "amount": "(How long was my {thing}?|How many days did I spend on the {thing}?)",
            "place": "(Where did I sleep during the {thing}?|What was my accommodation on the {thing}?)",
            "person": "(Who did I travel with on the {thing}?|Who came along on my {thing}?)",
        },
        "How many days (have I been away|did I spend) on trips (in total|altogether)?",
    ),
    Family(
        "appointment",
        ("sleep", "strength training", "running", "parenting", "nutrition"),
        "medical appointments",
        "{n} dollars",
        (30, 260, 5),
        "(the clinic on|a practice in) {street}",
        pairs("""dentist appointment / check-up of my teeth; eye exam / visit to the optometrist; physiotherapy session / hour
        with someone working on my muscles; skin check / visit to the dermatologist; blood test / morning of needles and
        vials; hearing test / visit to the audiologist; allergy test / appointment with pricks on my arm; knee scan / MRI of
        my leg joint; nutritionist consultation / talk with a diet expert; flu shot / jab before the winter; sleep study /
        night wired up with sensors; back X-ray / picture of my spine"""),
        "(had|went for|got through) {a thing}",
        "(having|scheduling) {a thing}",
        "have {a thing}",
        {
            "amount": "(and was billed {amount}|costing {amount} out of pocket|for {amount})",
            "place": "(at {place}|in {place})",
            "person": "(with Dr. {person}|seen by Dr. {person}|under Dr. {person})",
        },
        {
            "amount": "(What did I have to pay for the {thing}?|How expensive was the {thing}?)",
            "place": "(Where did the {thing} take place?|Where did I go for my {thing}?)",
            "person": "(Which doctor did my {thing}?|Who was the doctor at the {thing}?)",
        },
        "What have medical appointments cost me (in total|so far)?",
    ),
    Family(
        "repair",
        ("home renovation", "car maintenance", "cycling", "decluttering", "interior design"),
        "repairs",
        "{n} dollars",
        (35, 680, 5),
        "{family} (Brothers|Service|Works)",
        pairs("""washing machine / laundry appliance that leaked; dishwasher / thing that cleans our plates; boiler / hot water
        unit; garage door / roller gate for the car; laptop screen / cracked display of my computer; bathroom tap / dripping
        faucet; roof gutter / rain channel up at the roof; car clutch / slipping gear pedal thing; oven door / glass front of
        the cooker; bicycle wheel / buckled rim of my bike; front lock / jammed keyhole of the entrance; sewing machine /
        old stitching machine"""),
        "(had the {thing} (fixed|mended|repaired)|got the {thing} (working again|seen to))",
        "(having|getting) the {thing} fixed",
        "get the {thing} repaired",
        {
            "amount": "(for {amount}|and the invoice said {amount}|, {amount} including parts)",
            "place": "(by {place}|through a firm called {place})",
            "person": "(by a technician named {person}|when {person} came over with the tools)",
        },
        {
            "amount": "(How much was the repair of the {thing}?|What did mending the {thing} cost?)",
            "place": "(Which company repaired the {thing}?|Who did I hire for the {thing}, which firm was it?)",
            "person": "(What was the name of the person who repaired the {thing}?|Who came to fix the {thing}?)",
        },
        "How much did I spend on repairs (in total|overall)?",
    ),
    Family(
        "gift",
        ("event planning", "decluttering", "parenting", "personal finance"),
        "presents",
        "{n} dollars",
        (15, 190, 1),
        "{family} (and Daughters|Gifts|Emporium)",
        pairs("""silk scarf / soft shawl; leather wallet / holder for cards and notes; wooden train set / little railway to play
        with; perfume / bottle of scent; signed cookbook / recipe collection with an autograph; telescope / tube for looking
        at the stars; hand-painted mug / cup with flowers on it; jigsaw puzzle / thousand-piece picture; wool blanket / warm
        throw; fountain pen / writing instrument with a gold nib; bird feeder / seed dispenser for the garden; record player
        / turntable for vinyl"""),
        "(gave away|wrapped up|found) {a thing} as a (present|birthday surprise)",
        "(giving|wrapping up) {a thing}",
        "give {a thing} as a gift",
        {
            "amount": "(worth {amount}|for {amount}|that cost {amount})",
            "place": "(from {place}|found at {place})",
            "person": "(for {person}|to make {person} happy|meant for {person})",
        },
        {
            "amount": "(How much was the {thing} that I gave as a gift?|What did I pay for the {thing} I gave?)",
            "place": "(Where did I get the {thing} that I gave away?|Which shop was the {thing} from?)",
            "person": "(Who received the {thing} from me?|Who was the {thing} for?)",
        },
        "How much did I spend on presents (altogether|in total)?",
    ),
    Family(
        "show",
        ("guitar", "reading", "painting", "event planning", "board games"),
        "shows and concerts",
        "{n} dollars",
        (12, 150, 1),
        "the {family} (Theatre|Arena|Rooms)",
        pairs("""jazz concert / evening of saxophones and double bass; musical / stage show with songs; opera / night of arias;
        ballet / evening of dancers on pointe; stand-up comedy night / hour of jokes on a small stage; poetry slam / contest of
        spoken verse; magic show / evening of vanishing cards; film festival / weekend of premieres; puppet play / marionette
        performance; rock gig / loud night of drums and guitars; choir recital / evening of voices in a church; circus
        performance / tent full of acrobats"""),
        "(went to|saw|enjoyed) {a thing}",
        "(going to|seeing) {a thing}",
        "attend {a thing}",
        {
            "amount": "(with a ticket for {amount}|for {amount}|which was {amount} a seat)",
            "place": "(at {place}|over in {place})",
            "person": "(with {person}|next to {person}|in the company of {person})",
        },
        {
            "amount": "(What did the ticket for the {thing} cost?|How much did I pay to see the {thing}?)",
            "place": "(Where did I see the {thing}?|What was the venue of the {thing}?)",
            "person": "(Who joined me at the {thing}?|Who went to the {thing} with me?)",
        },
        "How much have I paid for shows and concerts (in total|so far)?",
    ),
    Family(
        "race",
        ("running", "cycling", "strength training", "camping"),
        "sporting events",
        "{n} minutes",
        (21, 290, 1),
        "the (course|start) near {street}",
        pairs("""charity 10K / fundraising run; triathlon / swim-bike-run thing; open water swim / crossing of the lake; mountain
        race / run up to the summit; obstacle course / mud crawl over walls; orienteering event / race with map and compass;
        rowing regatta / contest in the boats; duathlon / run and ride combination; park run / Saturday five kilometres;
        cyclocross race / muddy bicycle laps; stair climb / race up the tower; night relay / team run in the dark"""),
        "(finished|completed|took part in) {a thing}",
        "(entering|signing up for) {a thing}",
        "(take part in|do) {a thing}",
        {
            "amount": "(in {amount}|with a time of {amount}|needing {amount} to the line)",
            "place": "(at {place}|on {place})",
            "person": "(paced by {person}|side by side with {person}|with {person} cheering)",
        },
        {
            "amount": "(How fast was I in the {thing}?|What was my finishing time at the {thing}?)",
            "place": "(Where was the {thing} that I did?|Where did the {thing} start?)",
            "person": "(Who was with me at the {thing}?|Who accompanied me during the {thing}?)",
        },
        "How many minutes did I need for all my sporting events (together|in total)?",
    ),
    Family(
        "planting",
        ("gardening", "houseplants", "birdwatching", "cooking"),
        "plants",
        "{n} dollars",
        (6, 95, 1),
        "{family} (Nursery|Garden Centre)",
        pairs("""fig tree / young ficus carica; rosemary bush / evergreen kitchen herb; blueberry shrub / little berry plant; climbing
        rose / rambler for the wall; dwarf apple / small fruit tree; passion flower / exotic vine; bay laurel / pot of bay
        leaves; witch hazel / winter-flowering shrub; Japanese maple / small red-leaved tree; strawberry patch / row of runners
        with red fruit; clematis / purple climber; rhubarb crown / root with sour stalks"""),
        "(planted|put in|found a spot for) {a thing}",
        "(planting|putting in) {a thing}",
        "plant {a thing}",
        {
            "amount": "(for {amount}|which was {amount}|, {amount} with the pot)",
            "place": "(from {place}|fetched from {place})",
            "person": "(with the help of {person}|while {person} did the digging|together with {person})",
        },
        {
            "amount": "(How much did the {thing} cost?|What was the price of the {thing} I planted?)",
            "place": "(Where did my {thing} come from?|Where did I get the {thing}?)",
            "person": "(Who helped me plant the {thing}?|Who planted the {thing} with me?)",
        },
        "How much money went into plants (altogether|in total)?",
    ),
    Family(
        "pet care",
        ("pets", "birdwatching", "volunteering"),
        "things for the animals",
        "{n} dollars",
        (9, 240, 1),
        "{family} (Vets|Pet Shop|Animal Care)",
        pairs("""dog vaccination / puppy's jabs; cat dental cleaning / scrub of the kitten's teeth; aquarium / glass tank for the fish;
        rabbit hutch / wooden home for the bunny; dog grooming session / haircut for the poodle; parrot cage / house for the
        bird; obedience training / lessons in sit and stay; heated terrarium / warm box for the lizard; GPS collar / tracker
        round the neck; hamster wheel / spinning toy for the rodent; automatic feeder / machine that fills the bowl; horse
        riding lesson / hour in the saddle"""),
        "(arranged|paid for|sorted out) {a thing}",
        "(arranging|paying for) {a thing}",
        "arrange {a thing}",
        {
            "amount": "(for {amount}|with a bill of {amount}|, {amount} all in)",
            "place": "(at {place}|through {place})",
            "person": "(with {person} holding the animal|recommended by {person}|with help from {person})",
        },
        {
            "amount": "(What did the {thing} cost?|How much was I charged for the {thing}?)",
            "place": "(Where did I get the {thing}?|Which business provided the {thing}?)",
            "person": "(Who assisted me with the {thing}?|Who was involved in the {thing}?)",
        },
        "What did I spend on things for the animals (altogether|in total)?",
    ),
    Family(
        "interview",
        ("job search", "programming", "language learning"),
        "job interviews",
        "{n} minutes",
        (20, 115, 5),
        "{family} (Labs|Logistics|Partners|Media)",
        pairs("""data analyst interview / talk about a role with dashboards; librarian interview / conversation about working among
        books; project manager interview / talk about running timelines; nurse interview / conversation about a hospital job;
        web developer interview / talk about building sites; translator interview / conversation about a language job; chef
        interview / talk about leading a restaurant kitchen; teacher interview / conversation with a school; accountant
        interview / talk about doing the books; museum guide interview / conversation about leading visitors; lab technician
        interview / talk about pipettes and samples; sales interview / conversation about selling"""),
        "(had|came out of|got through) {a thing}",
        "(preparing for|having) {a thing}",
        "have {a thing}",
        {
            "amount": "(that lasted {amount}|, {amount} from start to finish|and talked for {amount})",
            "place": "(at {place}|with {place})",
            "person": "(with {person} asking the questions|led by {person}|opposite {person})",
        },
        {
            "amount": "(How long did the {thing} take?|What was the duration of my {thing}?)",
            "place": "(Which company was the {thing} with?|Where was my {thing}?)",
            "person": "(Who interviewed me in the {thing}?|Who conducted my {thing}?)",
        },
        "How many minutes have I sat in job interviews (in total|all together)?",
    ),
    Family(
        "reading",
        ("reading", "language learning", "sleep", "personal finance"),
        "books",
        "{n} pages",
        (110, 780, 1),
        "the {family} (Library|Bookshop)",
        pairs("""biography of Marie Curie / life of the radium chemist; history of salt / book about the white mineral; novel about
        lighthouse keepers / story set on a lonely coast; book on octopus minds / one about clever sea creatures; guide to
        stoicism / introduction to ancient calm; thriller set in Berlin / spy story among the ruins; essay collection on walking
        / thoughts about going on foot; book on the Silk Road / account of the old caravan trade; fantasy saga with dragons /
        fat volume of fire-breathers; memoir of a chef / recollections from hot kitchens; textbook on statistics / dry volume
        about probability; comic about the moon landing / drawn version of Apollo"""),
        "(finished|got to the end of|read) {a thing}",
        "(starting|borrowing) {a thing}",
        "read {a thing}",
        {
            "amount": "(, all {amount} of it|which has {amount}|running to {amount})",
            "place": "(borrowed at {place}|from {place})",
            "person": "(that {person} had pressed on me|on the recommendation of {person}|lent by {person})",
        },
        {
            "amount": "(How long was the {thing}?|How many pages did the {thing} have?)",
            "place": "(Where did I get the {thing}?|Where does my copy of the {thing} come from?)",
            "person": "(Who recommended the {thing} to me?|Who gave me the {thing}?)",
        },
        "How many pages do the books I finished have (in total|together)?",
    ),
)
