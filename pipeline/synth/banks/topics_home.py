"""Topics around house, kitchen and garden."""

from __future__ import annotations

from pipeline.synth.banks.topic import Topic, words

HOME_TOPICS = (
    Topic(
        "cooking",
        words("""cast iron pan; chef's knife; chopping board; stock pot; lemon zest; garlic paste; tomato sauce; roast
        chicken; lentil soup; risotto; spice rack; pressure cooker; marinade; vinaigrette"""),
        words("""sear the meat first; taste as you go; deglaze the pan; toast the spices; rest the dough; salt the water;
        prep everything beforehand; cook in batches; lower the heat; finish with acid"""),
        words("""Salt early and in small amounts, because it needs time to travel through the food; Dry the surface with
        kitchen paper before it touches hot fat; A splash of vinegar at the end wakes up a flat stew; Freeze leftover
        stock in ice cube trays so that you always have some; Sharp knives are safer than blunt ones, oddly enough;
        Let meat rest for a third of its cooking time"""),
        words("""I always end up with too many dirty dishes; my sauce splits every single time; the kids will only eat
        beige food at the moment; I never know what to do with half a cabbage; our stove heats unevenly"""),
    ),
    Topic(
        "baking",
        words("""sourdough starter; proofing basket; rye loaf; cinnamon bun; pie crust; muffin tin; stand mixer; oven
        thermometer; brioche; icing; sponge cake; parchment paper; baker's scale; almond croissant"""),
        words("""weigh the flour; chill the butter; feed the starter; steam the oven; fold the dough; cool it on a rack;
        sift the sugar; preheat longer; watch the crumb; score the loaf"""),
        words("""Go by the look of the dough rather than by the clock; Most home ovens are off by ten or fifteen degrees;
        Wet hands stop a sticky dough from clinging to you; Overnight proofing in the fridge gives a deeper flavour;
        Room temperature eggs mix in far better; Steam in the first ten minutes makes a thin, crackling crust"""),
        words("""my bread comes out dense as a brick; the bottoms burn before the tops brown; I forgot about the starter
        again; I want something that survives a day in a lunch box; my cakes sink in the middle"""),
    ),
    Topic(
        "gardening",
        words("""raised bed; compost heap; tomato seedling; drip hose; pruning shears; hydrangea; lavender border; slug
        trap; cold frame; mulch; watering can; rose bush; herb spiral; greenhouse shelf"""),
        words("""water in the morning; pinch out the tips; loosen the soil; divide the perennials; harden off the plants;
        rotate the beds; mulch before summer; check the roots; sow in rows; cut above a bud"""),
        words("""Water deeply and seldom rather than a little every day; Coffee grounds are fine in compost but not as a
        thick layer; Never prune when frost is forecast; A soil test costs little and saves a season of guessing; Slugs
        dislike copper tape, at least for a while; Plant in the evening so that roots settle overnight"""),
        words("""something keeps eating my lettuce; the north side gets almost no sun; it has not rained here for weeks;
        the soil is mostly clay; last year everything bolted"""),
    ),
    Topic(
        "home renovation",
        words("""kitchen splashback; floor tile; drywall panel; laminate plank; radiator; skirting board; light switch;
        paint roller; bathroom fan; window frame; spirit level; grout; extension lead; door hinge"""),
        words("""measure twice; sand the edges; prime the wall; turn off the mains; seal the joints; let it cure; hide the
        cables; order spare tiles; find the studs; tape the corners"""),
        words("""Always buy ten percent more tiles than the area needs; Paint the ceiling before the walls; Ask for three
        quotes and compare what they include; Damp has a cause, so treat that before you repaint; Keep a photo of every
        open wall before it is closed; Cheap masking tape costs you an evening of touching up"""),
        words("""the previous owners did strange things with the wiring; dust gets absolutely everywhere; we are living out
        of boxes; the budget is already tight; I have never held a drill before"""),
    ),
    Topic(
        "houseplants",
        words("""monstera; snake plant; peace lily; terracotta pot; grow light; moss pole; potting mix; fiddle-leaf fig;
        pothos cutting; humidity tray; orchid; drainage saucer; spider mite; calathea"""),
        words("""repot in spring; wipe the leaves; let the soil dry; rotate the pot; mist the foliage; trim the roots;
        check for pests; move it to brighter light; bottom-water it; take a cutting"""),
        words("""Overwatering kills more plants than neglect does; Yellow lower leaves are normal now and then; A pot
        without a hole is a slow drowning; Most tropical plants like bright but indirect light; Fertilise only while the
        plant is growing; Quarantine a new plant for two weeks"""),
        words("""the tips are turning brown; tiny flies come out of the soil; the cat chews on everything green; my flat is
        rather dark; I travel too much for needy plants"""),
    ),
    Topic(
        "decluttering",
        words("""wardrobe; storage box; junk drawer; label maker; shoe rack; paper pile; donation bag; attic shelf; vacuum
        bag; spice jar; cable bin; linen closet; hall table; photo album"""),
        words("""start with one drawer; sort by category; label the boxes; set a timer; donate right away; digitise the
        papers; measure the shelves; keep a maybe box; clear the floor first; fold things upright"""),
        words("""One full bag a week beats one heroic weekend; Sentimental things come last; If you would not buy it again,
        let it go; Store things where you use them; Containers do not create order, decisions do; Take a picture of the
        thing and keep the memory"""),
        words("""I cannot throw away gifts; my partner collects everything; the hallway looks like a storage unit; I did it
        last year and it all came back; there are seven boxes of cables"""),
    ),
    Topic(
        "interior design",
        words("""wool rug; floor lamp; accent wall; linen curtain; gallery wall; side table; velvet armchair; colour
        palette; bookshelf; pendant light; mirror; throw blanket; oak sideboard; paint sample"""),
        words("""layer the lighting; test the paint at night; repeat a colour; leave some empty space; hang curtains high;
        mix textures; anchor the rug; group objects in threes; float the sofa; pick a focal point"""),
        words("""Warm bulbs change a room more than new furniture does; A rug should reach under the front legs of the sofa;
        Hang art so that its centre is at eye level; Large pieces make a small room calmer; Look at samples in daylight
        and lamplight; Buy the sofa last, once you know how you live there"""),
        words("""the living room feels cold; the ceiling is very low; we rent, so no drilling; everything is grey; I like
        colour but am afraid of it"""),
    ),
    Topic(
        "coffee",
        words("""burr grinder; pour-over cone; milk jug; portafilter; gooseneck kettle; espresso shot; paper filter; cold
        brew jar; roast date; tamper; flat white; moka pot; coffee scale; descaler"""),
        words("""grind right before brewing; rinse the filter; purge the steam wand; dial in the grind; weigh the dose;
        preheat the cup; clean the gasket; taste at two ratios; store beans airtight; lower the water temperature"""),
        words("""Change one variable at a time; Sour means under-extracted, bitter the opposite; Hard water is hard on both
        flavour and machine; Beans taste best between one and four weeks after roasting; A cheap scale helps more than an
        expensive kettle; Milk is sweetest just before it gets too hot to touch"""),
        words("""my shots run too fast; decaf always tastes of cardboard to me; the machine drips; mornings are rushed here;
        the office coffee is undrinkable"""),
    ),
)
