"""The page of a leaderboard: many runs by one metric, the best first."""

from runlens.comparison import Leaderboard
from runlens.report.comparison.board import columns, headline
from runlens.report.html.components import board_table
from runlens.report.html.components.tables import bullets, section
from runlens.report.html.element import Markup, cut, el
from runlens.report.html.shell import document, part
from runlens.report.html.words import headline as unbroken
from runlens.wording import count

NAME = 60  # characters of the place in the head of the page


def render(board: Leaderboard, place: str = "", *, static: bool = False, counts: str = "") -> str:
    """Return the board as one HTML file that needs nothing else; `static`: without script.

    `counts` stands as the headline of runs that were diagnosed, and that nobody asked to compare.
    """
    drawn = bool(columns(board)) and not static
    sections = [
        part("verdict", lambda: _verdict(board, counts)),
        part(
            "board",
            lambda: board_table.settings(board, "board", "All runs", labels=False),
            "All runs",
        ),
    ]
    if board.problems:
        told = bullets(f"{one.where}: {one.text}" for one in board.problems)
        sections.append(
            part("problems", lambda: section("problems", "Data problems", told), "Data problems")
        )
    return document(
        f"{counts or headline(board)} · RunLens",
        cut(place, NAME),
        sections,
        {"board": board_table.data(board)} if drawn else None,
        scripted=not static,
        bench=drawn,
    )


def _verdict(board: Leaderboard, counts: str) -> Markup:
    first, _, rest = (counts or headline(board)).partition("; ")
    return el(
        "section",
        el("span", count(len(board.rows), "run"), class_="mut"),
        el("h1", unbroken(first.rstrip(".") + "."), id="h-verdict"),
        el("p", rest[:1].upper() + rest[1:], class_="lede") if rest else None,
        class_="verdict",
        aria_labelledby="h-verdict",
    )
