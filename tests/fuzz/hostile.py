"""Text that has a meaning in one of the places to which it may come."""

CONTROLS = (
    "\x1b[2J", "\x1b]0;owned\x07", "\x9b31m", "\x90q\x9c", "\x07", "\x08\x08", "\x00", "\r",
    "\x7f", "\u202e", "\u2066", "\u2028", "\u200b", "\ufeff", "\U000e0041", "\ufffe",
)  # fmt: skip
MARKUP = (
    "<script>canary()</script>", "<img src=x onerror=canary()>", '"><svg onload=canary()>',
    "</script><script>canary()", "javascript:canary()", "]]>", "<!--", "&lt;b&gt;", "&#x3c;",
    "[x](javascript:canary())", "![x](https://canary.example/x)", "`canary`", "| a | b |",
    "# canary", "::error::canary", "\n::set-output name=canary::x", "%0A::warning::canary",
    "{{canary}}", "${canary}", "%s%n", "{0}", "[bold]canary[/bold]", "[/]", "=cmd|'/C calc'!A0",
    "@SUM(1)", "+x", "-y", "../../canary", "/etc/passwd", "C:\\canary", "'; DROP TABLE runs; --",
    '"', "'", "\\", "\\u0000",
)  # fmt: skip
NAMES = (
    "val_loss/epoch", "train/train/train_loss", "eval_eval_loss", "loss" * 80, "rewards//mean",
    "lr-", "_", "step", "epoch", "time", "loss_rank99999999999", "eval_é_loss", "损失", "🔥", "é",
    "İ", "ß", "constructor", "__proto__", "toString", "None", "nan", "0", "-1", "1e9", ":",
    "reward:", "a:b:c",
)  # fmt: skip
WORDS = (*CONTROLS, *MARKUP, *NAMES)
