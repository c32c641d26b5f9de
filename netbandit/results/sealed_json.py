"""JSON objects that check themselves: the last entry is a checksum of every byte before it."""

import sys
from collections.abc import Mapping
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

from netbandit.nesting import TooDeepError, read_json
from netbandit.results.portable_json import as_text

_SIGN = ', "checksum": "'
_DIGEST_BYTES = 16
_LARGEST = int(sys.float_info.max)


class SealError(ValueError):
    """The content is not what was written."""


def sealed(entries: Mapping[str, object]) -> str:
    """Return *entries*, at least one, as a line of JSON whose last entry ``checksum`` is that of all before it."""
    body = as_text(entries).removesuffix("}\n")
    return f'{body}{_SIGN}{digest(body.encode())}"}}\n'


def unsealed(content: bytes) -> dict[str, Any]:
    """Return the entries of what `sealed` returned, without the checksum.

    Raises:
        SealError: A byte is not as it was written, or there is no checksum; or it holds what no run leaves.
    """
    body, sign, rest = content.rpartition(_SIGN.encode())
    if not sign or rest != f'{digest(body)}"}}\n'.encode():
        raise SealError("does not match its checksum")
    try:
        entries: dict[str, Any] = read_json(body + b"}", parse_int=integer)
    except TooDeepError as error:
        raise SealError(f"is {error}") from None
    return entries


def integer(text: str) -> int:
    """Return the integer that a number of JSON is.

    Raises:
        SealError: No float holds it, and so no run leaves it.
    """
    value = int(text)
    if not -_LARGEST <= value <= _LARGEST:
        raise SealError(f"holds a number of {len(text)} digits")
    return value


def digest(content: bytes) -> str:
    """Return the checksum of *content*: BLAKE2b of 16 bytes, as hexadecimal digits."""
    return blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


def digest_of(path: Path) -> str:
    """Return the checksum of a file's content, of which only a piece is in memory at a time.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=_DIGEST_BYTES)).hexdigest()
