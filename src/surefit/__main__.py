"""Entry point of ``python -m surefit``: run a script with surefit's estimators, or the command line."""

import sys

from surefit.cli import run


def main() -> None:
    """Run the script, the module after ``-m``, or the command line."""
    if len(sys.argv) > 1 and (sys.argv[1] == "-m" or sys.argv[1].endswith(".py")):
        sys.argv.insert(1, "run")
    run()


if __name__ == "__main__":
    main()
