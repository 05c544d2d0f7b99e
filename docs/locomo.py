"""The numbers of docs/locomo.md: trains on some conversations of LoCoMo, answers the requests of others, compares.

    python docs/locomo.py locomo10.json

makes two lakes in `.locomo`, and prints each command before it runs it. MLflow's store is made there too.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

SEED_RECIPE = "agentmemrec"
TUNED = "tuned"


def stored(source: str, train: str, test: str) -> list[list[str]]:
    """The commands that make the two lakes, without the word slatemill."""
    made: list[list[str]] = []
    for lake, items in (("learned", train), ("asked", test)):
        made += [["init", lake], ["ingest", lake, source, "--items", items]]
    return made


def commands(profiles: list[str], workers: str) -> list[list[str]]:
    """The commands that follow, in order."""
    made: list[list[str]] = []
    for profile in profiles:
        with_it = ["--profile", profile, "--workers", workers]
        if profile == TUNED:
            made.append(["finetune", "learned", *with_it])
            with_it += ["--backfill", "tuned_turn_tokens"]  # beside the codes of the frozen encoder
        made.append(["train", "learned", *with_it, "--out", f"ranker-{profile}"])
        made.append(["run", "asked", *with_it, "--ranker", f"ranker-{profile}"])
        made.append(["evaluate", "asked", "--profile", profile, "--json", f"{profile}.json"])
    for profile in profiles:
        if profile != SEED_RECIPE:
            against = ["compare", "asked", "--profile", profile, "--against", SEED_RECIPE]
            made += [against, [*against, "--budget", "1350", "--against-budget", "2700"]]
    return made


def arguments(about: str, folder: str) -> argparse.ArgumentParser:
    """What such a script is told on its command line."""
    parser = argparse.ArgumentParser(description=about.split("\n", maxsplit=1)[0])
    parser.add_argument("source", type=Path, help="LoCoMo's JSON")
    parser.add_argument("--train", default="0-2", help="conversations to learn from")
    parser.add_argument("--test", default="3-5", help="conversations to be asked")
    parser.add_argument("--folder", type=Path, default=Path(folder))
    parser.add_argument("--workers", default=str(os.cpu_count() or 1))
    return parser


def execute(lines: list[list[str]], folder: Path) -> None:
    """Runs commands one after the other in a folder; ends with the exit code of the first that fails."""
    folder.mkdir(parents=True, exist_ok=True)
    program = "import sys; sys.argv[0] = 'slatemill'; from jobs.cli import main; main()"
    for words in lines:
        print(f"$ slatemill {shlex.join(words)}", flush=True)
        done = subprocess.run([sys.executable, "-c", program, *words], cwd=folder, check=False)
        if done.returncode:
            sys.exit(done.returncode)


def main() -> None:
    """Makes the lakes, and runs, evaluates and compares the profiles."""
    parser = arguments(__doc__ or "", ".locomo")
    parser.add_argument("--profiles", default="agentmemrec,default,tuned")
    given = parser.parse_args()
    lakes = stored(str(given.source.resolve()), given.train, given.test)
    execute([*lakes, *commands(given.profiles.split(","), given.workers)], given.folder)


if __name__ == "__main__":
    main()
