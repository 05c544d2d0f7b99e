"""Repositories: what they are about, and pieces of their code, with slots.

A body of a function uses {name}, {noun}, {other}, {const}, {key}, {callee}, {n} and {code}.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.synth.banks.topic import words


@dataclass(frozen=True)
class Domain:
    """What a repository is about: its package, its nouns, and the prefix of its codes."""

    package: str
    about: str
    prefix: str
    nouns: tuple[str, ...]


DOMAINS = (
    Domain(
        "parcelkit",
        "routing of parcels",
        "PK",
        words("shipment; carrier; label; tariff; depot; manifest; customs; pallet; route; pickup"),
    ),
    Domain(
        "ledgerly",
        "double-entry bookkeeping",
        "LG",
        words("invoice; posting; account; voucher; journal; period; currency; balance; batch; refund"),
    ),
    Domain(
        "sensorgrid",
        "readings of sensors",
        "SG",
        words("reading; gateway; channel; calibration; window; alarm; beacon; firmware; packet; station"),
    ),
    Domain(
        "clinicflow",
        "appointments of a clinic",
        "CF",
        words("appointment; patient; referral; slot; ward; roster; consent; dosage; intake; billing"),
    ),
    Domain(
        "shelfware",
        "loans of a library",
        "SW",
        words("loan; reader; copy; reservation; fine; catalogue; branch; shelf; edition; notice"),
    ),
    Domain(
        "menuplan",
        "menus of a canteen",
        "MP",
        words("recipe; ingredient; pantry; portion; allergen; course; supplier; menu; order; tray"),
    ),
    Domain(
        "railboard",
        "departures of trains",
        "RB",
        words("train; platform; delay; connection; timetable; stop; coach; seat; detour; crew"),
    ),
    Domain(
        "greenhouse",
        "climate of greenhouses",
        "GH",
        words("bed; pump; nozzle; climate; seedling; harvest; irrigation; shade; nutrient; zone"),
    ),
)

VERBS = words(
    "load; parse; merge; resolve; validate; normalise; fetch; apply; schedule; split; encode; compact; expand; prune; match; round; reserve; collect; rank; settle"
)
ROLES = words("cache; store; rules; loader; writer; queue; index; client; policy; view; mapper; guard")
LAYERS = words("core; io; api; storage; rules; jobs")
LIMITS = words("LIMIT; TIMEOUT; WINDOW; DEPTH; BATCH; RETRIES; MARGIN; CAPACITY")
SETTINGS = words(
    "retry_limit; timeout_seconds; batch_size; cache_ttl; strict_codes; default_zone; max_depth; grace_days; flush_interval; page_size; rounding_mode; queue_name"
)
CASES = words(
    "when_empty; with_two_codes; after_midnight; keeps_order; twice; with_unknown_code; across_months; without_owner; of_zero; in_other_zone"
)
AUTHORS = words("Ada Lindqvist; Bo Teng; Carla Mbeki; Dov Haddad; Edda Novak; Farid Osei")
SUBJECTS = (
    "Cache the {noun} by code",
    "Do not round the {noun} twice",
    "{noun}: accept codes in lower case",
    "Move the {noun} rules out of the loader",
    "Fix the order of the {noun} queue",
    "Speed up {verb} of the {noun}",
    "Drop the old {noun} format",
    "Read the {noun} limit from the settings",
    "Retry when the {noun} is locked",
    "Tests for the {noun} across months",
)

BODIES = (
    """    limit = settings.get("{key}", {n})
    found = []
    for entry in {noun}.entries[:limit]:
        if entry.code in seen:
            continue
        found.append({callee}(entry, {other}))
    log.debug("{name}: %d of %d", len(found), len({noun}.entries))
    return found""",
    """    if {other} is None:
        {other} = {callee}({noun})
    total = sum(part.amount for part in {noun}.parts)
    if total > {const}:
        raise ValueError("{noun} above the limit: %s" % total)
    return {other}.with_total(total)""",
    """    try:
        value = _table[{noun}.code]
    except KeyError:
        log.warning("{name}: no {other} for code %s", {noun}.code)
        return None
    return value if value.valid_from <= {noun}.day else {callee}(value, {noun}.day)""",
    """    attempt = 0
    while attempt < {const}:
        attempt += 1
        answer = {callee}({noun}, timeout=settings.get("{key}", {n}))
        if answer is not None:
            return answer
        log.info("{name}: attempt %d of %d", attempt, {const})
    raise TimeoutError("{noun} did not answer")""",
    """    rows = sorted({noun}.rows, key=lambda row: (row.day, row.code))
    groups = {}
    for row in rows:
        groups.setdefault(row.code or "{code}", []).append(row)
    return [{callee}(code, group, {other}) for code, group in groups.items()]""",
    """    # {code} is what the old importer wrote for a missing {other}.
    if {noun}.code == "{code}":
        return {callee}({noun}, {other})
    parts = {noun}.code.split("-")
    if len(parts) != 2 or not parts[1].isdigit():
        raise ValueError("bad code of {a noun}: %r" % {noun}.code)
    return parts[0].upper(), int(parts[1]) % {const}""",
    """    left, right = {noun}.before({other}), {noun}.after({other})
    if not left and not right:
        return {noun}
    merged = left + right[: settings.get("{key}", {n})]
    for item in merged:
        item.owner = {noun}.owner
    return {callee}(merged, {other})""",
    """    key = ({noun}.owner, {noun}.code)
    with _lock:
        if key in _cache and _cache[key].age < {const}:
            return _cache[key]
        _cache[key] = {callee}({noun}, {other})
        while len(_cache) > {n}:
            _cache.pop(next(iter(_cache)))
    return _cache[key]""",
)

ERRORS = (
    "KeyError: '{code}'",
    "ValueError: bad code of {a noun}: '{code}'",
    "ValueError: {noun} above the limit: {n}.50",
    "AssertionError: assert {n} == {m}",
    "TimeoutError: {noun} did not answer within {n} ms",
    "TypeError: {callee}() got an unexpected keyword argument '{other}'",
    "AttributeError: '{Noun}' object has no attribute '{other}_{word}'",
)
WORDS = words("owner; zone; stamp; total; origin; weight; status; parent")

LOG_LINES = (
    "INFO  {module} started, {n} {noun} entries in the queue",
    "INFO  {module} request {request} took {n} ms",
    "DEBUG {module} cache hit for {code}",
    "DEBUG {module} {name}: {n} of {m}",
    "WARN  {module} slow {noun}: request {request}, {n} ms",
    "WARN  {module} no {other} for code {code}",
    "ERROR {module} {error}",
)

TASKS = (
    "The nightly job of our {package} repository ({about}) has been reporting wrong results for some {noun} entries since the last release, and a few tests about {noun} and {other} fail now and then. Find the causes, fix them, keep the settings as they are, and note in CHANGELOG.md what you changed and how it was found. The repository is in the current directory. Submit when the tests that matter pass.",
    "Users of {package} ({about}) report that a {noun} is sometimes counted twice, and that the {other} then has the wrong total. Find out where this comes from: the code, the settings, the logs under logs/ and the history may all tell. Fix it with small changes, rerun what failed, and write down the findings in NOTES.md.",
    "Please go through the open failures of {package} ({about}): each failing test of {noun}, {other} and what they use. Reproduce each with a script, repair the code, check against the settings under config/, and leave a summary in NOTES.md that names commits, tests and settings.",
    "Our package {package} ({about}) is moving to stricter codes. Some {noun} code still accepts what it should not, and the {other} tests are flaky. Make the code strict, find the commits that loosened it, and keep a list of all that you touched in CHANGELOG.md.",
)
