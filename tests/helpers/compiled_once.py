"""Processes that share numba's cache, of which one compiles a function while others that need it wait, and load it."""

from contextlib import contextmanager
from hashlib import sha256
from unittest.mock import patch

from numba.core.dispatcher import Dispatcher

try:
    import fcntl
except ImportError:  # Windows, where they compile it at the same time
    fcntl = None


@contextmanager
def compiled_once(folder):
    """Let no two processes that give the same *folder*, which is for files that they lock, compile a function."""
    held = set()
    compile_at_once = Dispatcher.compile

    def compile_when_free(dispatcher, signature):
        # What is not kept on disk cannot be loaded; what calls itself is asked for while it is compiled.
        index = getattr(getattr(dispatcher._cache, "_cache_file", None), "_index_path", None)
        if index is None or index in held:
            return compile_at_once(dispatcher, signature)
        held.add(index)
        try:
            with (folder / sha256(index.encode()).hexdigest()).open("w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                return compile_at_once(dispatcher, signature)
        finally:
            held.remove(index)

    if fcntl is None:
        yield
    else:
        folder.mkdir(exist_ok=True)
        with patch.object(Dispatcher, "compile", compile_when_free):
            yield
