"""What a log says besides numbers: exceptions, saved checkpoints, launches, exit codes."""

import re
from collections.abc import Sequence
from typing import Literal

from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import BEST_SAVED, Sure, unnamed
from runlens.sources.console.stages import stage_of
from runlens.sources.files import step_in_name

MAX_FRAMES = 2_000  # lines of one traceback that are read
MAX_STRANGERS = 20  # lines of others within a traceback
MAX_EXCEPTION = 500  # characters
STAMPED = 3  # lines of a message that begins below its clock
CHAINED = 4  # lines between two tracebacks of one chain

HEADER = "Traceback (most recent call last)"
_DIGITS = lazy_re(r"\d+")
_RANK = lazy_re(r"^\s*(\[?(?:rank ?\d+|default\d+)\]?:|\([\w. ]*pid=\d+[^)]*\))\s?")
_FRAME = lazy_re(r'^\s+File "([^"]+)", line (\d+)(?:, in (\S+))?')
_RAISE = lazy_re(r"\s+raise (?:\w+\.)*[A-Z]\w*(?:\(|\s*$)")
_EXCEPTION = lazy_re(r"^(?:[A-Za-z_][\w]*\.)*[A-Za-z_]\w*(?:\[[^\]]*\])?(?::?$|:\s)")
_CLOCK_ALONE = lazy_re(r"(?:Error|Exception): \[\d+:\d+:\d+\]$")
_NAMED = lazy_re(r"\b\w*(?:Error|Exception|Interrupt|Exit|Warning|Stop|Failed|Failure)\b")
_BARE = lazy_re(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt)(?:: |$)|Exception: ")
_CHAIN = lazy_re(
    r"During handling of the above exception|direct cause of the following|Original Traceback"
)
# argparse, behind its usage: "train.py: error: argument --fp16: ..."
_USAGE = lazy_re(r"^usage: \S")
_WRONG_USAGE = lazy_re(r"^[\w./-]{1,80}: error: \S")
MAX_USAGE = 500  # lines of a usage: the Trainer's has 400
_NOT_OWN = lazy_re(r"site-packages|dist-packages|[\\/]lib[\\/]python3|<frozen|importlib|<string>")
_RUNNER = lazy_re(r"\brunpy\b")  # of ``python -m``
_SAVED = lazy_re(
    r"(?:Saving model checkpoint to|Saving checkpoint to|saving checkpoint to|Saved checkpoint to"
    r"|Saving (?:model|checkpoint) (?:at|in)"
    r"|Saving checkpoint(?=\s+\S*\d\S*\.(?:pth?|ckpt|bin)\b)"
    r"|Model weights saved in|\bmodel has been saved (?:in|to|at)|^\W*\[Saved\]"
    # AllenNLP's: the weights of its last epoch, under another name
    r"|Copying weights to"
    r"|Configuration saved in|[Ss]av(?:e|ed|ing)(?: the)?(?: new)?(?: best)? model to)\s+(\S+)"
)
# "output/ckpt_best.pth saved !!!"
_FILE_SAVED = lazy_re(r"(\S+\.(?:pth?|ckpt|safetensors)) saved\b")
# "--------Save best model!--------", which names no file
_BEST_SAVED = lazy_re(
    r"\bsav(?:e|ed|ing)\b(?: the)?(?: new| current)? best (?:model|checkpoint|weights)\b"
    r"|\bbest (?:model|checkpoint|weights) (?:is |was |has been )?saved\b"
    # "[BEST] best.pt updated (val_f1=0.35)", in any language but of what is loaded
    r"|^(?!.*\b(?:load|restor|resum|test|us)(?:e|ed|ing)?\b).*\bbest[\w-]{0,40}"
    r"\.(?:pth?|ckpt|h5|keras)\b.{0,60}[=:] ?\d",
    re.IGNORECASE,
)
_RESUMED = lazy_re(
    r"will skip to saved global_step|Continuing training from (?:global step|checkpoint)"
    r"|Resuming (?:training )?from (?!scratch)|Resuming .*from step"
    r"|Loading model from \S*checkpoint-\d"
    r"|resum(?:ed|ing) (?:training )?(?:from|at) (?:checkpoint|step|epoch|iter)"
    r"|\bresumed from (?!\S*(?:best|pretrain))\S+\.(?:pth?|ckpt|tar|safetensors|pkl|npz|bin)\b"
    r"|successfully loaded checkpoint",
    re.IGNORECASE,
)
# what says so only where rows go on below it: a scheduler's requeue, a checkpoint that was loaded.
# The best, a pretrained one and that of another model are loaded for other reasons
_RELAUNCHED = lazy_re(
    r"^(?!.*\b(?:best|final|averaged|pretrained|pre-trained|teacher|backbone|opponent|evaluat\w*"
    r"|test(?:ing)?|vae|tokenizer|failed|no checkpoint|not found)\b)(?:"
    r".*\bJOB \S+ .*\bREQUEUED?\b|.*\b(?:job|run|training) (?:was |is |has been )?requeued\b"
    r"|.*\b(?:job|process|training) (?:was |is |has been )?(?:restarted|relaunched)\b"
    r"|.*\bfound (?:an? |the )?(?:\w+ )?checkpoint\b.*\b(?:load|restor|resum)ing\b"
    r"|.*\brestor(?:ed|ing) (?:from )?(?!\S*(?:best|pretrain))\S*(?:ckpt|checkpoint)[-/_.]\S*\d"
    # behind a time and the level of a logger, if any
    r"|[\W\d]*(?:(?:INFO|DEBUG|WARNING)\b[\W\d]*)?(?:(?:re)?load|restor)(?:ed|ing) "
    r"(?:(?:(?:the )?(?:last |latest )?|(?:\w+ ){0,4}from (?:the )?(?:\w+ )?)"
    r"checkpoint\b(?! shards)"
    # a state, or the weights of a step; a file that says neither may be of another model
    r"|(?:[\w/:]+ ){0,5}from (?!\S*(?:best|pretrain))\S*(?:ckpt|checkpoint-|step|iter|epoch|last"
    r"|latest)\S*\.(?:pth?|ckpt|tar|bin|npz|pkl|safetensors)\b"
    r"|(?:\w+ ){0,2}(?:weights|state) [(\[](?:step|iter(?:ation)?|epoch)\W{0,2}\d{1,12}[)\]]"
    # the last file, and at which step it was saved
    r"|(?!\S*(?:best|pretrain))\S*(?:ckpt|last|latest)\S*\.(?:pth?|ckpt|tar|bin|npz|pkl)"
    r"\W{1,3}(?:it(?:er(?:ation)?)?|step|epoch|ep)\W{0,2}\d)"
    # a command behind a prompt, or one that begins with the weights of a step
    r"|[$+>#] .{0,200}\s--?resume(?:[-_]from[-_]checkpoint)?(?![\w-]|\S*=(?:none|false|0)\b)"
    r"|\W{0,3}(?:\w{1,12}\W{1,3})?python3? .{0,200}\s--?(?:init|load|restore|ckpt|checkpoint)"
    r"(?:[-_](?:from|path|weights|checkpoint|ckpt))?[ =](?!\S*(?:best|pretrain))\S*"
    r"(?:step|iter|epoch|ckpt)[-_.]?\d)",
    re.IGNORECASE,
)
# in lower case, what each line holds in which one of these two is found
SAVED_OR_RESUMED = (
    "saving model", "saving checkpoint", "saved checkpoint", "saved in", "has been saved",
    "[saved]", "copying weights to", "will skip to saved",
    "model to", ".pt saved", ".pth saved", ".ckpt saved", ".safetensors saved",
    "best model", "best checkpoint", "best weights", "best.", "best_",
    "continuing training", "resum", "requeue",
    "restarted", "relaunched", "found ", "loaded ", "loading ", "restored ", "restoring ",
    " --init", " --load", " --restore", " --ckpt", " --checkpoint",
)  # fmt: skip
_RESUME_STEP = lazy_re(
    r"(?:global[_ ]step|checkpoint-|step|iter(?:ation)?)[\s:=_]*(\d+)", re.IGNORECASE
)
_EXIT = lazy_re(
    r"exit ?code\s*:\s*(-?\d+)|exited with (?:exit )?code (-?\d+)|exits with return code = (-?\d+)"
    r"|exit code:? (-?\d+)|returned non-zero exit status (\d+)",
    re.IGNORECASE,
)
_SIGNAL = lazy_re(r"died with <Signals\.\w+: (\d+)>|Fatal Python error: (Aborted|Segmentation)")
_MARKDOWN = " \t>*_`"  # what stands around a word in it
_BY_SIGNAL = {  # 128 and the number of the signal
    "Killed": 137,
    "Terminated": 143,
    "Segmentation fault": 139,
    "Aborted": 134,
    "Bus error": 135,
    "Floating point exception": 136,
    "Illegal instruction": 132,
}
_DIED = lazy_re(  # what a shell says of a program that a signal ended
    rf"^(?:\S+: line \d+: +\d+ (?P<script>{'|'.join(_BY_SIGNAL)})\b.*"
    rf"|(?P<alone>{'|'.join(_BY_SIGNAL)})(?: \(core dumped\))?)$"
)


