"""Ends as a cause: memory, machine, limits, a person, the code, a resume."""

from runlens.cause import INTERRUPTED
from runlens.causes import emptied
from runlens.causes.ended_by import gave_up, no_sender
from runlens.causes.hypothesis import (
    HINT,
    LEADS,
    NOT_NAMED,
    SETTLES,
    SPEAKS,
    STRONG,
    Hypothesis,
    Sign,
    Signs,
)
from runlens.causes.patterns import LOST, MOVED
from runlens.causes.scene import Scene
from runlens.causes.thrown import begun_anew
from runlens.causes.weights_alone import not_loaded, told_by_the_loader, weights_alone
from runlens.diagnosis import ENDED
from runlens.knowledge.exceptions import meaning
from runlens.patterns import lazy_re
from runlens.rules.lifecycle.ending import WEAK_HANG, ending, shortened
from runlens.rules.lifecycle.killed import HUNG_UP
from runlens.rules.lifecycle.known_error import IN_WORKER, names_the_inner
from runlens.run import SAVING, STATES, UNNAMED, Event
from runlens.wording import number, quoted, step, unstamped

# what an exception says where the disk, not the code, is at fault
_DISK = lazy_re(
    r"No space left|disk quota|file too large|os error 2[78]|errno 2[78]|file write failed"
    r"|PytorchStreamWriter failed|write_end_of_file|inline_container\S* \. unexpected pos",
    2,
)
_FULL = lazy_re(r"No space left|disk quota|os error 28|errno 28", 2)
_WRITE = lazy_re(r"i/?o error|inline_container|serializ", 2)
_DEVICE = lazy_re(r"not compiled with CUDA|no CUDA GPUs|CUDA-capable device|NVIDIA driver|nvml")
# a collective's error often carries the error of a rank inside
_INNER = (
    ("memory", lazy_re(r"Cuda failure \d* ?'?out of memory|out of memory", 2)),
    ("machine", lazy_re(r"Cuda failure|unhandled system error|remote process exited|socket", 2)),
)
_LIMIT = lazy_re(
    r"(time|wall)[ -]?(clock )?(limit|time)[^.]{0,40}(reached|exceeded|hit|expired|up\b)"
    r"|DUE TO TIME"
    r"|max[_ ]?(train|run)?[_ ]?time[^.]{0,20}(reached|exceeded)",
    2,
)
_SIGNALLED = lazy_re(r"SIG(TERM|HUP|USR1|USR2|XCPU)|preempt", 2)
_BY_HAND = lazy_re(r"KeyboardInterrupt|Ctrl ?[-+]? ?C\b|SIGINT")
_DENIED = lazy_re(r"PermissionError: .*Permission denied: ['\"](.+?)['\"]")
# what a program's own check raises when the loss is lost already
_GUARD = lazy_re(r"\bnan\b|\binf\b|infinite|not finite|loss scale|explod|diverg|FloatingPoint", 2)
_SLASHES = lazy_re(r"[/\\]+")
_LOST_RANK = lazy_re(r"SIGKILL|Signal 9|exitcode\s*:?\s*-9")
# a launcher that ends the other ranks: what it says follows from the first failure
_CONSEQUENCE = lazy_re(r"closing signal|Sending (signal )?SIG|failed \(exitcode|ChildFailed")
# of a process that a launcher ended itself, once another one had failed
_OF_A_RANK = lazy_re(r"exitcode\s*:\s*-15\b|killed by signal: Terminated|SIGTERM")
LAST_LINES = 60
NAMES_A_CAUSE = ("known", "hardware", "config", "data", "oom")  # classes of messages
OUTSIDE = ("memory", "machine", "time-limit", "by-hand")  # causes of an end that no code has
SAME_LINE = 60  # characters by which a quoted line is known
QUOTED = 160  # characters of a line of the log
KILLED = ("killed",)  # the check that an end from outside answers
SOON = 0.02  # of the run: a symptom that comes within it after a launch is the launch's
GREW = 1.3  # memory at the end over its start


def _events(scene: Scene, kind: str) -> list[Event]:
    """Return the messages of a kind of cause after which nothing was trained."""
    around = IN_WORKER if names_the_inner(scene.run) else None
    told = scene.run.events_of("message")
    first = _exception(scene) if _raised(scene) and not scene.has("killed") else None
    of_ranks = told[told.index(first) :] if first else ()
    return [
        event
        for event in told
        if event.data.get("last") and event.data.get("cause_kind") == kind
        if event.data.get("row") != around
        if not (event in of_ranks and _OF_A_RANK.search(event.text))
    ]


