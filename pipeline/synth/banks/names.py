"""Names of people, places and businesses, and who may do a thing instead of the user."""

from __future__ import annotations

from pipeline.synth.banks.topic import words

PEOPLE = words("""Aisha; Ben; Carla; Dmitri; Elena; Farid; Greta; Hugo; Ines; Jonas; Katya; Liam; Marta; Nikhil; Olga; Pedro;
Quentin; Rosa; Samir; Tess; Uma; Victor; Wanda; Xavier; Yuki; Zoe; Anders; Bianca; Chidi; Delphine; Emeka; Fiona; Gustavo;
Hannah; Idris; Jolene; Kenji; Leila; Mateus; Noor; Oscar; Priya; Rafael; Soraya; Tobias; Valeria; Wei; Yasmin; Arlo; Maeve""")

OTHERS = words("""my sister; my brother; my neighbour; a colleague of mine; my cousin; my flatmate; my mother-in-law; my old
boss; a friend from school; my uncle; the couple next door; my dad; my best friend; someone in my book club; our babysitter""")

FAMILY_NAMES = words("""Harrow; Finch; Okafor; Lindqvist; Marlowe; Bellini; Castellan; Dufour; Espinoza; Fairweather; Grimaldi;
Holloway; Ivanova; Jankowski; Kessler; Lockhart; Moreau; Nakamura; Ostrander; Pemberton; Quill; Rosenthal; Santoro; Tanaka;
Underhill; Vandermeer; Whitlock; Yarrow; Zimmer; Abernathy; Brannigan; Corso""")

CITIES = words("""Lisbon; Ghent; Porto; Krakow; Bergen; Trieste; Seville; Utrecht; Tallinn; Bologna; Kyoto; Oaxaca; Montreal;
Galway; Leipzig; Ljubljana; Cardiff; Marseille; Valencia; Aarhus; Split; Quito; Hanoi; Tbilisi; Riga; Basel""")

STREETS = words("""Mill Lane; Canal Street; Station Road; Orchard Row; Harbour Quay; Chapel Hill; Market Square; Linden Avenue;
Foundry Yard; Kings Parade; Willow Court; Bridge Street; Tannery Row; Old Fish Dock; Cloister Walk; Garden Terrace""")

WEEKDAYS = words("Monday; Tuesday; Wednesday; Thursday; Friday; Saturday; Sunday")
