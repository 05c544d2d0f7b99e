"""Makes the rankers that come with slatemill, from generated histories alone: no label of a real one is read.

    python docs/shipped.py

makes a lake in `.shipped`, prints each command before it runs it, and puts the ranker of the profile `default` into
models/shipped. With LoCoMo's JSON it then says how good the ranker is on some conversations of it, beside the order of
recall, and changes nothing:

    python docs/shipped.py --judge locomo10.json --items 0-2
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import yaml

from models.ranker import LightGBMRanker
from pipeline.features.directions import directions

ROOT = Path(__file__).resolve().parent.parent
PROFILE = "default"
SHIPPED = ROOT / "models" / "shipped" / PROFILE

HISTORIES = ((4101, 30, 12, 4), (4102, 40, 20, 6))
"""What is generated: seed, histories, sessions of each, and requests over each. Seeds that nothing else here uses."""

RANKER = {"size": "small", "num_leaves": 3, "trees": 200, "early_stopping_rounds": 0, "prior": 0.125}
"""How it is fitted, in place of what the profile says, chosen on LoCoMo's conversations 0 to 2. The trees are no more
than these, for what ranks generated histories best is more than carries over to real ones."""

_PROGRAM = "import sys; sys.argv[0] = 'slatemill'; from jobs.cli import main; main()"
_ABOUT = """
## Where it comes from

It comes with slatemill, and runs of profile `{profile}` take it where that has no champion of its own. It was made by
`python docs/shipped.py` and learned from generated histories alone, so its numbers above are of generated histories,
too. How it is fitted (its features, `prior`, leaves and trees) was chosen by how it did on conversations 0 to 2 of
LoCoMo, in English; how it does there and on others stands in docs/training.md.
"""


def made(workers: str) -> list[list[str]]:
    """The commands that make the ranker, without the word slatemill. What is generated has a lake of its own."""
    lake = f"generated-{_generator()[:8]}"
    commands = [["init", lake]]
    for seed, histories, sessions, requests in HISTORIES:
        sizes = ("--histories", str(histories), "--sessions", str(sessions), "--requests", str(requests))
        commands.append(["synth", f"{seed}.json", *sizes, "--seed", str(seed)])
        commands.append(["ingest", lake, f"{seed}.json"])
    commands.append(["train", lake, "--profile", f"./{PROFILE}.yaml", "--workers", workers, "--out", "ranker"])
    return commands


def _generator() -> str:
    """A digest of what is generated: the sizes, and the files that generate."""
    digest = hashlib.sha256(repr(HISTORIES).encode())
    for path in sorted((ROOT / "pipeline" / "synth").rglob("*")):
        if path.suffix in (".py", ".json", ".txt"):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def judged(source: str, items: str, workers: str) -> list[list[str]]:
    """The commands that judge it on conversations of LoCoMo."""
    lake = f"locomo-{items}"
    return [
        ["init", lake],
        ["ingest", lake, source, "--items", items],
        ["run", lake, "--profile", PROFILE, "--workers", workers, "--ranker", f"shipped/{PROFILE}"],
        ["evaluate", lake, "--profile", PROFILE],
        ["compare", lake, "--profile", PROFILE, "--against", f"{PROFILE}:recall_order"],
    ]


def profile() -> str:
    """The profile that the ranker is trained by: that of its name, fitted as RANKER says."""
    values = yaml.safe_load((ROOT / "jobs" / "profiles" / f"{PROFILE}.yaml").read_text(encoding="utf-8"))
    # What the other features teach (who speaks, how long, when, how it is asked) is how histories are generated.
    rising, falling = map(list, directions(values["features"]))
    learned = [name for name in values["features"] if name in rising or name in falling]
    ranker = {**RANKER, "features": learned, "rising": rising, "falling": falling}
    return yaml.safe_dump({**values, "ranker": ranker}, sort_keys=False)


def main() -> None:
    """Runs the commands one after the other; ends with the exit code of the first that fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--judge", type=Path, help="LoCoMo's JSON: judge the ranker that is there, make none")
    parser.add_argument("--items", default="0-2", help="conversations to judge by")
    parser.add_argument("--folder", type=Path, default=Path(".shipped"))
    parser.add_argument("--workers", default=str(os.cpu_count() or 1))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.judge is not None:
        _run(judged(str(given.judge.resolve()), given.items, given.workers), given.folder)
        return
    (given.folder / f"{PROFILE}.yaml").write_text(profile(), encoding="utf-8")
    _run(made(given.workers), given.folder)
    # Bound to no one digest of its models: profiles that name the same ones take it (jobs/ranker_choice.py).
    replace(LightGBMRanker.load(given.folder / "ranker"), scored_by=()).save(SHIPPED)
    with (SHIPPED / "card.md").open("a", encoding="utf-8") as card:
        card.write(_ABOUT.format(profile=PROFILE))


def _run(commands: list[list[str]], folder: Path) -> None:
    store = f"sqlite:///{folder.resolve()}/mlflow.db"
    for words in commands:
        print(f"$ slatemill {shlex.join(words)}", flush=True)
        environment = {**os.environ, "MLFLOW_TRACKING_URI": store}
        done = subprocess.run([sys.executable, "-c", _PROGRAM, *words], cwd=folder, env=environment, check=False)
        if done.returncode:
            sys.exit(done.returncode)


if __name__ == "__main__":
    main()
