"""The connection to Ray: a private Ray on this machine, or a running cluster."""

import logging
import os
import re
import secrets
import shutil
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import ray
from ray._private import ray_constants  # no public way to choose the loopback
from ray.util import get_node_ip_address

from preftd._src.arrays import InputError
from preftd._src.experiments.content import installed
from preftd._src.experiments.executors import OF_WORKERS
from preftd._src.files import alive, host
from preftd.failures import FailedError

STARTS = 2
"""The number of attempts to start Ray, which may fail on a busy machine."""
ANSWER = 5.0
"""Seconds in which a cluster must answer."""
STORE = 256 * 2**20
"""Bytes of the object store of a private Ray."""
LOOPBACK = "127.0.0.1"
"""The address of a private Ray, which no other machine can reach."""
PREFIX = "preftd-ray"
"""The prefix of its folders, and of the files in them that name the owner."""
SOCKET = "ray/session_2000-01-01_00-00-00_000000_{process}/sockets/plasma_store"
"""The longest path of a socket in such a folder."""
LONGEST_SOCKET = 103 if sys.platform == "darwin" else 107
"""The longest path of a socket, in bytes."""
HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
"""The start of HTTP/2, which Ray uses: a preface and settings; the server answers with settings."""
QUIET: dict[str, Any] = {
    "log_to_driver": False,
    "logging_level": logging.CRITICAL,
}


def new_folder() -> Path:
    """Make a private temporary folder for Ray, and remove those of killed processes."""
    place = Path(tempfile.gettempdir())
    for folder in place.glob(f"{PREFIX}-*"):
        with suppress(OSError):  # another user's, or another process removes it
            if _is_left(folder):
                _remove(folder)
    made = Path(tempfile.mkdtemp(prefix=f"{PREFIX}-{os.getpid()}-"))
    longest = made / SOCKET.format(process=os.getpid())
    excess = len(os.fsencode(longest)) - LONGEST_SOCKET
    if excess > 0 and os.name == "posix":
        made.rmdir()
        raise InputError(
            f"the path of the temporary folder {place} is {excess} bytes too long for Ray: set "
            "TMPDIR to a shorter one, such as /tmp."
        )
    (made / f".{PREFIX}.{host()}.{os.getpid()}").touch()
    return made


def _is_left(folder: Path) -> bool:
    """Whether a folder belongs to an ended preftd process of this machine."""
    if folder.is_symlink():
        return False
    marker = re.compile(rf"\.{PREFIX}\.{re.escape(host())}\.(\d+)")
    owners = [int(found[1]) for found in map(marker.fullmatch, os.listdir(folder)) if found]
    if not owners or any(map(alive, owners)):
        return False
    return folder.stat().st_uid == os.getuid()


def _remove(folder: Path) -> None:
    """End the remaining processes of a private Ray, and remove its folder."""
    _end_processes(folder)
    shutil.rmtree(folder, ignore_errors=True)


def _end_processes(folder: Path) -> None:
    """End processes that Ray has started, on Linux: those that write into its folder."""
    own, inside = str(os.getpid()), folder.resolve()
    for opened in Path("/proc").glob("[0-9]*/fd/*"):
        process = opened.parts[2]
        with suppress(OSError):  # another user's, or it has ended
            writes = process != own and opened.lstat().st_mode & stat.S_IWUSR
            if writes and Path(os.readlink(opened)).is_relative_to(inside):
                os.kill(int(process), signal.SIGKILL)


@contextmanager
def on_loopback() -> Iterator[None]:
    """Make Ray use the loopback; on Linux it would use a public address.

    Its environment variable is read only at import, and applies to all clusters.
    """
    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