def _named(scene: Scene, kind: str, weight: float = SETTLES) -> Sign | None:
    """Return the sign of a message of the table that names this kind of cause."""
    known = [e for e in _events(scene, kind) if e.data.get("class") != "fallback"]
    # the line that the headline quotes, rather than another one of the same event
    shown = [e for e in known if unstamped(e.text)[:SAME_LINE] in scene.lead.seen]
    return _told((shown or known)[-1], weight) if known and scene.has(*ENDED) else None


def in_words(scene: Scene, kind: str) -> Sign | None:
    """Return the sign of a message where the log has no curve to judge.

    A skipped update alone is usual with fp16: it must come at half of the steps.
    """
    if not scene.words_alone:
        return None
    events = scene.run.events_of("message")
    known = [e for e in events if e.data.get("cause_kind") == kind]
    skipped = [e for e in known if e.data.get("class") == "num"]
    if skipped and 2 * max(e.data.get("count", 1) for e in skipped) >= max(scene.run.last_step, 1):
        return _told(skipped[-1], SPEAKS)
    last = [e for e in known if e.data.get("last") and e.data.get("class") in NAMES_A_CAUSE]
    return _told(last[-1], SETTLES) if last else None


def _told(event: Event, weight: float) -> Sign:
    told = str(event.data.get("cause", "")).rstrip(".")
    what = "" if event.data.get("class") == "oom" else told  # that it is out of memory is known
    oom = event.data.get("class") == "oom"  # its sizes stand in the headline
    said = "" if oom else quoted(shortened(unstamped(event.text), QUOTED).rstrip("."))
    return Sign(said, weight, what, proved=bool(_FULL.search(event.text)))


def _tail(scene: Scene) -> list[str]:
    ended = ending(scene.run, scene.signals)
    why = [ended.text] if ended.kind not in {"finished", "unknown"} else []
    return [*scene.run.log_tail[-LAST_LINES:], *why]


def _line(scene: Scene, pattern: object) -> str:
    search = pattern.search  # type: ignore[attr-defined]
    told = (line for line in reversed(_tail(scene)) if search(line))
    line = next((line for line in told if not _CONSEQUENCE.search(line)), "")
    if line and line not in scene.run.log_tail and not ending(scene.run, scene.signals).proof:
        return line.partition(", at step ")[0]  # of the record; the headline names the step
    return quoted(shortened(line, QUOTED)) if line else ""


def _raised(scene: Scene) -> bool:
    """Whether an exception of its own ended a process: its launcher then ends the others."""
    raised = _exception(scene)
    return raised is not None and not _SIGNALLED.search(str(raised.data.get("exception")))


def _exception(scene: Scene) -> Event | None:
    raised = [e for e in scene.run.events_of("message") if e.data.get("exception")]
    ended = [e for e in raised if e.data.get("last")]
    return ended[0] if ended else None  # what comes after it is the launcher's


def _memory(scene: Scene) -> Signs:
    yield _named(scene, "memory", LEADS)
    raised = _exception(scene)
    if raised is not None and raised.data.get("stage") == STATES and scene.has("oom-cliff"):
        what = "The optimizer states do not fit next to the model"
        said = "memory ran out in an optimizer step, where Adam allocates its states"
        yield Sign(said, LEADS + 1, what)
    if scene.has("oom-cliff"):
        yield Sign(scene.title("oom-cliff"), SETTLES)
    if scene.has("memory-growth"):
        yield Sign(scene.title("memory-growth"), SETTLES)
    if said := _inner(scene, "memory"):
        yield Sign(quoted(said), LEADS)
    if _line(scene, _BY_HAND):  # growth alone is no sign where a person ended it
        return
    for metric, where in (("gpu_mem", "GPU memory"), ("host_mem", "host memory")):
        value = scene.curve(metric).value
        ended = scene.has("killed", "oom-cliff" if metric == "gpu_mem" else "killed")
        if len(value) > 1 and value[-1] > GREW * value[0] and ended:
            first, last = (number(float(one)) for one in (value[0], value[-1]))
            said = f"the logged {where} had grown from {first} to {last} GiB by then"
            if not _freed(scene, float(value[-1])):
                yield Sign(said, HINT)


def _freed(scene: Scene, grown: float) -> bool:
    """Whether the error itself says that less was in use than the last reading."""
    sizes = (one.data for one in _events(scene, "memory") if "free_gib" in one.data)
    return any(grown > float(of.get("total_gib", 0)) - float(of["free_gib"]) for of in sizes)


def _inner(scene: Scene, kind: str) -> str:
    """Return the line in which a collective's error names its inner cause."""
    for line in reversed(_tail(scene)):
        if "NCCL" not in line and "Cuda failure" not in line and "ncclUnhandled" not in line:
            continue
        for name, pattern in _INNER:
            if pattern.search(line):
                if name == kind:
                    return shortened(line, QUOTED)
                break
    return ""


