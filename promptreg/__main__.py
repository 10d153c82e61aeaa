"""python -m promptreg."""

from promptreg.cli.app import main

if __name__ == "__main__":
    main()
