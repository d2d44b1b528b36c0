"""What people were told and what they answered: messages that wait, and acknowledgements.

A message is stored in the transaction that closes its night and stays until it was delivered, so
it is sent at least once: twice where this process dies between the delivery and its note.
"""

import json
from collections.abc import Sequence
from hashlib import sha256

from sqlalchemy import Connection, and_, delete, insert, select, update

from runlens.auditing.known import Outgoing
from runlens.auditing.schema import acknowledgements, issues, messages
from runlens.nights import Ack, Night

KEPT = 500  # characters of why a message was not delivered


def digest(address: str) -> str:
    """Return what names an address without telling it."""
    return sha256(address.strip().encode("utf-8", "surrogatepass")).hexdigest()[:16]


def put(connection: Connection, audit: str, night: Night, given: Sequence[Outgoing]) -> None:
    """Keep the messages of a night, in place of those that it had."""
    mine = and_(messages.c.audit == audit, messages.c.night == night.number)
    connection.execute(delete(messages).where(mine))
    rows = [
        {
            "audit": audit,
            "night": night.number,
            "address": one.address,
            "title": one.title,
            "body": one.body,
            "document": one.document,
            "made": night.date,
            "delivered": "",
            "tries": 0,
            "error": "",
        }
        for one in given
    ]
    if rows:
        connection.execute(insert(messages), rows)


def pending(connection: Connection, audit: str) -> tuple[Outgoing, ...]:
    """Return what was not delivered yet, the oldest first."""
    table = messages.c
    chosen = select(*(table[name] for name in Outgoing._fields))
    chosen = chosen.where(table.audit == audit, table.delivered == "")
    chosen = chosen.order_by(table.night, table.address)
    return tuple(Outgoing(*row) for row in connection.execute(chosen))


def sent(
    connection: Connection, audit: str, one: Outgoing, at: str, error: str, stamp: str = ""
) -> None:
    """Note that a message was delivered, with the stamp by which it is answered, or why not."""
    table = messages.c
    mine = and_(table.audit == audit, table.night == one.night, table.address == one.address)
    values = {"tries": table.tries + 1, "error": error[:KEPT], "delivered": "" if error else at}
    if stamp:
        values["document"] = json.dumps(json.loads(one.document) | {"stamp": stamp})
    connection.execute(update(messages).where(mine).values(**values))


def threads(connection: Connection, audit: str, address: str) -> dict[str, str]:
    """Return the stamp of the message that told an issue first, by fingerprint."""
    table = messages.c
    chosen = select(table.document).where(table.audit == audit, table.address == address)
    found: dict[str, str] = {}
    for text in connection.scalars(chosen.where(table.delivered != "").order_by(table.night)):
        known = json.loads(text)
        if stamp := known.get("stamp"):
            found = dict.fromkeys(known["issues"], stamp) | found
    return found


def put_ack(connection: Connection, fingerprint: str, ack: Ack) -> None:
    """Keep an acknowledgement."""
    row = ack._asdict() | {"fingerprint": fingerprint, "ended": ""}
    same = and_(
        acknowledgements.c.fingerprint == fingerprint,
        acknowledgements.c.at == ack.at,
    )
    connection.execute(delete(acknowledgements).where(same))
    connection.execute(insert(acknowledgements), row)


def end_acks(connection: Connection, fingerprints: Sequence[str], at: str) -> None:
    """Note that the issues of acknowledgements were resolved, or acknowledged again."""
    table = acknowledgements
    for fingerprint in fingerprints:
        mine = and_(table.c.fingerprint == fingerprint, table.c.ended == "")
        connection.execute(update(table).where(mine).values(ended=at))


def acks(connection: Connection, sources: Sequence[str]) -> dict[str, Ack]:
    """Return the acknowledgements that were not ended, by fingerprint."""
    table = acknowledgements.c
    chosen = select(table.fingerprint, *(table[name] for name in Ack._fields))
    chosen = chosen.join(issues, issues.c.fingerprint == table.fingerprint)
    chosen = chosen.where(issues.c.source.in_(sources), table.ended == "").order_by(table.at)
    return {row[0]: Ack(*row[1:]) for row in connection.execute(chosen)}
