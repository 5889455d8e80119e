"""Running campaigns on a Dask cluster.

Its workers need the same leobench, and the scenario and the files it names under the same paths.
"""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from leobench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

TIMEOUT = "10 s"
_ADDRESS = re.compile(r"((tcp|tls|wss?)://)?[^/\s]+:\d+")


@contextmanager
def dask(scheduler: str) -> Iterator[Executor]:
    """An executor on the Dask cluster of a scheduler, such as `tcp://10.0.0.1:8786`.

    Raises:
        InputError: If it is not an address, Dask is not installed, or no scheduler answers within 10 s.
    """
    if _ADDRESS.fullmatch(scheduler) is None:
        raise InputError(
            f"--scheduler {scheduler}: is not an address; allowed: a host and a port, such as tcp://10.0.0.1:8786"
        )
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "--executor dask: needs Dask: pip install -e '.[dask]' in leobench's checkout"
        ) from None
    # A lost connection ends the campaign with its own message.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = Client(scheduler, timeout=TIMEOUT, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(
            f"--scheduler {scheduler}: no Dask scheduler answered within {TIMEOUT}: {error}"
        ) from error
    with client, client.get_executor(pure=False) as executor:  # type: ignore[no-untyped-call]
        yield executor
