"""The table of what common guides say is true: its rules and tests exist, and no line is open."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from runlens.crossrun import CROSS_RULES
from runlens.errors import nearest
from runlens.metrics import naming
from runlens.rules import RULES
from runlens.rules.rule import Rule
from runlens.sources.console.messages import MESSAGES

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "docs" / "seed_coverage.md"
CHECKLIST = ROOT.parent / "shared" / "seed_checklist.md"
ACROSS_RUNS = {rule.slug for rule in CROSS_RULES}  # of the audit: one run has no other seeds
BY_SLUG = {rule.slug: rule for rule in RULES}


class Row(NamedTuple):
    """One line of the table."""

    ident: str
    statement: str
    where: str
    tests: str


def quoted(cell: str) -> list[str]:
    """Return what stands in backticks in a cell."""
    return re.findall(r"`([^`]+)`", cell)


@cache
def rows() -> tuple[Row, ...]:
    """Return the rows of all sections, heads and rules between them left out."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if line[:1] == "|"
    ]
    return tuple(Row(*row) for row in cells if re.fullmatch(r"[A-H]\d+", row[0]))


@cache
def defined(path: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return (names of test functions, constants as text) of a test file; empty if it is none."""
    if not (ROOT / path).is_file():
        return frozenset(), frozenset()
    nodes = list(ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))))
    names = frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef))
    constants = (node.value for node in nodes if isinstance(node, ast.Constant))
    return names, frozenset(str(value) for value in constants)


def name_of_case(rule: Rule[Any]) -> str:
    """Return the name of the first drawn case of a rule, for a row that is to be written."""
    return next((case.name for case in (*rule.bad, *rule.good)), "name of a drawn case")


def fault(test: str) -> str:
    """Say what is wrong with the name of a test; empty where it exists.

    ``tests/x.py::test_y``, with ``[...]`` a row of its table, or ``rule: drawn case``.
    """
    if "::" not in test:
        slug, _, name = test.partition(": ")
        rule = BY_SLUG.get(slug)
        drawn = {case.name for case in (*rule.bad, *rule.good)} if rule else set()
        return "" if name in drawn else f"no such case: {test}{nearest(name, sorted(drawn))}"
    path, _, name = test.partition("::")
    function, _, item = name.partition("[")
    names, constants = defined(path)
    if function not in names or not function.startswith("test_"):
        return f"no such test: {test}"
    return "" if not item or item.removesuffix("]") in constants else f"no such row: {test}"


def test_every_row_is_complete() -> None:
    """Four cells, none of them empty, and each id once."""
    idents = [row.ident for row in rows()]
    assert len(idents) == len(set(idents)) > 0
    assert [row.ident for row in rows() if not all(row) or not quoted(row.tests)] == []


def test_every_test_of_the_table_exists() -> None:
    """A function of a test file, a row of its table, or a drawn case of a rule."""
    wrong = {row.ident: fault(test) for row in rows() for test in quoted(row.tests) if fault(test)}
    assert wrong == {}


def test_every_place_of_the_table_exists() -> None:
    """A rule by its slug, or a file of RunLens."""
    known = BY_SLUG.keys() | ACROSS_RUNS | {"unmet"}
    wrong = {
        row.ident: place
        for row in rows()
        for place in quoted(row.where)
        if place not in known and not (ROOT / place).exists()
    }
    assert wrong == {}


def test_every_rule_stands_in_the_table() -> None:
    """No rule without a statement that it carries."""
    named = {place for row in rows() for place in quoted(row.where)}
    ours = max(int(row.ident[1:]) for row in rows() if row.ident[0] == "H")
    missing = [rule for rule in RULES if rule.slug not in named]
    told = [
        f"{rule.slug} stands in no row of docs/seed_coverage.md: add"
        f" | H{number} | {rule.title} | `{rule.slug}` | `{rule.slug}: {name_of_case(rule)}` |"
        for number, rule in enumerate(missing, ours + 1)
    ]
    if told:
        pytest.fail("\n".join(told), pytrace=False)


def test_every_line_of_the_checklist_stands_in_the_table() -> None:
    """The checklist lies beside the repository where it was made."""
    if not CHECKLIST.is_file():
        pytest.skip(f"{CHECKLIST} is not here: the list of statements is no part of the repository")
    wanted = set(re.findall(r"^([A-G]\d+)\. ", CHECKLIST.read_text(encoding="utf-8"), re.MULTILINE))
    assert wanted
    assert wanted - {row.ident for row in rows()} == set()


@pytest.mark.parametrize(
    ("logged", "metric"),
    [
        ("rewards/accuracy/mean", "reward:accuracy"),
        ("rewards/accuracy/std", "reward_std:accuracy"),
        ("reward_std", "reward_std"),
        ("frac_reward_zero_std", "frac_zero_std"),
        ("entropy", "entropy"),
        ("kl", "kl"),
        ("sampling/sampling_logp_difference/mean", "logp_diff"),
        ("sampling/importance_sampling_ratio/min", "is_ratio_min"),
        ("sampling/importance_sampling_ratio/mean", "is_ratio_mean"),
        ("sampling/importance_sampling_ratio/max", "is_ratio_max"),
        ("clip_ratio/region_mean", "clip_ratio"),
        ("completions/mean_length", "len_mean"),
        ("completions/max_length", "len_max"),
        ("completions/mean_terminated_length", "len_term"),
        ("completions/clipped_ratio", "len_clipped"),
        ("num_tokens", "tokens"),
        ("ebft/alignment", "ebft_alignment"),
        ("ebft/diversity", "ebft_diversity"),
        ("ebft/cfm_loss", "ebft_cfm"),
        ("memory/max_alloc", "gpu_mem"),
        ("memory/max_allocated (GiB)", "gpu_mem"),
        ("memory/max_reserved", "gpu_mem_reserved"),
        ("memory/device_reserved (GiB)", "gpu_mem_reserved"),
        ("eval/perplexity", "eval_ppl"),
        ("tokens_per_second", "throughput_tokens"),
        ("amp_loss_scale", "loss_scale"),
    ],
)
def test_names_that_guides_use_are_known(logged: str, metric: str) -> None:
    """Old and new spellings of one metric, in a tracker with or without ``train/``."""
    assert naming(logged).metric == metric
    if not logged.startswith("eval"):
        assert naming(f"train/{logged}").metric == metric


@pytest.mark.parametrize(
    ("ident", "slug", "words"),
    [
        ("F1", "stuck-at-chance", "starts above 6 has another template"),
        ("F2", "plateau", "level of chat data (healthy runs end at 0.5-2.0)"),
        ("F3", "nan-loss", "Guides begin with the data, with the learning rate, or with fp16"),
        ("F4", "importance-ratio-divergence", "vllm_sync_interval counts steps: lower it"),
        ("F5", "hockey-stick", "against the evaluation before it 5 % are noise"),
        ("F7", "oscillation", "noise falls with the root of the batch"),
        ("F8", "grad-explosion", "Guides alarm at 10 or at 100"),
        ("F10", "no-warmup", "3 to 10 % are usual"),
        ("F11", "sawtooth", "to a half where the loss still falls"),
        ("F12", "low-utilisation", "high one with a low mfu is small batches or slow kernels"),
        ("F14", "throughput-drop", "counted wrongly by a factor"),
        ("F15", "grad-zero", "read after zero_grad"),
        ("F16", "loss-scale-collapse", "overflows once and is halved"),
        ("F17", "loss-spike", "once fp32 to tell the precision apart"),
        ("F18", "reward-stuck-zero", "only a reward at its floor is loud"),
        ("F19", "entropy-collapse", "entropy of a supervised run is that of its predictions"),
        ("F20", "clip-saturation", "norm logged after clipping piles up"),
        ("F21", "ebft-diversity", "lower is more diverse"),
        ("F23", "weight-decay-high", "0.1 is standard in pre-training"),
        ("F25", "ebft-diversity", "twice a cosine"),
        ("F26", "kl-blow-up", "KL summed over tokens"),
        ("F27", "clip-saturation", "does not hold by itself"),
    ],
)
def test_what_was_decided_is_told_on_the_page(ident: str, slug: str, words: str) -> None:
    """Where guides contradict each other, the reader of a rule's page learns which one holds."""
    assert words in " ".join(BY_SLUG[slug].page.split())
    assert slug in next(quoted(row.where) for row in rows() if row.ident == ident)


def test_perplexity_is_judged_by_no_rule() -> None:
    """It is exp(loss): a fault that is told of the loss is not told again."""
    assert naming("perplexity").metric == "train_ppl"
    needs = {metric for rule in RULES for need in rule.needs for metric in need.split("|")}
    assert {"train_ppl", "eval_ppl"} & needs == set()


def test_a_bus_error_names_both_causes() -> None:
    """Exit code -7: full shared memory as a rule, the version of DeepSpeed as well."""
    row = next(message for message in MESSAGES if message.row == 6)
    assert "Shared memory" in row.cause
    assert "DeepSpeed" in row.cause
    assert "/dev/shm" in row.fix  # noqa: S108 - advice, no file of ours
