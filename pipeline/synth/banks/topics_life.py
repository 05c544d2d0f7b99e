"""Topics of work, money, health and family."""

from __future__ import annotations

from pipeline.synth.banks.topic import Topic, words

LIFE_TOPICS = (
    Topic(
        "personal finance",
        words("""emergency fund; index fund; credit card; budget sheet; standing order; pension plan; tax return; savings account;
        interest rate; mortgage offer; receipt; subscription; exchange fee; joint account"""),
        words("""automate the transfer; track one month; pay the dearest debt first; compare fees; keep receipts; negotiate the
        rate; review it yearly; set a ceiling; close unused accounts; read the small print"""),
        words("""Pay yourself first and let the rest adapt; Three months of expenses is a sensible cushion; Fees are the one thing
        that you control; Do not invest what you need within five years; A budget that bores you is a budget that works;
        Round numbers make it easier to keep score"""),
        words("""money just disappears by the twentieth; my partner and I disagree about saving; I am scared of the stock market;
        my rent went up; I have no idea what I pay in fees"""),
    ),
    Topic(
        "job search",
        words("""cover letter; reference; phone screen; portfolio; notice period; salary range; job board; take-home task; panel
        interview; recruiter; offer letter; probation; networking event; career gap"""),
        words("""tailor the summary; quantify results; research the team; send a thank-you note; prepare three stories; ask about
        the budget; practise aloud; follow up once; name a range; sleep on the offer"""),
        words("""Lead with the outcome, then say how; Apply even when you meet only two thirds of the list; Silence for two weeks is
        usually a no; Ask what a good first year looks like; Never criticise a former boss; A short letter gets
        read"""),
        words("""I freeze when they ask about weaknesses; nobody answers; I was laid off in spring; my experience is all over the
        place; they want me in the office daily"""),
    ),
    Topic(
        "sleep",
        words("""blackout curtain; bedtime alarm; white noise; mattress topper; screen curfew; melatonin; nap; sleep diary; pillow;
        caffeine cut-off; weighted blanket; snoring; reading lamp; morning light"""),
        words("""get up at the same time; dim the lights; cool the bedroom; write worries down; skip late meals; leave the bed when
        awake; limit naps; see daylight early; wind down slowly; hide the clock"""),
        words("""The hour you rise matters more than the hour you lie down; Caffeine lingers for longer than people think; A cool
        room helps almost everyone; The bed is for sleeping only; One bad night needs no repair; See a doctor if you wake
        up gasping"""),
        words("""I wake at four and start planning; my neighbour's dog barks; shift work ruins everything; I scroll until one; even
        eight hours leave me tired"""),
    ),
    Topic(
        "nutrition",
        words("""protein shake; meal plan; fibre; snack drawer; food diary; iron level; lunch box; blood sugar; oat bran; portion
        size; vitamin D; leafy greens; Greek yogurt; sugar craving"""),
        words("""eat slowly; plan three dinners; add a vegetable; drink water first; shop from a list; cook double; keep fruit in
        sight; read the label; have breakfast; avoid crash diets"""),
        words("""Add before you subtract; Half a plate of vegetables is an easy rule; Protein at breakfast steadies the day; Frozen
        vegetables are every bit as good; Hunger after dinner is often tiredness; Ask for a blood test before buying
        pills"""),
        words("""I skip lunch and then raid the cupboard; everyone around me diets; my energy crashes at three; I hate cooking for
        one; the doctor mentioned cholesterol"""),
    ),
    Topic(
        "strength training",
        words("""kettlebell; deadlift; resistance band; gym bag; warm-up set; pull-up bar; rest timer; squat rack; training log;
        lifting belt; shoulder press; mobility drill; plateau; protein bar"""),
        words("""add weight slowly; film the lift; rest two minutes; brace the core; train three days; deload now and then; warm the
        shoulders; grip harder; control the descent; eat enough"""),
        words("""Technique first, plates later; Soreness is no measure of progress; Big movements give the most for your time; Sleep is
        where the muscle is built; Leave one repetition in the tank; Write it down or it did not happen"""),
        words("""my lower back feels it; the gym is packed after six; I have been stuck for a month; I only have two dumbbells;
        everybody gives different advice"""),
    ),
    Topic(
        "pets",
        words("""puppy class; litter box; dog harness; scratching post; vet bill; flea treatment; chew toy; crate; cat tree; leash;
        grooming brush; dry food; microchip; pet sitter"""),
        words("""reward at once; keep sessions short; brush weekly; switch food slowly; tire him out first; trim the claws; ignore the
        whining; book a check-up; rotate the toys; socialise early"""),
        words("""Dogs repeat what pays; A tired puppy is a good puppy; Cats want height more than floor; Change the food over a whole
        week; Pet insurance is cheapest when they are young; Teeth are the thing that everyone forgets"""),
        words("""he pulls like a tractor; she sleeps on my keyboard; the fur is everywhere; he is afraid of the hoover; we are away
        two weeks in summer"""),
    ),
    Topic(
        "parenting",
        words("""bedtime story; school run; screen time; packed lunch; reading corner; tantrum; swimming lesson; pocket money; sticker
        chart; babysitter; homework; playdate; car seat; birthday party"""),
        words("""offer two choices; name the feeling; keep the routine; praise the effort; lower your voice; prepare them early; read
        together; let them be bored; agree beforehand; take a breath"""),
        words("""Routines do the arguing for you; Warn them five minutes before; A hungry child cannot listen; Catch them being good;
        It is fine to say that you will think about it; Sleep problems come and go in waves"""),
        words("""my youngest refuses shoes; they fight in the car; homework ends in tears; I shouted and feel bad; everyone has more
        patience than me"""),
    ),
    Topic(
        "language learning",
        words("""flash card; tandem partner; grammar book; verb table; podcast; pronunciation drill; placement test; subtitle;
        vocabulary list; phrasebook; accent; dictation; online tutor; children's book"""),
        words("""speak from day one; review daily; shadow the audio; learn phrases; read aloud; keep a diary; label the kitchen; watch
        without subtitles; find a partner; test yourself"""),
        words("""Fifteen minutes daily beat a weekend course; Learn words in sentences; Mistakes are how the other person knows you are
        trying; Listening comes before speaking; Change the language of your phone; Plateaus end when the material gets
        harder"""),
        words("""I understand but cannot speak; the genders drive me mad; people answer in English; I forget words overnight; my tutor
        cancelled again"""),
    ),
    Topic(
        "programming",
        words("""unit test; stack trace; pull request; docker image; regular expression; log file; database index; code review; virtual
        environment; type hint; race condition; cron job; linter; config file"""),
        words("""read the traceback; write a failing test; bisect the history; rename things; profile first; pin the versions; log the
        input; shrink the example; ask for review; delete dead code"""),
        words("""Make it reproducible before you make it fast; Names are the cheapest documentation; Half of all bugs live at the
        borders; Commit small and often; The error message usually means what it says; Cache invalidation deserves its
        reputation"""),
        words("""it works on my machine only; the pipeline is red since Tuesday; I inherited this code; the docs are three versions old;
        it fails one time in fifty"""),
    ),
    Topic(
        "car maintenance",
        words("""winter tyre; oil filter; brake disc; battery clamp; timing belt; wiper blade; coolant; dashboard light; spark plug;
        jump lead; roof box; service book; air filter; alignment"""),
        words("""check the tread; log the mileage; warm it up gently; listen for knocking; torque the nuts; ask for the old part; rinse
        the salt off; rotate the tyres; top up the fluid; scan the code"""),
        words("""A yellow light is a question, a red one an order; Brakes are nothing to save on; Belts have an age as well as a
        mileage; Get the price in writing; Short trips are hard on a battery; Tyre pressure changes with the
        weather"""),
        words("""there is a squeak when I turn left; the garage quoted a fortune; it would not start this morning; the inspection is
        due; I know nothing about engines"""),
    ),
    Topic(
        "event planning",
        words("""guest list; seating plan; caterer; playlist; venue deposit; invitation; photo booth; dessert table; florist; parking;
        dress code; speech; tent hire; name card"""),
        words("""book the venue first; confirm in writing; plan for rain; name a helper; keep a buffer; taste the menu; send reminders;
        order extra ice; rehearse once; delegate the music"""),
        words("""A fifth of the invited will not come; Feed people before the speeches; One person must hold the phone numbers; Short
        speeches are remembered fondly; Book what you cannot replace, improvise the rest; Put water on every
        table"""),
        words("""the list keeps growing; half of them are vegetarian; my mother wants to help; the hall has no heating; the date
        clashes with a holiday"""),
    ),
    Topic(
        "volunteering",
        words("""food bank; shift roster; river clean-up; charity shop; reading mentor; fundraiser; animal shelter; collection box; youth
        club; first aid course; community garden; repair cafe; newsletter; grant form"""),
        words("""start small; commit to one day; ask what is needed; bring a friend; thank people by name; keep a rota; write it down;
        show up early; share the photos; train a successor"""),
        words("""Reliability is worth more than enthusiasm; Two hours a month is plenty to begin with; Say no in time and nobody minds;
        Small groups decide faster; Ask newcomers what they noticed; Money follows a clear story"""),
        words("""nobody answers the group chat; I overcommitted; we need a new treasurer; the van broke down; it rained on our open
        day"""),
    ),
)
