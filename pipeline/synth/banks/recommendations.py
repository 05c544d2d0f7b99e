"""What the assistant named when asked: facts that stand in its own turns.

Each kind has purposes (pairs: as asked, and in other words) and names made of two parts.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.synth.banks.events import pairs
from pipeline.synth.banks.topic import words


@dataclass(frozen=True)
class Kind:
    """A kind of thing to recommend. `name` is a template over {first} and {second}."""

    kind: str
    topics: tuple[str, ...]
    purposes: tuple[tuple[str, str], ...]
    firsts: tuple[str, ...]
    seconds: tuple[str, ...]


KINDS = (
    Kind(
        "restaurant",
        ("travel", "cooking", "event planning"),
        pairs("""with a terrace by the river / where one eats outside next to the water; for a quiet anniversary dinner / for two
        people who want to celebrate without noise; that is good with small children / where toddlers are welcome; with
        vegetarian tasting menus / serving many courses without meat; open late at night / still serving after midnight; with
        cheap lunch specials / for a midday meal on a small budget"""),
        words("Blue; Little; Old; Crooked; Golden; Silent; Copper"),
        words("Anchor; Fig; Lantern; Heron; Spoon; Cellar; Table"),
    ),
    Kind(
        "podcast",
        ("running", "language learning", "personal finance", "sleep"),
        pairs("""about the Roman empire / dealing with emperors and legions; for falling asleep / that makes one drowsy; on personal
        investing / explaining shares and funds; with true crime stories / about unsolved cases; for learning Spanish / in slow
        Castilian; about film music / on scores and soundtracks"""),
        words("Slow; Daily; Hidden; Second; Curious; Honest; Northern"),
        words("Echoes; Matters; Chapters; Signals; Hours; Voices; Threads"),
    ),
    Kind(
        "app",
        ("personal finance", "sleep", "strength training", "parenting"),
        pairs("""for splitting bills with flatmates / to share household expenses; for tracking migraines / to log headaches; for
        identifying mushrooms / that recognises fungi; for planning meals / that organises dinners for the week; for guided
        breathing / with exercises for calm lungs; for sharing chores / that divides up the housework"""),
        words("Ledger; Bright; Tidy; Quick; Owl; Pebble; Zen"),
        words("Nest; Loop; Path; Note; Wise; Mate; Deck"),
    ),
    Kind(
        "hiking trail",
        ("camping", "birdwatching", "travel", "photography"),
        pairs("""with a waterfall halfway / leading past falling water; that is fine with a pushchair / smooth enough for a buggy;
        for watching the sunrise / where one sees the first light; with very few people / that is nearly empty; along the
        cliffs / high above the sea; through old beech woods / under ancient trees"""),
        words("Raven; Miller's; Three Stones; Foxglove; Shepherd's; Juniper; Smuggler's"),
        words("Loop; Ridge; Path; Hollow; Traverse; Steps; Round"),
    ),
    Kind(
        "paint colour",
        ("interior design", "home renovation", "painting"),
        pairs("""for a north-facing bedroom / where little sun comes in and one sleeps; for a tiny hallway / in a narrow entrance; for
        the nursery / in the baby's room; for a kitchen with oak cabinets / to go with wooden cupboards; for the front door /
        at the entrance outside; for a home office / where one works at a desk"""),
        words("Dusty; Warm; Faded; Nordic; Burnt; Morning; Smoky"),
        words("Clay; Sage; Linen; Plum; Ochre; Mist; Teal"),
    ),
    Kind(
        "board game",
        ("board games", "parenting", "event planning"),
        pairs("""for exactly two players / that a couple can play; for a big noisy party / with a dozen loud guests; for seven-year-olds
        / that second-graders understand; without any luck / where dice play no part; that takes under half an hour / for a short
        evening; with a space theme / about rockets and planets"""),
        words("Lost; Crimson; Tiny; Rival; Frozen; Merchant; Paper"),
        words("Harbours; Kingdoms; Comets; Guilds; Islands; Gardens; Foxes"),
    ),
    Kind(
        "novel",
        ("reading", "travel", "sleep"),
        pairs("""set on a remote island / that takes place far out at sea; about two sisters / dealing with female siblings; that is
        funny and short / which makes one laugh and is thin; with an unreliable narrator / where the storyteller lies; for a
        long flight / to read on a plane; translated from Norwegian / by a Scandinavian author"""),
        words("The Salt; A Borrowed; The Last; An Ordinary; The Winter; A Patient; The Glass"),
        words("Orchard; Summer; Ferryman; Letter; Archive; Daughter; Tide"),
    ),
    Kind(
        "stretch",
        ("running", "strength training", "guitar", "cycling"),
        pairs("""for tight hips / to loosen the pelvis; for a stiff neck / when turning the head hurts; for wrists after typing / to
        relieve hands that used a keyboard; for sore calves / to ease the lower legs; before going to bed / in the last minutes
        of the evening; for the lower back / to help the lumbar spine"""),
        words("Half; Supine; Open; Kneeling; Twisted; Seated; Low"),
        words("Pigeon; Lizard; Eagle; Crescent; Cobbler; Sphinx; Butterfly"),
    ),
    Kind(
        "museum",
        ("travel", "painting", "photography", "language learning"),
        pairs("""for a rainy afternoon / when the weather is wet; with a children's wing / that has rooms for kids; about old clocks /
        full of antique timepieces; that is free on Sundays / without a fee at the weekend; with modern sculpture / showing recent
        works in steel and stone; about textiles / devoted to woven cloth"""),
        words("Verhoeven; Aldridge; Santa Lucia; Kronberg; Docklands; Rosewood; Meridian"),
        words("Collection; House; Gallery; Museum; Foundation; Rooms; Pavilion"),
    ),
    Kind(
        "tool",
        ("programming", "job search", "photography"),
        pairs("""for comparing two spreadsheets / to see how tables differ; for renaming photos in bulk / to give many pictures new
        names; for drawing diagrams / to sketch boxes and arrows; for testing web forms / that fills in pages automatically; for
        finding duplicate files / that spots copies on the disk; for writing a resume / to lay out a CV"""),
        words("Grid; Flux; Open; Nimble; Hex; Tri; Quill"),
        words("Diff; Board; Sketch; Forge; Sweep; Lens; Kit"),
    ),
    Kind(
        "recipe",
        ("cooking", "baking", "nutrition", "coffee"),
        pairs("""for leftover rice / to use up yesterday's grains; for a cold soup / that is eaten chilled from a bowl; with too many
        courgettes / when the zucchini will not stop; without an oven / if one has only a hob; for a birthday cake / to celebrate
        with candles; ready in ten minutes / for very busy evenings"""),
        words("Smoky; Aunt Rosa's; Harbour; Midweek; Saffron; Golden; Rustic"),
        words("Fritters; Gazpacho; Bake; Skillet; Torte; Parcels; Bowl"),
    ),
    Kind(
        "variety",
        ("gardening", "houseplants"),
        pairs("""that tolerates shade / for a corner without sun; for a windy balcony / where gusts blow; that bees love / attracting
        pollinators; for heavy clay / growing in sticky ground; that is safe for cats / harmless to felines; for a hanging
        basket / to trail from above"""),
        words("Silver; Queen's; Early; Velvet; Alpine; Midnight; Coral"),
        words("Bellflower; Fern; Sedum; Nasturtium; Campion; Heather; Skullcap"),
    ),
)
