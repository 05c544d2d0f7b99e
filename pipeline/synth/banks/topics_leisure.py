"""Topics of free time: sport, arts, travel, play."""

from __future__ import annotations

from pipeline.synth.banks.topic import Topic, words

LEISURE_TOPICS = (
    Topic(
        "running",
        words("""trail shoe; interval session; foam roller; heart rate strap; long run; shin splint; tempo run; race bib;
        energy gel; warm-up drill; running vest; cadence; half marathon plan; rest day"""),
        words("""build up slowly; run by feel; shorten the stride; stretch the calves; sleep more; rotate two pairs of
        shoes; hydrate early; walk the hills; keep easy days easy; log every run"""),
        words("""Add no more than about ten percent a week; Most of your runs should allow a conversation; New shoes need a
        few short outings first; Strength work twice a week prevents a lot of trouble; Never try new food on race day;
        Pain that changes your gait means stop"""),
        words("""my knees ache on the stairs; it is dark when I get home; I get bored after twenty minutes; I started far too
        fast last time; the heat really gets to me"""),
    ),
    Topic(
        "cycling",
        words("""gravel bike; chain lube; tubeless tyre; saddle height; bike rack; helmet; derailleur; commuter route; rear
        light; pannier; brake pad; torque wrench; bib shorts; puncture kit"""),
        words("""clean the chain; check the pressure; raise the saddle; ride in a group; true the wheel; carry a spare tube;
        signal early; shift before the climb; plan a flat route; replace the pads"""),
        words("""A bike that fits beats a bike that is light; Wipe the chain after every wet ride; Lower pressure is often
        both faster and kinder; Lights on in daytime too; Look where you want to go, not at the pothole; Two locks of
        different kinds discourage most thieves"""),
        words("""my hands go numb; there is a terrible crosswind on my route; something clicks under load; I have to carry a
        laptop; drivers pass very close"""),
    ),
    Topic(
        "photography",
        words("""tripod; prime lens; shutter speed; golden hour; memory card; polariser; portrait session; raw file; camera
        strap; histogram; street scene; flash diffuser; contact sheet; print lab"""),
        words("""shoot in raw; watch the background; bracket the exposure; back up twice; get closer; use a longer lens; wait
        for the light; lower the horizon; cull without mercy; calibrate the screen"""),
        words("""Light matters more than the camera; Focus on the nearest eye; Leave the wide lens at home for portraits; A
        print shows faults that a phone hides; Delete on the computer, never in the field; Learn one lens until you know
        its frame by heart"""),
        words("""my indoor pictures are all blurry; I have forty thousand unsorted files; people stiffen as soon as I lift the
        camera; the colours look odd on paper; my bag weighs a ton"""),
    ),
    Topic(
        "travel",
        words("""train pass; carry-on bag; travel adapter; hostel; window seat; city map; layover; guided tour; ferry ticket;
        packing cube; rail strike; night train; old town; food market"""),
        words("""book the first night; pack half; buy tickets early; learn ten words; keep a day free; carry some cash; avoid
        the tourist menu; scan the passport; walk the side streets; check the visa rules"""),
        words("""Two cities done slowly beat five in a rush; Trains often win once you count airport time; Museums are empty on
        the evening they stay open late; Keep copies of documents apart from the originals; Eat where the menu is short;
        Arrive with a plan for the first three hours only"""),
        words("""I get anxious about connections; the flights are absurdly expensive; we cannot agree where to go; I have only
        nine days off; I do not want to rent a car"""),
    ),
    Topic(
        "camping",
        words("""tent peg; sleeping pad; gas stove; head torch; dry bag; fire pit; rain fly; water filter; hammock; trail mix;
        cooler; guy line; merino layer; campsite map"""),
        words("""pitch before dark; check the forecast; hang the food; bring spare socks; air the sleeping bag; choose high
        ground; gather dry wood; pack out everything; test the stove; wear layers"""),
        words("""Your pad matters more than your bag when the ground is cold; Put the tent up once at home; Vent the tent or
        you will wake up wet; Keep a lighter and matches in separate places; Cotton is a poor friend in rain; Arrive two
        hours before sunset"""),
        words("""I never sleep well outside; the kids are scared of spiders; everything got soaked last time; we have a small
        car; I forgot the tin opener again"""),
    ),
    Topic(
        "guitar",
        words("""barre chord; capo; fingerpicking pattern; metronome; nylon string; practice amp; pentatonic scale; chord chart;
        thumb pick; tuner; open mic night; setlist; humidifier; slide"""),
        words("""practise slowly; relax the thumb; change the strings; play with a metronome; record yourself; learn the song by
        ear; mute the low string; loop the hard bar; warm up first; sing along"""),
        words("""Ten minutes a day beat two hours on Sunday; Slow enough to be perfect is the right speed; Fresh strings make an
        old guitar sing; Tension in the wrist is a sign to stop; Learn the rhythm before the notes; Play with others as
        soon as you can"""),
        words("""my fingertips hurt; I always rush the chorus; the neighbours can hear everything; I know five songs halfway; F
        major is my enemy"""),
    ),
    Topic(
        "board games",
        words("""worker placement game; card sleeve; dice tower; expansion box; rulebook; co-op campaign; scoring track; game
        night; two-player variant; insert; player aid; deck builder; meeple; house rule"""),
        words("""teach one round; read the rules aloud; set it up before; start with a short one; keep snacks off the table;
        sleeve the cards; balance the teams; use a timer; agree on house rules; stop while it is fun"""),
        words("""Explain the goal first and the exceptions last; Heavy games suit rested people; Co-op games soften sore losers;
        A good insert halves the setup time; Let newcomers win the first evening; Five players is one too many for
        most"""),
        words("""my friends take ages for each turn; we keep playing the same three; half of the group hates luck; the rules are
        forty pages; someone always checks the phone"""),
    ),
    Topic(
        "reading",
        words("""library card; reading list; short story; audiobook; book club; bookmark; paperback; mystery novel; reading
        journal; e-reader; memoir; translation; sequel; author talk"""),
        words("""read before bed; quit bad books; keep a notebook; alternate genres; join a club; reserve it early; listen while
        walking; skim the first chapter; lend generously; reread a favourite"""),
        words("""Give a book fifty pages, then decide; A slim book restarts the habit; Keep the phone in another room; Read two
        at once if they are different enough; Notes in the margin are a conversation; Libraries will order what you
        ask"""),
        words("""I fall asleep after two pages; my pile only grows; I never remember the plots; I cannot concentrate lately; the
        club picks are so gloomy"""),
    ),
    Topic(
        "painting",
        words("""watercolour block; filbert brush; masking fluid; gouache; easel; colour wheel; sketchbook; palette knife; still
        life; wash; primer; varnish; charcoal stick; life drawing class"""),
        words("""squint at the subject; start with a big brush; mix more than you need; let layers dry; draw every day; limit the
        palette; step back often; test on scrap; keep the whites; sign it small"""),
        words("""Value does the work and colour gets the credit; Good paper rescues mediocre paint; Three pigments can mix almost
        everything; Stop one stroke before you think it is done; Clean brushes with cool water; Copying a master is a fine
        way to learn"""),
        words("""my greens look like plastic; the paper buckles; I overwork everything; there is no space for an easel; faces never
        look like the person"""),
    ),
    Topic(
        "birdwatching",
        words("""binoculars; field guide; nest box; feeder; kingfisher; dawn chorus; wetland hide; suet ball; migration route;
        spotting scope; life list; marsh harrier; notebook; goldfinch"""),
        words("""go at dawn; listen first; move slowly; clean the feeder; note the weather; scan the reeds; keep the sun behind
        you; ask the locals; learn three calls; wear dull colours"""),
        words("""Songs find more birds than eyes do; Eight by forty-two is a good size to start with; Feeders need washing every
        week; Rarely seen often means rarely looked for; Sit still for ten minutes and things come back; Report a ring
        number if you can read it"""),
        words("""they all look brown to me; the squirrels empty everything; I get up too late; my neck hurts from looking up; the
        hide was full of photographers"""),
    ),
)
