"""Workers on other machines, by dask."""

from netbandit.util.extras import of_extra

with of_extra("cluster"):
    from dask import config
    from distributed import Client, KilledWorker, as_completed, get_worker
    from distributed.utils import CancelledError

__all__ = ["CancelledError", "Client", "KilledWorker", "as_completed", "config", "get_worker"]
