"""`python -m runlens` is the command `runlens`."""

from runlens.cli import main

if __name__ == "__main__":
    main(prog_name="runlens")