class Failure(NamedTuple):
    """An exception that was printed with its traceback."""

    at: int  # index of the line of its header
    end: int  # index of the line that names the exception
    exception: str  # "ValueError: ..."
    frame: str  # "train.py:120 in main": the last frame of the user's own code
    ignored: bool  # printed by the interpreter on the way out, the program went on
    stage: str = ""  # what the program was doing: "saving a checkpoint"
    raised: bool = False  # by a `raise` of the code at the last frame, which names its class
    main: str = ""  # file of the first frame, where that is of a script's own lines
    words: Sure | Literal[""] = ""  # how sure it is of an error that no exception names


def unranked(line: str) -> str:
    """Return a line without the rank or the process that printed it."""
    found = _RANK.match(line)
    return line[found.end() :] if found else line


def all_unranked(lines: Sequence[str]) -> Sequence[str]:
    """Return lines without the ranks or processes that printed them."""
    by_ranks = "\n".join(lines)
    if not any(word in by_ranks for word in ("rank", "default", "pid=")):
        return lines
    return [unranked(line) for line in lines]


def failures(lines: Sequence[str], index: Sequence[int]) -> tuple[list[Failure], set[int]]:
    """Find the tracebacks, a chain of them as one; and the positions of quoted source lines.

    `lines` are those that are no bars and no rows, `index` their places in the log.
    """
    found: list[Failure] = []
    quoted: set[int] = set()
    taken: set[int] = set()
    for place, line in enumerate(lines):
        if place in taken or HEADER not in line:
            continue
        end, failure = _block(lines, index, place, quoted, taken)
        if not failure:
            continue
        previous = found[-1] if found else None
        if previous and _chained(lines, place, taken):
            failure = failure._replace(at=previous.at, frame=failure.frame or previous.frame)
            found.pop()
        found.append(failure)
        taken.add(end)
    if not found and lines and _BARE.match(unranked(lines[-1])):  # stderr was kept in part
        text = unranked(lines[-1]).strip()[:MAX_EXCEPTION]
        found.append(Failure(index[-1], index[-1], text, "", ignored=False))
    return [*found, *_wrong_usages(lines, index)], quoted