def _on_disk(raised: Event) -> bool:
    """Whether an exception says that something could not be written."""
    text = f"{raised.data.get('exception')}"
    saving = raised.data.get("stage") == SAVING
    return bool(_DISK.search(text) or (saving and _WRITE.search(text)))


def _machine(scene: Scene) -> Signs:
    inner = _inner(scene, "memory")  # of which the collective's failure is the effect
    yield None if inner or _cut_off(scene) else _named(scene, "machine", STRONG)
    raised = _exception(scene)
    if raised is not None and scene.has("crashed", "known-error"):
        text = f"{raised.data.get('exception')}"
        saving = raised.data.get("stage") == SAVING
        if _on_disk(raised):
            said = f"it failed while {SAVING}" if saving else quoted(shortened(text, QUOTED))
            full = _FULL.search(text)
            what = "The disk is full" if full else "Writing to disk failed"
            yield Sign(said, SETTLES, what, proved=True)
        elif _DEVICE.search(text) and not _named(scene, "code-error"):
            yield Sign(quoted(shortened(text, QUOTED)), SETTLES, "No usable GPU", proved=True)
    if said := _inner(scene, "machine"):
        yield Sign(quoted(said), SPEAKS)
    if scene.has("throughput-drop"):
        title = scene.title("throughput-drop")
        yield Sign(title, STRONG, "The machine or the data loader slowed down")
    if scene.has("hang"):
        title = scene.title("hang")
        yield Sign(title, STRONG)
    if scene.has("low-utilisation"):
        yield Sign(scene.title("low-utilisation"), STRONG)


def _cut_off(scene: Scene) -> bool:
    """Whether a killed process explains the connections that others lost."""
    lost = _events(scene, "machine")
    return scene.has("killed") and bool(lost) and lost[-1].data.get("row") == WEAK_HANG


def _limit(scene: Scene) -> Signs:
    yield no_sender(_events(scene, "time-limit")) or _named(scene, "time-limit", STRONG)
    if not scene.has("killed", "stopped-early", "crashed"):
        return
    if said := _line(scene, _LIMIT):
        raised = "Raise the time limit of the job or of the script"
        yield Sign(said, LEADS, "A time limit", raised, KILLED)
    elif said := _line(scene, HUNG_UP):
        yield Sign(said, SETTLES, "The terminal that started the run was closed")
    elif scene.has("killed") and (said := _line(scene, _LOST_RANK)):
        yield Sign(said, STRONG, "SIGKILL ended a process of the run")  # others then get SIGTERM
    elif not _raised(scene) and (said := _line(scene, _SIGNALLED)):
        yield Sign(said, SETTLES, "A signal from another process", answers=KILLED)
    elif scene.lead.rule == "stopped-early" and scene.run.state.sure != "certain":
        yield Sign(
            "the log breaks off, so the run was killed without a message or is still running", HINT
        )


def _person(scene: Scene) -> Signs:
    yield _named(scene, "by-hand", LEADS)
    stops = scene.run.events_of("early_stop")
    if stops and not scene.has("crashed"):  # of two phases the first may have ended so
        yield gave_up(stops[-1])
    if scene.has("killed", "stopped-early") and (said := _line(scene, _BY_HAND)):
        yield Sign(said, SETTLES, INTERRUPTED, answers=KILLED)
    elif scene.has("stopped-early") and scene.run.state.sure == "certain":
        said = "the log shows no exception and no signal"
        if scene.lead.rule in ENDED:  # it is no cause of what began before
            yield Sign(said, HINT, "Stopped by hand, or by a limit set in the script")


def _own_log(scene: Scene) -> Sign | None:
    """Say that the file which could not be opened is the log: the console is redirected there."""
    logs = {source.rpartition("/")[2] for source in scene.run.sources}
    for event in _events(scene, "code-error"):
        denied = _DENIED.search(event.text)
        if denied and _SLASHES.split(denied[1])[-1] in logs:
            what = "The log that the program opens is held open by the redirect of its console"
            todo = "Redirect the console into another file than the one that the program writes"
            return Sign(quoted(shortened(event.text, QUOTED)), LEADS, what, todo)
    return None


