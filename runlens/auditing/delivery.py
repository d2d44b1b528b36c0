"""Brings the messages of nights to their addresses, those of earlier nights first.

They wait in the store from the transaction on that closed their night (`outbox`): a service that
was down, or an audit that was killed in between, is told late, never not at all.
"""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from runlens.auditing import notify
from runlens.auditing.known import Outgoing
from runlens.auditing.message import Links, changed, message
from runlens.auditing.outbox import digest
from runlens.auditing.plan import named
from runlens.auditing.routes import address, of_route
from runlens.auditing.store import Store
from runlens.nights import DATE, Audit
from runlens.settings import Route

Send = Callable[[str, str, str, str], notify.Sent]  # title, body, address, what it answers


def outgoing(
    audit: Audit, addresses: Sequence[str], page: str = "", routes: Sequence[Route] = ()
) -> tuple[Outgoing, ...]:
    """Return the messages of a night, one an address; none where nothing changed.

    An address of a route is told of its own runs, one of `addresses` of all.
    """
    told = {digest(at): of_route(audit, route) for route in routes if (at := address(route))}
    told |= dict.fromkeys(map(digest, addresses), audit)
    made = [(name, message(one, Links(page))) for name, one in told.items() if changed(one)]
    return tuple(Outgoing(name, one.title, one.body, one.document) for name, one in made)


def deliver(
    store: str | Path,
    sources: Sequence[str],
    addresses: Sequence[str],
    send: Send = notify.send,
    now: datetime | None = None,
) -> tuple[str, ...]:
    """Send what waits in a store for an audit of these sources.

    A message whose address is not given any more goes to all that are: it may have been changed.

    Returns:
        One line for each message that was not delivered: which, why. It is sent again by the next
        call, which is the next night's.

    """
    wanted = {digest(address): address for address in addresses}
    if not wanted:
        return ()
    sources = [named(source) for source in sources]
    at = (now or datetime.now(UTC)).strftime(DATE)
    failed = []
    with Store(store) as opened:
        for one in opened.pending(sources):
            known = [wanted[one.address]] if one.address in wanted else list(wanted.values())
            made = [_sent(one, address, send, at) for address in known]
            reasons = [each.why for each in made if each.why]
            error = "; ".join(reasons) if len(reasons) == len(known) else ""
            stamp = made[0].stamp if one.address in wanted else ""
            before = opened.threads(sources, one.address) if stamp else {}
            opened.sent(sources, one, at, error, stamp)
            for print_, line in json.loads(one.document).get("replies", {}).items():
                if print_ in before:  # the message itself was delivered: a reply may fail
                    send(one.title, line, wanted[one.address], before[print_])
            failed += reasons
    return tuple(failed)


def _sent(one: Outgoing, address: str, send: Send, at: str) -> notify.Sent:
    late = one.tries > 0 or one.made[:10] < at[:10]
    note = f"(late: of night {one.night}, {one.made[:10]})\n" if late else ""
    made = send(one.title, note + one.body, address, "")
    which = f"the message of night {one.night} ({notify.named(address)})"
    why = f"{which} was not delivered: {made.why}; it is sent again next time" if made.why else ""
    return made._replace(why=why)
