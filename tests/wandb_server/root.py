"""What can be asked and changed at the stand-in's GraphQL door."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tests.wandb_server.stored import Entity, Project, StoredRun

if TYPE_CHECKING:
    from tests.wandb_server.server import Server

# what a client may set of a run -> the attribute that holds it
SETTABLE = {
    "displayName": "display_name",
    "groupName": "group",
    "jobType": "job_type",
    "notes": "notes",
    "description": "description",
    "tags": "tags",
    "commit": "commit",
    "host": "host",
    "jobProgram": "job_program",
    "sweep": "sweep_name",
}


class Root:
    """The queries and mutations that logging, syncing and reading need."""

    def __init__(self, server: "Server") -> None:
        """Answer from a server's store."""
        self._server = server
        self.server_info: dict[str, Any] = {"features": []}

    @property
    def viewer(self) -> dict[str, Any]:
        """Whose key it is."""
        team = {"node": {"id": "1", "name": self._server.entity}}
        return {
            "id": "VXNlcjox",
            "username": "tester",
            "entity": self._server.entity,
            "email": "tester@example.invalid",
            "flags": "{}",
            "teams": {"edges": [team]},
        }

    def entity(self, name: str | None = None, **_: Any) -> Entity:
        """Return an entity; all are known."""
        return Entity(name or self._server.entity)

    def project(self, name: str, entity_name: str | None = None, **_: Any) -> Project | None:
        """Return a project; None where it has no run."""
        entity = entity_name or self._server.entity
        known = (entity, name) in self._server.projects
        return Project(self._server, entity, name) if known else None

    def model(self, name: str, entity_name: str | None = None, **_: Any) -> Project:
        """Return a project, as a client asks that is about to log to it."""
        return Project(self._server, entity_name or self._server.entity, name)

    def upsert_bucket(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Make a run, or change one."""
        run, inserted = self._run(given)
        for name, attribute in SETTABLE.items():
            if given.get(name) is not None:
                setattr(run, attribute, given[name])
        if given.get("config") is not None:
            run.settings = json.loads(given["config"])
        if given.get("summaryMetrics") is not None:
            run.last_values = json.loads(given["summaryMetrics"])
        run.last_state = given.get("state") or run.last_state
        run.beat = time.time()
        return {"bucket": run, "inserted": inserted}

    def _run(self, given: Mapping[str, Any]) -> tuple[StoredRun, bool]:
        runs = self._server.runs
        for run in runs.values():
            if given.get("id") == run.id:
                return run, False
        entity = given.get("entityName") or self._server.entity
        key = (entity, given["modelName"], given.get("name") or os.urandom(4).hex())
        inserted = key not in runs
        if inserted:
            self._server.keep(StoredRun(self._server, *key))
        return runs[key], inserted

    def create_run_files(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Say where files go."""
        entity = given.get("entityName") or self._server.entity
        run = self._server.runs[entity, given["projectName"], given["runName"]]
        names: Sequence[str] = given["files"]
        files = [{"name": name, "uploadUrl": run.url_of(name)} for name in names]
        return {"runID": run.id, "uploadHeaders": [], "files": files}
