"""Files in a bucket, such as `s3://evals/run-7/3.json`, by fsspec: the extra `bucket`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from runevals.records.errors import CannotWrite, ExternalError, InvalidSettings

PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "az": "adlfs", "abfs": "adlfs"}  # of fsspec, for each kind of address
MOST_FILES = 1000
MAX_BYTES = 256 * 1024 * 1024  # of one file
_DOCUMENTS = (".json", ".json.gz")


def is_in_bucket(name: str) -> bool:
    """Whether this is the address of a file, or of a folder, in a bucket."""
    protocol, separator, _ = name.partition("://")
    return bool(separator) and protocol.lower() in PACKAGES


def require_bucket(address: str) -> None:
    """Raises InvalidSettings if the packages that reach it are missing."""
    _file_system(address)


def copy_to_bucket(file: Path, address: str) -> None:
    """Raises CannotWrite, InvalidSettings."""
    system, place = _file_system(address)
    with _refusals(CannotWrite, f"cannot copy {file} to {address}"):
        system.put_file(str(file), place)


def copy_from_bucket(address: str, folder: Path) -> dict[str, Path]:
    """Copies a file, or all documents (.json, .json.gz) below an address, into a folder of ours.

    Returns the copy of each address. Raises ExternalError, InvalidSettings.
    """
    system, place = _file_system(address)
    with _refusals(ExternalError, f"cannot read {address}"):
        sizes: dict[str, int] = {name: info["size"] for name, info in system.find(place, detail=True).items()}
        names = [name for name in sorted(sizes) if name.endswith(_DOCUMENTS)]
        if not names:
            raise ExternalError("there is no results document (.json)")
        too_large = [name for name in names if sizes[name] > MAX_BYTES]
        if too_large:
            raise ExternalError(f"{too_large[0]} is larger than {MAX_BYTES // 1024 // 1024} MiB")
        if len(names) > MOST_FILES:
            raise ExternalError(f"there are {len(names)} documents, and {MOST_FILES} are the most")
        return {
            system.unstrip_protocol(name): _copied(system, name, folder / str(number))
            for number, name in enumerate(names, 1)
        }


def _copied(system: Any, name: str, folder: Path) -> Path:
    folder.mkdir(parents=True)
    file = folder / PurePosixPath(name).name
    system.get_file(name, str(file))
    return file


def _file_system(address: str) -> tuple[Any, str]:
    """What reaches it, and the address as that reads it."""
    protocol, separator, path = address.partition("://")
    package, place = PACKAGES[protocol.lower()], f"{protocol.lower()}{separator}{path}"
    try:
        import fsspec

        return fsspec.core.url_to_fs(place)[0], place
    except ImportError:
        raise InvalidSettings(f"{address} needs: pip install 'runevals[bucket]' {package}") from None
    except Exception as error:  # noqa: BLE001
        raise InvalidSettings(f"{address}: {error}") from None


@contextmanager
def _refusals(kind: type[ExternalError], what: str) -> Iterator[None]:
    """An error of the bucket's package as one of ours; each package has its own classes."""
    try:
        yield
    except Exception as error:  # noqa: BLE001
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise kind(f"{what}: {reason[0]}") from None
