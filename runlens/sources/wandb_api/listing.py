"""The runs of a project, one line each: what an audit needs to know which of them changed.

The question is our own: it asks for less than the client's, and one odd record costs one record.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from runlens.records import NamedTuple
from runlens.sources.addresses import Place, parsed
from runlens.sources.reading import instant
from runlens.sources.wandb_api.client import connected

PAGE = 200  # runs in one answer: 90 kB
BY_AGE = "+created_at"  # the oldest first
LISTINGS = 2  # of a project whose count and runs do not agree
QUERY = """
query Runs($entity: String!, $project: String!, $cursor: String, $first: Int,
           $order: String, $filters: JSONString) {
    project(name: $project, entityName: $entity) {
        runCount(filters: $filters)
        runs(filters: $filters, after: $cursor, first: $first, order: $order) {
            edges {
                node {
                    name displayName state group jobType sweepName tags
                    createdAt heartbeatAt historyLineCount
                    user { username }
                }
                cursor
            }
            pageInfo { endCursor hasNextPage }
        }
    }
}
"""


class Listed(NamedTuple):
    """A run as the listing has it. Times are seconds since 1970, NaN where unknown.

    What changes when a run goes on: `state`, `heartbeat`, `history_lines`.
    """

    place: str  # wandb:entity/project/run
    id: str
    name: str
    state: str
    heartbeat: float
    created: float
    history_lines: int  # the server's count of rows
    group: str
    job_type: str
    sweep: str
    tags: tuple[str, ...]
    user: str
    url: str = ""  # its page


def listed(
    place: str | Path, since: float | None = None, filters: Mapping[str, Any] | None = None
) -> list[Listed]:
    """Return the runs at a place, the last heard of first; one request for each 200 of them.

    The pages are cut by the time at which runs were made, which never changes: by the last
    heartbeat, a run that goes on would jump from a page to come to one that has passed. Where the
    server counts more runs than came, it is asked once more, and both answers are joined.

    Args:
        place: a project, or a run, which is listed alone.
        since: seconds since 1970: only runs that were heard of then or later.
        filters: as ``wandb.Api().runs`` takes them: ``{"tags": "nightly"}``.

    Raises:
        NothingReadable: no key, a wrong one, no such project, no answer.

    """
    where = parsed(place)
    wanted = dict(filters or {}) | ({"name": where.run} if where.run else {})
    found = _asked(where, [wanted])
    late = [one for one in found if since is None or not one.heartbeat < since]
    return sorted(late, key=_last_heard_of_first)


def _last_heard_of_first(one: Listed) -> tuple[float, str]:
    return (math.inf if math.isnan(one.heartbeat) else -one.heartbeat), one.place


def looked_up(place: str | Path, wanted: Sequence[str]) -> list[Listed]:
    """Return those of some runs of a project that the server has, asked for by their names."""
    where = parsed(place)._replace(run="")
    ids = [parsed(one).run for one in wanted]
    parts = [ids[at : at + PAGE] for at in range(0, len(ids), PAGE)]
    return _asked(where, [{"name": {"$in": part}} for part in parts]) if parts else []


def _asked(where: Place, questions: Sequence[Mapping[str, Any]]) -> list[Listed]:
    found: dict[str, Listed] = {}
    with connected() as client:
        api = client.api(where)
        try:
            for wanted in questions:
                for _ in range(LISTINGS):
                    counted, met = _pages(api, where, wanted, client.app_url)
                    found |= met
                    if len(met) >= counted:
                        break
        except Exception as error:  # noqa: BLE001 - the network's, the server's, the client's
            raise client.refusal(where, error) from None
        finally:
            client.free(api)
    return list(found.values())


def _pages(
    api: Any,  # noqa: ANN401 - the package has no types
    where: Place,
    wanted: Mapping[str, Any],
    app: str,
) -> tuple[int, dict[str, Listed]]:
    """Return how many runs the server counts, and those that came, by place."""
    asked = {"entity": where.entity, "project": where.project, "first": PAGE, "order": BY_AGE}
    asked |= {"filters": json.dumps(wanted), "cursor": None}
    found: dict[str, Listed] = {}
    while True:
        answer = api._service_api.execute_graphql(QUERY, asked)  # noqa: SLF001 - no other way
        project = (answer or {}).get("project")
        if project is None:
            raise LookupError(f"could not find project {where.project}")
        page = project.get("runs") or {}
        edges = page.get("edges") or []
        nodes = [edge["node"] for edge in edges if edge and (edge.get("node") or {}).get("name")]
        found |= {one.place: one for one in (_listed(where, node, app) for node in nodes)}
        about = page.get("pageInfo") or {}
        cursor = about.get("endCursor") or (edges[-1] or {}).get("cursor") if edges else None
        if not about.get("hasNextPage") or cursor in {None, asked["cursor"]}:
            return int(project.get("runCount") or 0), found
        asked = asked | {"cursor": cursor}


def _listed(where: Place, node: Mapping[str, Any], app: str) -> Listed:
    path = "/".join(quote(part, safe="") for part in (where.entity, where.project))
    return Listed(
        place=str(where._replace(run=node["name"])),
        id=node["name"],
        name=node.get("displayName") or node["name"],
        state=node.get("state") or "unknown",
        heartbeat=instant(node.get("heartbeatAt")),
        created=instant(node.get("createdAt")),
        history_lines=int(node.get("historyLineCount") or 0),
        group=node.get("group") or "",
        job_type=node.get("jobType") or "",
        sweep=node.get("sweepName") or "",
        tags=tuple(node.get("tags") or ()),
        user=(node.get("user") or {}).get("username") or "",
        url=f"{app}/{path}/runs/{quote(node['name'], safe='')}" if app else "",
    )