def start(cpus: int, folder: Path) -> None:
    """Start a private Ray, with a temporary folder, and connect to it."""
    # Without it, Ray would write one for all its users into the user's home.
    if not {"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & os.environ.keys():
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    for left in reversed(range(STARTS)):
        try:
            with on_loopback():
                ray.init(
                    address="local",  # a plain init may join a cluster that is dead
                    num_cpus=cpus,
                    num_gpus=0,
                    object_store_memory=STORE,
                    include_dashboard=False,
                    runtime_env={
                        "env_vars": OF_WORKERS | {"PYTHONPATH": os.pathsep.join(sys.path)}
                    },
                    _node_ip_address=LOOPBACK,
                    _temp_dir=str(folder / "ray"),  # Ray lets everyone enter it
                    _system_config={"worker_niceness": 0},  # as processes without Ray
                    **QUIET,
                )
            break
        except Exception as error:  # Ray raises no other for a timeout
            ray.shutdown()
            _end_processes(folder)
            if not left:
                cause = _line(error)
                raise FailedError(f"Ray cannot be started ({cause}): try again.") from None
    if (address := get_node_ip_address()) != LOOPBACK:
        raise FailedError(
            f"Ray listens at {address}, which others may reach, in place of {LOOPBACK}: install "
            "Ray 2.60, or start a cluster of your own and give its address."
        )


def join(address: str) -> None:
    """Connect to a running cluster."""
    _reach(address)
    sent: dict[str, Any] = {"env_vars": OF_WORKERS}
    if modules := _modules():
        sent["py_modules"] = modules
    try:
        ray.init(address=address, runtime_env=sent, **QUIET)
    except Exception as error:  # Ray raises these as well
        raise FailedError(
            f"the Ray cluster at {address} cannot be joined ({_line(error)}): run the command on "
            "a node of the cluster, with the same versions of Python and Ray, and with "
            "RAY_AUTH_MODE=token if the cluster asks for a token."
        ) from None


def stop(folder: Path | None) -> None:
    """Disconnect; end all processes of a private Ray and remove its folder."""
    ray.shutdown(wait_for_processes=folder is not None)
    if folder is not None:
        _remove(folder)


def refuse_second() -> None:
    """Refuse to connect a process twice."""
    if ray.is_initialized():
        raise InputError(
            "this process is connected to Ray already: call ray.shutdown() before, or close the "
            "other executor."
        )


def _reach(address: str) -> None:
    """Refuse an address at which no cluster answers; Ray itself would try for minutes."""
    found = re.fullmatch(r"(?:(\[[0-9a-fA-F:]+\])|([\w.-]+)):(\d{1,5})", address)
    if found is None:
        raise InputError(
            f"address is {address!r}: give host and port of a Ray cluster, such as localhost:6379."
        )
    host, cause = (found[1] or found[2]).strip("[]"), "something else does"
    if host in ("localhost", "127.0.0.1", "::1"):  # Ray does the same
        host = get_node_ip_address()
    place = host, int(found[3])
    try:
        with socket.create_connection(place, ANSWER) as peer:
            peer.sendall(HELLO)
            if peer.recv(9)[3:4] == HELLO[-6:-5]:
                return
    except (OSError, OverflowError) as error:
        cause = getattr(error, "strerror", None) or str(error)
    raise InputError(
        f"no Ray cluster answers at {address} ({cause}): check the address, start a cluster "
        "with ray start --head, or leave the address out."
    )


def _modules() -> list[str]:
    """The files of the user's modules, and the folders of packages, which are sent to the nodes."""
    found = (_place(name, module) for name, module in list(sys.modules.items()) if "." not in name)
    return sorted({str(place) for place in found if place is not None})


def _place(name: str, module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    if name == "__main__" or file is None or installed(name):
        return None
    path = Path(file).resolve()
    if path.name == "__init__.py":
        return path.parent
    return path if path.name == f"{name}.py" else None  # a study's file is sent by value


def _line(error: BaseException) -> str:
    with suppress(IndexError):
        return str(error).strip().splitlines()[0].rstrip(".")
    return type(error).__name__