def _wrong_usages(lines: Sequence[str], index: Sequence[int]) -> list[Failure]:
    """Find programs that ended at once because argparse refused their arguments."""
    usages = [
        place
        for place, line in enumerate(lines)
        if "usage: " in line and _USAGE.match(unranked(line))
    ]
    found = []
    for place in usages[-1:]:
        behind = (unranked(line) for line in lines[place : place + MAX_USAGE])
        said = next(((n, line) for n, line in enumerate(behind) if _WRONG_USAGE.match(line)), None)
        if said:
            at = index[place + said[0]]
            found.append(Failure(at, at, said[1].strip()[:MAX_EXCEPTION], "", ignored=False))
    return found


def _unstamped(line: str, stamp: str) -> str:
    """Return a line without what a collector of logs wrote before each: the time, the task."""
    same = stamp.strip() and _DIGITS.sub("0", line[: len(stamp)]) == _DIGITS.sub("0", stamp)
    return line[len(stamp) :] if same else line


def _chained(lines: Sequence[str], place: int, taken: set[int]) -> bool:
    near = range(max(0, place - CHAINED), place + 1)
    return any(_CHAIN.search(lines[n]) for n in near) and any(n in taken for n in near)


def _block(
    lines: Sequence[str], index: Sequence[int], place: int, quoted: set[int], taken: set[int]
) -> tuple[int, Failure | None]:
    """Read one traceback, which other ranks' lines may cut through."""
    rank = _rank(lines[place])
    stamp = unranked(lines[place]).partition(HEADER)[0]
    frames: list[tuple[str, str, str]] = []
    strangers = number = 0
    raised = False
    for number in range(place + 1, min(place + MAX_FRAMES, len(lines))):
        if _rank(lines[number]) != rank:
            continue
        line = _unstamped(unranked(lines[number]), stamp)
        if frame := _FRAME.match(line):
            frames.append((frame[1], frame[2], frame[3] or ""))
            raised = False
        elif line[:1] in {"", " ", "\t"}:
            if frames:
                quoted.add(number)
                raised = raised or _RAISE.match(line) is not None
        elif _names_exception(line, sure=bool(frames) and not strangers):
            taken.add(number)
            before = lines[place - 1] if place else ""
            ignored = "Exception ignored" in before + lines[place]
            text = _with_message(line, lines[number + 1 : number + 1 + STAMPED])[:MAX_EXCEPTION]
            own, stage = own_frame(frames), stage_of(frames)
            main = _main_of(frames)
            ends = index[place], index[number]
            return number, Failure(*ends, text, own, ignored, stage, raised, main)
        else:
            strangers += 1
            if strangers > MAX_STRANGERS or HEADER in line:
                break
    if frames and not strangers and number == len(lines) - 1:
        text = unnamed(frames[-1][2] or frames[-1][0])
        return number, Failure(index[place], index[-1], text, own_frame(frames), ignored=False)
    return place, None