def _code(scene: Scene) -> Signs:
    known = _own_log(scene) or _named(scene, "code-error")
    yield known
    yield emptied.nothing_found(scene)
    raised = _exception(scene)
    if raised is None or not scene.has("crashed", "known-error", "hang"):
        return
    what, frame, stage = (
        str(raised.data.get(key) or "") for key in ("exception", "frame", "stage")
    )
    called = "()" if " in " in frame and not frame.endswith((">", ")")) else ""
    where = f"the traceback ends at {frame}{called}" if ".py:" in frame else ""
    during = "" if stage == "the forward pass" and frame.endswith(" in forward") else _during(stage)
    place = f"{where}{',' if during else ''}{during}" if where else ""
    place = place or (f"the error came up{during}" if during else "")
    if known is not None:  # the table names the error better; where it was raised is added
        yield Sign(place, STRONG) if place else None
        return
    if any(_named(scene, kind) for kind in OUTSIDE) or _on_disk(raised):
        return  # what raised it is known: no second cause
    if scene.has(*LOST) and _GUARD.search(what):  # it tells what was found, and no cause of it
        return
    if what.startswith(UNNAMED):  # it may be Ctrl-C
        yield Sign("", HINT, NOT_NAMED)
        return
    parts = [quoted(shortened(what, QUOTED)) if scene.lead.rule != "crashed" else "", where]
    yield Sign("; ".join(part for part in parts if part), STRONG, _named_error(raised))


def _named_error(raised: Event) -> str:
    exception, stage = (str(raised.data.get(key) or "") for key in ("exception", "stage"))
    if known := meaning(exception, raised=bool(raised.data.get("raised"))):
        return known.what
    name = exception.partition(":")[0].rpartition(".")[2].strip()
    named = name[:1].isupper() and name.isidentifier() and name != "Error"
    name = name if named else "An error"  # "train.py: error:", "Error: no such class"
    return f"{name}{_during(stage)}" if stage else f"{name} in the program"


def _during(stage: str) -> str:
    """Return ``while saving a checkpoint``, ``in the backward pass``; empty for no stage."""
    doing = stage.partition(" ")[0].endswith("ing")
    return f" {'while' if doing else 'in'} {stage}" if stage else ""


def _resumed(scene: Scene) -> Signs:
    if scene.before("resume-jump"):
        yield Sign(scene.title("resume-jump"), LEADS + 1)
    begun, off = scene.launch, scene.departure
    if begun and off and abs(off.first.step - begun.after) <= 2 * scene.slack:
        yield Sign(
            f"the learning rate went off schedule right after the resume, at step "
            f"{step(begun.after)}",
            LEADS,
        )
    elif begun and _soon_after(scene, begun.after):
        said = f"a new launch began at step {step(begun.after)}, and the first symptom is at step "
        yield Sign(said + step(scene.symptom), STRONG)
    yield _named(scene, "resume-state")
    yield begun_anew(scene)
    yield weights_alone(scene)
    yield told_by_the_loader(scene)
    yield not_loaded(scene)


def _soon_after(scene: Scene, begun: float) -> bool:
    """Whether the first symptom follows a launch, before which something had been trained."""
    soon = SOON * max(scene.run.last_step, 1)
    return begun > scene.run.first_step + scene.slack and scene.symptom - begun <= soon


MEMORY = Hypothesis(
    "memory",
    "Out of memory",
    ENDED | {"memory-growth", "throughput-drop"},
    _memory,
    "it fails the same with half the batch, or with half of the data",
    "Run the longest batch alone and log the peak memory of each step (on a GPU: "
    "torch.cuda.max_memory_allocated())",
)
MACHINE = Hypothesis(
    "machine",
    "The machine, the network or the data loader",
    ENDED | {"throughput-drop", "low-utilisation"},
    _machine,
    "the same happens on another node",
    "Check dmesg, free disk space, quotas and the network on this node, or rerun the job on "
    "another",
)
LIMIT = Hypothesis(
    "time-limit",
    "A time limit or a kill signal",
    ENDED,
    _limit,
    "the scheduler's record of the job names no limit and no signal",
    "Check the system log (dmesg, or the Event Viewer on Windows) and the job scheduler's log, if "
    "any, around that time",
)
PERSON = Hypothesis(
    "by-hand",
    "A stop by hand or by a limit in the script",
    ENDED,
    _person,
    "nobody stopped it",
    "If you did not stop it yourself, find out what did: the job scheduler, a notebook or a script",
)
CODE = Hypothesis(
    "code-error",
    "An exception in the program",
    ENDED,
    _code,
    "the same line runs with another input",
    "Repeat the failing call in a single process with the same input",
)
RESUMED = Hypothesis(
    "resume-state",
    "The resume did not restore its state",
    MOVED | {"resume-jump", "schedule-mismatch", "nan-eval"},
    _resumed,
    "rate and loss continue where they stopped",
    "Print learning rate, optimizer step and data position just after the resume",
)
