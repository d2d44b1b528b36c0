"""Serve runs for a benchmark: ``python -m tests.wandb_server --runs 1000 --rows 1000``."""

import argparse
import sys

from tests.wandb_server.server import Server


def main() -> None:
    """Print the address, then serve until standard input is closed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--entity", default="team")
    parser.add_argument("--project", default="bench")
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--variants", type=int, default=50, help="histories that differ")
    parser.add_argument("--faulty", type=int, default=0, help="runs that become NaN")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds an answer takes more")
    parser.add_argument("--failing", type=float, default=0.0, help="share of requests, with 500")
    given = parser.parse_args()
    with Server(port=given.port, entity=given.entity, latency=given.latency) as server:
        how = {"variants": given.variants, "faulty": given.faulty}
        server.fill(given.project, given.runs, given.rows, **how)
        if given.failing:
            server.fault(times=sys.maxsize, share=given.failing)
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
