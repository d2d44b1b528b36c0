"""Tags in W&B that say what was found: ``runlens:nan-loss``. Off by default: this WRITES to W&B.

All else that RunLens does only reads. Nothing but tags that begin with ``runlens:`` is ever added
or taken away, and nothing but the list of tags is sent: `Run.update` of the W&B client would
write settings and summary back as well. Runs that are still going are left alone. The key must be
one that may write.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from runlens.errors import NothingReadable
from runlens.nights import Audit, RunRow
from runlens.records import NamedTuple
from runlens.sources.addresses import Place, is_on_server, parsed
from runlens.wording import count

PREFIX = "runlens:"
MOST = 10  # tags of one run
LONGEST = 64  # characters of a tag, W&B's limit
PAGE = 200  # runs in one answer
PATIENCE = 3  # runs in a row that refuse their tags, after which a project is left alone
MUTATION = """
mutation Tags($id: String!, $tags: [String!]) {
    upsertBucket(input: {id: $id, tags: $tags}) { bucket { id } }
}
"""


class Tagged(NamedTuple):
    """What was written to one project, as a line for the log; why it was not all, if so."""

    project: str
    changed: int
    why: str = ""

    def __str__(self) -> str:
        runs = count(self.changed, "run")
        done = f"{self.project}: tags {PREFIX}* of {runs} changed in W&B"
        return f"{done}; {self.why}" if self.why else done


def tag(audit: Audit) -> tuple[Tagged, ...]:
    """Write to W&B what was found, one `Tagged` a project; runs of other sources are left out.

    A run keeps the tags that people gave it, gets one for each rule that found a warning or worse,
    and loses those of ours that are no longer true. Runs that have the right tags cost nothing
    but their share of a listing. Errors are told in `Tagged.why`; nothing is raised.
    """
    by_project: dict[Place, dict[str, RunRow]] = defaultdict(dict)
    for row in audit.runs:
        if is_on_server(row.place) and row.state != "running":
            where = parsed(row.place)
            by_project[where._replace(run="")][where.run] = row
    return tuple(_tagged(where, rows) for where, rows in by_project.items())


def tags_of(row: RunRow) -> tuple[str, ...]:
    """Return our tags of a run: its rules from warning on, in the order of the findings."""
    loud = (one.rule for one in row.findings if one.severity != "info")
    return tuple((PREFIX + rule)[:LONGEST] for rule in dict.fromkeys(loud))[:MOST]


def _tagged(where: Place, rows: Mapping[str, RunRow]) -> Tagged:
    from runlens.sources.wandb_api.client import connected

    project = str(where)
    try:
        with connected() as client:
            api = client.api(where)
            try:
                path = f"{where.entity}/{where.project}"
                return _written(project, api.runs(path, per_page=PAGE), rows)
            except Exception as error:  # noqa: BLE001 - the network's, the server's, the client's
                raise client.refusal(where, error) from None
            finally:
                client.free(api)
    except NothingReadable as error:
        return Tagged(project, 0, str(error))


def _written(project: str, runs: Iterable[Any], rows: Mapping[str, RunRow]) -> Tagged:
    """Set the tags of the runs that lack them; one that refuses does not stop the others."""
    changed, refused, in_a_row, why = 0, 0, 0, ""
    for run in runs:
        row = rows.get(run.id)
        have = list(run.tags or ())
        want = [one for one in have if not one.startswith(PREFIX)]
        want += tags_of(row) if row else ()
        if row is None or set(want) == set(have):
            continue
        try:
            run._exec(MUTATION, id=run.storage_id, tags=want)  # noqa: SLF001 - see above
        except Exception as error:  # noqa: BLE001 - the network's, the server's, the client's
            from runlens.sources.wandb_api.client import said

            refused, in_a_row, why = refused + 1, in_a_row + 1, said(error)
            if in_a_row >= PATIENCE:
                why = f"gave up after {count(in_a_row, 'refusal')} in a row ({why})"
                return Tagged(project, changed, f"{why}; may the key write?")
        else:
            changed, in_a_row = changed + 1, 0
    return Tagged(project, changed, f"{count(refused, 'run')} refused: {why}" if refused else "")