def _main_of(frames: Sequence[tuple[str, str, str]]) -> str:
    """Return the file of the first frame, where it is of a script's own lines."""
    first = next((one for one in frames if not _RUNNER.search(one[0])), ("", "", ""))
    return first[0] if first[2] == "<module>" else ""


def _names_exception(line: str, *, sure: bool) -> bool:
    """Whether a line ends a traceback; `sure`: nothing but a traceback was seen before it."""
    found = _EXCEPTION.match(line)
    return found is not None and (sure or _NAMED.search(found[0]) is not None)


def _with_message(line: str, below: Sequence[str]) -> str:
    """Return the line that names an exception; a message that begins below it belongs to it.

    XGBoost's begins there, with a clock above it: ``XGBoostError: [10:16:56]``.
    """
    text = line.strip()
    goes_on = below and unranked(below[0]).startswith(": ")  # Java's, within Py4J's
    begins = 1 if text.endswith(":") or goes_on else STAMPED if _CLOCK_ALONE.search(text) else 0
    more = [unranked(one).strip() for one in below[:begins]]
    return " ".join([text, *more]).strip()


def _rank(line: str) -> str:
    found = _RANK.match(line)
    return found[1] if found else ""


def own_frame(frames: Sequence[tuple[str, str, str]]) -> str:
    """Return the last frame, of (file, line, function), that is of the user's own code."""
    own = [frame for frame in frames if not _NOT_OWN.search(frame[0])]
    if not own:
        return ""
    file, line, function = own[-1]
    name = re.split(r"[\\/]", file)[-1]
    return f"{name}:{line} in {function}" if function else f"{name}:{line}"


def checkpoint(line: str) -> tuple[int | None, str] | None:
    """Return step and path of the checkpoint that a line says was saved, or None."""
    found = _SAVED.search(line) or _FILE_SAVED.search(line)
    if not found:
        return (None, BEST_SAVED) if _BEST_SAVED.search(line) else None
    path = found[1].strip("'\"").rstrip(".,;'\"")
    of_trainer = found[0].startswith("Saving model checkpoint to")  # whatever the folder is called
    if not of_trainer and not re.search(r"[\d./\\_-]", path):  # "at the end of epoch 5", "to disk"
        return None
    parts = re.split(r"[\\/]", path)
    for depth, name in enumerate(parts):
        if (step := step_in_name(name)) >= 0:
            return step, "/".join(parts[: depth + 1])
    step_named = re.search(r"step[_-]?(\d{1,12})", parts[-1])
    if "Configuration" in found[0] or "weights saved" in found[0]:
        return None
    return (int(step_named[1]) if step_named else None), path


def resumed(line: str) -> tuple[int | None] | None:
    """Return the step (or None) at which a line says that training goes on; None: it does not."""
    if not _RESUMED.search(line):
        return None
    steps = [int(step) for step in _RESUME_STEP.findall(line) if len(step) < 16]  # noqa: PLR2004 - more digits are no step
    return (steps[-1] if steps else None,)


def relaunched(line: str) -> bool:
    """Whether a line between rows says that a job began again, or from what it goes on.

    >>> relaunched("=> loaded checkpoint 'last.pt' (epoch 21)"), relaunched("loaded best.pt")
    (True, False)
    >>> relaunched("loading state from ck/step100.pt"), relaunched("loading state from m/v2.pt")
    (True, False)
    >>> relaunched("restoring ckpt/step_240.pt"), relaunched("restoring ckpt/best_240.pt")
    (True, False)
    >>> relaunched("[run] python a.py --init c/step9.pt"), relaunched("python a.py --init best.pt")
    (True, False)
    >>> relaunched("INFO | loading checkpoint c/9.pt"), relaunched("INFO | loading teacher c/9.pt")
    (True, False)
    """
    return _RELAUNCHED.search(line) is not None


def exit_code(line: str) -> int | None:
    """Return the exit code that a launcher or a shell reports, as the shell counts it, or None."""
    if died := _DIED.match(line.strip(_MARKDOWN)):
        return _BY_SIGNAL[died["script"] or died["alone"]]
    if found := _SIGNAL.search(line):
        return 128 + int(found[1]) if found[1] else 134
    found = _EXIT.search(line)
    if not found:
        return None
    code = int(next(group for group in found.groups() if group is not None))
    return 128 - code if code < 0 else code
