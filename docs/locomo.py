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


def commands(source: str, train: str, test: str, profiles: list[str], workers: str) -> list[list[str]]:
    """The commands in order, without the word slatemill."""
    made: list[list[str]] = []
    for lake, items in (("learned", train), ("asked", test)):
        made += [["init", lake], ["ingest", lake, source, "--items", items]]
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


def main() -> None:
    """Runs them one after the other; ends with the exit code of the first that fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("source", type=Path, help="LoCoMo's JSON")
    parser.add_argument("--train", default="0-2", help="conversations to learn from")
    parser.add_argument("--test", default="3-5", help="conversations to be asked")
    parser.add_argument("--profiles", default="agentmemrec,default,tuned")
    parser.add_argument("--folder", type=Path, default=Path(".locomo"))
    parser.add_argument("--workers", default=str(os.cpu_count() or 1))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    program = "import sys; sys.argv[0] = 'slatemill'; from jobs.cli import main; main()"
    for words in commands(
        str(given.source.resolve()), given.train, given.test, given.profiles.split(","), given.workers
    ):
        print(f"$ slatemill {shlex.join(words)}", flush=True)
        done = subprocess.run([sys.executable, "-c", program, *words], cwd=given.folder, check=False)
        if done.returncode:
            sys.exit(done.returncode)


if __name__ == "__main__":
    main()
