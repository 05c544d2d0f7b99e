"""Made-up apps that an agent acts in: what they list, what a record holds, what can be done with it.

A field of a record or an argument of a deed is `name: kind`. Kinds of fields: id, person, email, amount, date, title,
code, path, count. An argument is a field of the record by its name; `the card`, `the address`, `the playlist` and the
like are things of the account, listed elsewhere; `email of person` stands in the contacts; other texts stand for
themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.synth.banks.topic import words


@dataclass(frozen=True)
class Deed:
    """A call that acts on a record: its API, its arguments, and how it is spoken of."""

    api: str
    arguments: tuple[tuple[str, str], ...]
    spoken: str


@dataclass(frozen=True)
class Resource:
    """Records that an app lists by pages, calls by an id, and shows one at a time."""

    app: str
    noun: str
    list_api: str
    show_api: str
    key: str
    fields: tuple[tuple[str, str], ...]
    deeds: tuple[Deed, ...]
    titles: tuple[str, ...]


@dataclass(frozen=True)
class Belonging:
    """A thing of the account that deeds need: which app lists it, and under which key."""

    name: str
    app: str
    list_api: str
    key: str
    titles: tuple[str, ...]


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((left, right) for left, _, right in (part.partition(": ") for part in words(text)))


RESOURCES = (
    Resource(
        "quicknotes", "notes", "list_notes", "show_note", "note_id",
        _pairs("title: title; paid_by: person; share: amount; updated_on: date; reference: code"),
        (
            Deed("coinpass.send_money", _pairs("receiver_email: email of person; amount: share; payment_card_id: the card; remark: reference"), "pay the share of the note by {person}"),
            Deed("quicknotes.update_note", _pairs("note_id: note_id; append: settled {reference}"), "mark the note by {person} as settled"),
        ),
        words("Cabin weekend; Groceries; Train tickets; Board game night; Paint for the hall; Birthday cake; Concert; Canoe rental; Heating bill; Museum tour; Ski lift; Picnic"),
    ),
    Resource(
        "mailroom", "inbox", "show_inbox", "show_thread", "thread_id",
        _pairs("subject: title; sender: person; received_on: date; attachment_id: id; attachment_name: path"),
        (
            Deed("mailroom.download_attachment", _pairs("attachment_id: attachment_id; file_path: attachment_name; folder_id: the folder"), "store the attachment that {person} sent"),
            Deed("mailroom.forward_thread", _pairs("thread_id: thread_id; to: email of person; note: as asked"), "send the mail of {person} back with a word"),
            Deed("mailroom.label_thread", _pairs("thread_id: thread_id; label_id: the label"), "label the mail of {person}"),
        ),
        words("Lease; Quote for the roof; Your order; Minutes of the meeting; Photos; Insurance; Contract draft; School trip; Invitation; Tax papers; Travel plan; Warranty"),
    ),
    Resource(
        "tunebox", "songs", "show_song_library", "show_song", "song_id",
        _pairs("title: title; artist: person; released_on: date; play_count: count; album_id: id"),
        (
            Deed("tunebox.add_song_to_playlist", _pairs("playlist_id: the playlist; song_id: song_id"), "add the song by {person} to the list"),
            Deed("tunebox.like_album", _pairs("album_id: album_id"), "like the album of {person}"),
            Deed("tunebox.review_song", _pairs("song_id: song_id; rating: 5; title: heard {play_count} times"), "review the song by {person}"),
        ),
        words("Paper Harbour; Low Lanterns; Seventh Meadow; Glass Orchard; Slow Comet; Winter Ferry; Copper Rain; Small Hours; Northern Line; Blue Ledger; Open Gates; Saltwind"),
    ),
    Resource(
        "cartwheel", "orders", "show_orders", "show_order", "order_id",
        _pairs("product: title; ordered_on: date; total: amount; product_id: id; tracking_number: code; gift_for: person"),
        (
            Deed("cartwheel.initiate_return", _pairs("order_id: order_id; product_id: product_id; deliverer_id: the deliverer"), "send back what was ordered for {person}"),
            Deed("cartwheel.place_order", _pairs("product_id: product_id; address_id: the address; payment_card_id: the card"), "order again what {person} got"),
            Deed("cartwheel.track_parcel", _pairs("tracking_number: tracking_number"), "ask where the parcel for {person} is"),
        ),
        words("Desk lamp; Rain jacket; Tea kettle; Wool blanket; Chess set; Garden shears; Headphones; Backpack; Cutting board; Bike light; Notebook; Water filter"),
    ),
    Resource(
        "daylist", "tasks", "show_tasks", "show_task", "task_id",
        _pairs("title: title; assigned_by: person; due_on: date; section_id: id; ticket: code"),
        (
            Deed("daylist.move_task", _pairs("task_id: task_id; project_id: the project; section_id: section_id"), "move the task from {person} to the project"),
            Deed("daylist.comment_task", _pairs("task_id: task_id; content: see {ticket}, due {due_on}"), "comment on the task from {person}"),
            Deed("mailroom.send_email", _pairs("to: email of person; subject: {ticket}; body: done"), "tell {person} that the task is done"),
        ),
        words("Book the hall; Water the plants; Renew the licence; Order chairs; Call the plumber; Print badges; Draft the agenda; Check the invoice; Clean the shed; Plan the route; Update the poster; Return the keys"),
    ),
    Resource(
        "coinpass", "transactions", "show_transactions", "show_transaction", "transaction_id",
        _pairs("description: title; with_person: person; amount: amount; made_on: date; receipt_code: code"),
        (
            Deed("coinpass.like_transaction", _pairs("transaction_id: transaction_id"), "like the payment with {person}"),
            Deed("coinpass.request_money", _pairs("user_email: email of person; amount: amount; remark: {receipt_code}"), "ask {person} for the money back"),
            Deed("quicknotes.create_note", _pairs("title: {receipt_code}; content: {amount} on {made_on}; folder_id: the notebook"), "note down the payment with {person}"),
        ),
        words("Dinner; Taxi; Rent; Tickets; Flowers; Lunch; Fuel; Repair; Deposit; Books; Gym; Parking"),
    ),
)  # fmt: skip

BELONGINGS = (
    Belonging(
        "the card",
        "coinpass",
        "show_payment_cards",
        "payment_card_id",
        words("Harbour Bank debit; Meadow credit; Oak savings"),
    ),
    Belonging("the address", "cartwheel", "show_addresses", "address_id", words("Home; Work; Parents")),
    Belonging(
        "the deliverer", "cartwheel", "show_return_deliverers", "deliverer_id", words("Quickvan; Postline; Greenbike")
    ),
    Belonging(
        "the playlist", "tunebox", "show_playlist_library", "playlist_id", words("Sunday; Long drives; Focus; Dance")
    ),
    Belonging("the folder", "mailroom", "show_folders", "folder_id", words("Papers; Receipts; Keep")),
    Belonging("the label", "mailroom", "show_labels", "label_id", words("Later; Family; Work; Answered")),
    Belonging("the project", "daylist", "show_projects", "project_id", words("House; Club; Office")),
    Belonging("the notebook", "quicknotes", "show_folders", "folder_id", words("Money; Ideas; Trips")),
)

CONTACTS = "phonebook"
SUPERVISOR = "supervisor"
PEOPLE = words(
    "Ada Lindqvist; Bo Teng; Carla Mbeki; Dov Haddad; Edda Novak; Farid Osei; Greta Marin; Hugo Salin; Ines Okoro; Jon Varga; Kira Bose; Leo Anders; Mina Duarte; Nils Abara; Olga Prins; Pavel Ruiz; Quinn Adeyemi; Rosa Keller; Sami Berg; Tara Holm; Umar Lind; Vera Castel; Wim Sato; Xenia Roth; Yara Blum; Zeno Falk"
)
KETTLES = words("kettle; lantern; marble; thistle; pebble; harbour; saddle; velvet")
TASKS = (
    "I am {owner}. Please put my {first} and {second} in order: go through all pages of both, do what is due with each entry (people are in my phonebook; use the card, the address and the folders that my accounts list), and at the end tell me which entries you handled. My passwords are known to the supervisor app.",
    "My name is {owner}. I have neglected {first}, {second} and {third} for months. Read through them, settle what other people are waiting for, keep notes where that helps, and complete the task with the ids of what you did. The supervisor app knows my accounts; never guess an id or an address.",
    "Hello, {owner} here. Before my holiday I want the {first} cleared, with everything that hangs on it: payments from the right card, mails to the people concerned, entries moved where they belong. Do the same for my {second}. Sign in with the accounts that the supervisor lists, and finish with a list of ids.",
)
