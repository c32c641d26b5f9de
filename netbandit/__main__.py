"""``python -m netbandit`` is the ``netbandit`` command."""

from netbandit.cli import main

if __name__ == "__main__":
    main()
