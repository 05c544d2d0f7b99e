"""The family: a task in made-up apps, and what an agent reads first and does with it later."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.synth.agents.apps.calls import EXPIRES, Calls
from pipeline.synth.agents.apps.records import Account, Record, account
from pipeline.synth.agents.chances import think
from pipeline.synth.agents.ends import LooseEnds
from pipeline.synth.agents.step import Step
from pipeline.synth.banks.agents.apps import BELONGINGS, CONTACTS, RESOURCES, SUPERVISOR, TASKS, Deed, Resource
from pipeline.synth.dice import Dice
from pipeline.synth.grammar import say

_PER_PAGE = (2, 4)
"""Entries of a page that are acted on."""
_BY_NAME = {one.name: one for one in BELONGINGS}


class AppsTask:
    """Put accounts in order: page through records, and act on them with tokens, ids and addresses read before."""

    def __init__(self, dice: Dice) -> None:
        self.dice, self.ends = dice, LooseEnds(dice)
        self.resources = dice.sample(RESOURCES, dice.between(3, 5))
        self.account: Account = account(dice, self.resources)
        self.calls = Calls(dice, self.account)
        first, second, third = (resource.noun for resource in self.resources[:3])
        values = {"owner": self.account.owner, "first": first, "second": second, "third": third}
        self.task = say(dice.pick(TASKS), dice, values)
        self._page = dict.fromkeys((resource.noun for resource in self.resources), 0)
        self._documented: set[str] = set()
        self._done: list[str] = []
        self._contacts = list(self.account.contacts)

    def start(self) -> Iterator[Step]:
        """The accounts with their passwords, and the people."""
        passwords = self.account.passwords
        listed = [{"account_name": app, "password": password} for app, password in passwords.items()]
        yield self.calls.call(
            f"{SUPERVISOR}.show_account_passwords", {}, listed, think(self.dice, "survey"), passwords.values()
        )
        profile = {"name": self.account.owner, "email": self.account.user}
        yield self.calls.call(f"{SUPERVISOR}.show_profile", {}, profile, shows=[self.account.user])
        yield from self._more_contacts()

    def explore(self) -> Iterator[Step]:
        """The next page of some records; where all are read, contacts, or a single record."""
        unread = [one for one in self.resources if self._page[one.noun] < len(self.account.pages[one.noun])]
        if self._contacts and (not unread or self.dice.chance(0.12)):
            yield from self._more_contacts()
        elif unread:
            yield from self._next_page(self.dice.pick(unread))
        else:
            resource = self.dice.pick(self.resources)
            yield from self._show(self.dice.pick(self.dice.pick(self.account.pages[resource.noun])))

    def finish(self) -> Iterator[Step]:
        """A last look, and the ids of what was done."""
        yield self.calls.call(f"{SUPERVISOR}.show_active_task", {}, {"status": "open", "answer": None})
        arguments = {"app_name": SUPERVISOR, "api_name": "complete_task"}
        yield self.calls.call(
            "api_docs.show_api_doc", arguments, {"parameters": [{"name": "answer", "type": "string"}]}
        )
        answer = {"answer": ", ".join(self.dice.sample(self._done, 6)) or "none"}
        thought = think(self.dice, "finish")
        yield self.calls.call(f"{SUPERVISOR}.complete_task", answer, {"message": "Marked the task complete."}, thought)

    def _signed_in(self, app: str, api: str) -> Iterator[Step]:
        """A token for an app: the one of before, or a new one where there is none or it has expired."""
        if app not in self.account.tokens:
            yield self.calls.login(app)
        elif self.dice.chance(EXPIRES):
            yield self.calls.refused(
                api, {"access_token": self.account.tokens[app]}, 401, "The access token has expired."
            )
            yield self.calls.login(app)

    def _token(self, app: str) -> dict[str, str | int]:
        return {"access_token": self.account.tokens[app]}

    def _more_contacts(self) -> Iterator[Step]:
        """A page of the phonebook."""
        api = f"{CONTACTS}.search_contacts"
        yield from self._signed_in(CONTACTS, api)
        page, self._contacts = self._contacts[:9], self._contacts[9:]
        number = 1 + (len(self.account.contacts) - len(self._contacts) - 1) // 9
        arguments = {**self._token(CONTACTS), "query": "", "page_index": number}
        shows = [contact[key] for contact in page for key in ("email", "contact_id", "phone_number")]
        yield self.calls.call(api, arguments, page, think(self.dice, "page", subject="contacts"), shows)
        self.account.emails |= {contact["name"]: contact["email"] for contact in page}

    def _next_page(self, resource: Resource) -> Iterator[Step]:
        api = f"{resource.app}.{resource.list_api}"
        yield from self._signed_in(resource.app, api)
        page = self._page[resource.noun]
        self._page[resource.noun] += 1
        records = self.account.pages[resource.noun][page]
        arguments = {**self._token(resource.app), "page_index": page, "page_limit": len(records)}
        yield from self._documented_first(api, arguments, 0.4)
        thought = think(self.dice, "page", subject=resource.noun)
        yield self.calls.call(api, arguments, [record.values for record in records], thought, _shown(records))
        for record in self.dice.sample(records, self.dice.between(*_PER_PAGE)):
            deed = self.dice.pick(resource.deeds)
            hint = deed.spoken.replace("{person}", record.person)
            self.ends.leave(hint, self._do, record, deed)
        if self.dice.chance(0.4):
            record = self.dice.pick(records)
            self.ends.leave(f"read the one of {record.person} in the {resource.noun}", self._show, record)

    def _show(self, record: Record) -> Iterator[Step]:
        """One record, with what its page did not tell."""
        resource = record.resource
        api = f"{resource.app}.{resource.show_api}"
        yield from self._signed_in(resource.app, api)
        arguments = {**self._token(resource.app), resource.key: record.name}
        more = {
            "version": self.dice.between(2, 90),
            "shared_with": self.dice.sample([*self.account.emails.values()], 2),
        }
        thought = think(self.dice, "deed", subject=f"entry of {record.person}")
        yield self.calls.call(api, arguments, {**record.values, **more}, thought, _shown([record]))

    def _do(self, record: Record, deed: Deed) -> Iterator[Step]:
        """Acts on a record; what is needed and not known yet is looked up first."""
        app = deed.api.split(".")[0]
        yield from self._signed_in(app, deed.api)
        sources = dict(deed.arguments)
        yield from self._looked_up(record, [*sources.values()])
        arguments = {**self._token(app), **{name: self._value(record, text) for name, text in sources.items()}}
        yield from self._documented_first(deed.api, arguments, 0.6)
        if self.dice.chance(0.12):
            left_out = self.dice.pick([*sources])
            tried = {name: value for name, value in arguments.items() if name != left_out}
            yield self.calls.refused(deed.api, tried, 422, f"Validation error: field required: {left_out}")
        made = str(self.dice.between(100_000, 999_999))
        answer = {"message": f"{deed.api.split('.')[1].replace('_', ' ').capitalize()}: done.", "confirmation_id": made}
        thought = think(self.dice, "deed", subject=f"entry of {record.person}")
        yield self.calls.call(deed.api, arguments, answer, thought, [made])
        self._done += [record.name, made]
        if self.dice.chance(0.3):
            hint = f"confirm what was done about {record.person}"
            self.ends.leave(hint, self._confirm, app, made)

    def _confirm(self, app: str, made: str) -> Iterator[Step]:
        """Asks for the state of something that was done."""
        api = f"{app}.show_confirmation"
        yield from self._signed_in(app, api)
        answer = {"confirmation_id": made, "state": self.dice.pick(("done", "pending", "done"))}
        yield self.calls.call(
            api,
            {**self._token(app), "confirmation_id": made},
            answer,
            think(self.dice, "check", subject=f"work in {app}"),
        )

    def _documented_first(self, api: str, arguments: dict[str, str | int], chance: float) -> Iterator[Step]:
        if api not in self._documented:
            self._documented.add(api)
            if self.dice.chance(chance):
                yield self.calls.docs(api, arguments)

    def _looked_up(self, record: Record, sources: list[str]) -> Iterator[Step]:
        """Lists the belongings, and finds the person, that are needed for the first time."""
        for source in sources:
            if source in _BY_NAME and source not in self.account.belongings:
                one = _BY_NAME[source]
                api = f"{one.app}.{one.list_api}"
                yield from self._signed_in(one.app, api)
                listed = self.account.listed[source]
                self.account.belongings[source] = self.dice.pick(listed)[one.key]
                shows = [entry[one.key] for entry in listed]
                yield self.calls.call(api, self._token(one.app), listed, shows=shows)
            elif source == "email of person" and record.person not in self.account.emails:
                yield from self._signed_in(CONTACTS, f"{CONTACTS}.search_contacts")
                found = next(contact for contact in self.account.contacts if contact["name"] == record.person)
                self.account.emails[record.person] = found["email"]
                arguments = {**self._token(CONTACTS), "query": record.person}
                yield self.calls.call(f"{CONTACTS}.search_contacts", arguments, [found], shows=[found["email"]])

    def _value(self, record: Record, source: str) -> str:
        if source in _BY_NAME:
            return self.account.belongings[source]
        if source == "email of person":
            return self.account.emails[record.person]
        return record.values[source] if source in record.values else record.filled(source)


def _shown(records: list[Record]) -> list[str]:
    """What may be needed of records: ids, codes, paths, amounts and the like, not titles and names of people."""
    names = [(name, kind) for name, kind in records[0].resource.fields if kind not in ("title", "person")]
    return [text for record in records for text in (record.name, *(record.values[name] for name, _ in names))]
