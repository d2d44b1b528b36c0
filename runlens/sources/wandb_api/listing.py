"""The runs of a project, one line each: what an audit needs to know which of them changed."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from runlens.sources.addresses import Place, parsed
from runlens.sources.stores.tracked import seconds
from runlens.sources.wandb_api.client import connected

PAGE = 200  # runs in one answer: 90 kB
BY_HEARTBEAT = "-heartbeat_at"  # the newest first


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


def listed(
    place: str | Path, *, since: float | None = None, filters: Mapping[str, Any] | None = None
) -> Iterator[Listed]:
    """Yield the runs at a place, the last heard of first; one request for each 200 of them.

    Args:
        place: a project, or a run, which is listed alone.
        since: seconds since 1970: only runs that were heard of then or later.
        filters: as ``wandb.Api().runs`` takes them: ``{"tags": "nightly"}``.

    Raises:
        NothingReadable: no key, a wrong one, no such project, no answer.

    """
    where = parsed(place)
    wanted = dict(filters or {}) | ({"name": where.run} if where.run else {})
    with connected() as client:
        api = client.api(where)
        try:
            path = f"{where.entity}/{where.project}"
            runs = api.runs(path, wanted, order=BY_HEARTBEAT, per_page=PAGE)
            for run in runs:
                one = _listed(where, run)
                if since is not None and one.heartbeat < since:
                    return
                yield one
        except Exception as error:  # noqa: BLE001 - the network's, the server's, the client's
            raise client.refusal(where, error) from None
        finally:
            client.free(api)


def _listed(where: Place, run: Any) -> Listed:  # noqa: ANN401 - the package has no types
    return Listed(
        place=str(where._replace(run=run.id)),
        id=run.id,
        name=run.name or run.id,
        state=run.state,
        heartbeat=seconds(run.heartbeat_at),
        created=seconds(run.created_at),
        history_lines=int(run.history_line_count or 0),
        group=run.group or "",
        job_type=run.job_type or "",
        sweep=run.sweep_name or "",
        tags=tuple(run.tags or ()),
        user=run.user.username or "",
    )
