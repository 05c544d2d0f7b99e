"""The numbers of docs/memory.md: every policy of memory on conversations of LoCoMo that no ranker has seen.

    python docs/memory.py locomo10.json

makes two lakes in `.memory`, and prints each command before it runs it. MLflow's store is made there too.
"""

from __future__ import annotations

from locomo import arguments, execute, stored

from jobs.config import load_profile

PROFILE = "compared"
BEST = "ranked_pieces"
TIMELINE = {"no_timeline": "unit_recovery", "piece_retrieval": "piece_recovery", "ranked_retrieval": BEST}
"""What is left of a policy without its timeline."""


def commands(workers: str) -> list[list[str]]:
    """The commands after those that make the lakes, without the word slatemill."""
    with_it = ["--profile", PROFILE, "--workers", workers]
    made = [
        ["train", "learned", *with_it, "--out", "ranker"],
        ["run", "asked", *with_it, "--ranker", "ranker"],
        ["evaluate", "asked", "--profile", PROFILE, "--json", "evaluation.json"],
    ]
    others = [policy for policy in load_profile(PROFILE).slates.policies if policy != BEST]
    pairs = [*((BEST, other) for other in others), *TIMELINE.items()]
    return made + [
        ["compare", "asked", "--profile", f"{PROFILE}:{ours}", "--against", f"{PROFILE}:{theirs}"]
        for ours, theirs in pairs
    ]


def main() -> None:
    """Makes the lakes, and runs, evaluates and compares every policy."""
    given = arguments(__doc__ or "", ".memory").parse_args()
    lakes = stored(str(given.source.resolve()), given.train, given.test)
    execute([*lakes, *commands(given.workers)], given.folder)


if __name__ == "__main__":
    main()
