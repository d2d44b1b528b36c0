"""Lines as one parser reads them: what comes again left out, other ways to say it respelled."""

from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.abroad import in_ascii
from runlens.sources.console.beside_names import (
    with_ends_named,
    with_parts_first,
    with_scores_spelled,
)
from runlens.sources.console.bests import without_bests
from runlens.sources.console.cells_in_lines import with_cells_joined, with_signs_as_pipes
from runlens.sources.console.class_reports import with_reports_spelled
from runlens.sources.console.coco_tables import with_kinds_named
from runlens.sources.console.evaluated_batches import with_dev_losses
from runlens.sources.console.headed_tasks import with_tasks_named
from runlens.sources.console.improved import with_improvements
from runlens.sources.console.json_stats import on_its_way
from runlens.sources.console.letter_counters import (
    with_epochs_spelled,
    with_letters_spelled,
)
from runlens.sources.console.lists_apart import with_lists_apart
from runlens.sources.console.loggers import without_logger
from runlens.sources.console.loss_parts import with_parts_named
from runlens.sources.console.names_before import with_names_bound
from runlens.sources.console.numbered_names import with_numbers_apart
from runlens.sources.console.of_both import with_both_named
from runlens.sources.console.one_line import parted
from runlens.sources.console.printed_objects import with_objects_opened
from runlens.sources.console.printed_yaml import without_yaml
from runlens.sources.console.r_vectors import as_lists
from runlens.sources.console.ranks import of_first_rank, without_threads
from runlens.sources.console.run_summaries import without_summaries
from runlens.sources.console.said_before import with_said_behind
from runlens.sources.console.saved_scores import without_told_again
from runlens.sources.console.searches import without_searches
from runlens.sources.console.sections import with_sections_joined
from runlens.sources.console.shared_cells import with_cells_parted
from runlens.sources.console.tables import without_checkpoints
from runlens.sources.console.tagged import with_tags_left_out
from runlens.sources.console.windows import with_windows_left_out

_RAISED = "Traceback (most recent call last)"  # right behind a row without an end
# what PyTorch's schedulers say, whose count of epochs is their own
_SCHEDULED = lazy_re(r"Epoch +\d+: (?:reduc|adjust)ing learning rate of group \d+ to ")
_BEST = lazy_re(r"(?i)\bbest (?:iteration|epoch|step|round)[^:]{0,20}:$")  # a row comes again
# of a program in the log: no reward
_RETURNS = lazy_re(r"\breturn\b[^:=]{0,80};\s*(?:\}|//.*|/\*.*)?\s*$")


def spelled(others: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return lines without their loggers, and with the names of their numbers beside these."""
    others = [(at, line.partition(_RAISED)[0] or line) for at, line in others]
    others = with_tasks_named(with_tags_left_out(with_sections_joined(others)))
    others = with_cells_parted(others)
    others = with_signs_as_pipes(with_cells_joined(without_summaries(with_said_behind(others))))
    others = with_parts_first(without_yaml(without_searches(others)))
    others = as_lists(without_checkpoints(without_threads(of_first_rank(others))))
    others = with_names_bound(with_both_named(with_lists_apart(with_objects_opened(others))))
    others = without_told_again(others)
    others = with_scores_spelled(without_bests(with_dev_losses(with_reports_spelled(others))))
    others = with_letters_spelled(with_epochs_spelled(with_windows_left_out(others)))
    others = with_numbers_apart(with_improvements(with_kinds_named(with_ends_named(others))))
    return [
        (at, with_parts_named(in_ascii(without_logger(line))))
        for (at, line), above in zip(parted(others), ["", *dict(others).values()], strict=False)
        if not (above.endswith(":") and _BEST.search(above))
        and not (_SCHEDULED.match(line) or on_its_way(line))
        and not ("return" in line and _RETURNS.search(line))
    ]
