"""``python -m netbandit`` is the ``netbandit`` command."""

import os
import sys

if __name__ == "__main__":
    # Python puts the working directory first, where a file of the user's own may be named like a module we need.
    if sys.path and sys.path[0] == os.getcwd():
        sys.path.append(sys.path.pop(0))
    from netbandit.cli import main

    main()
