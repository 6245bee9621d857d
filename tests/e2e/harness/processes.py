"""Child processes that leave nothing behind, however a test run ends.

Every run has a folder of its own, held by a file lock that the operating system
drops when the run dies, so that two runs side by side never touch each other and a
crashed one is cleared away by the next. A process is ended by its recorded id only
if it is still the process that was recorded: ids are used again.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(tempfile.gettempdir()) / f"driftgate-e2e-{os.getuid()}"
STOP_TIMEOUT_S = 10.0
KEEP_LOGS_S = 24 * 3600.0


class NotReadyError(Exception):
    """A program ended or gave no sign of readiness in time; the message holds its last lines."""


class Run:
    """The folder, the lock and the processes of one test run."""

    def __init__(self) -> None:
        ROOT.mkdir(mode=0o700, exist_ok=True)
        with _locked(ROOT / "lock"):
            _sweep()
            self.folder = Path(tempfile.mkdtemp(prefix="run-", dir=ROOT))
            self._lock = (self.folder / "lock").open("w")
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.logs = self.folder / "logs"
        self.logs.mkdir()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, command: Sequence[object], env: Mapping[str, str] | None = None) -> None:
        """Start a program; its output goes to `logs/<name>.log`."""
        with (self.logs / f"{name}.log").open("ab") as log:
            # A session of its own: Ctrl-C reaches the test run, which then stops things in order.
            process = subprocess.Popen(
                [str(part) for part in command],
                env=os.environ | dict(env or {}),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._processes[name] = process
        (self.folder / f"{name}.pid").write_text(f"{process.pid} {_born(process.pid)}")

    def wait_until(self, name: str, is_ready: Callable[[], bool], timeout_s: float) -> None:
        """Return once `is_ready`; raises NotReadyError if the program ends first or takes too long."""
        deadline = time.monotonic() + timeout_s
        while not is_ready():
            if not self.is_running(name):
                raise NotReadyError(f"{name} ended: {self.tail(name)}")
            if time.monotonic() > deadline:
                raise NotReadyError(f"{name} not ready after {timeout_s:.0f} s: {self.tail(name)}")
            time.sleep(0.1)

    def is_running(self, name: str) -> bool:
        return name in self._processes and self._processes[name].poll() is None

    def pid(self, name: str) -> int:
        return self._processes[name].pid

    def tail(self, name: str, lines: int = 15) -> str:
        return "\n".join((self.logs / f"{name}.log").read_text(errors="replace").splitlines()[-lines:])

    def stop(self, name: str) -> None:
        """End the program, politely first; nothing if it runs no more."""
        process = self._processes.pop(name, None)
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        (self.folder / f"{name}.pid").unlink(missing_ok=True)

    def close(self, *, keep_logs: bool = False) -> None:
        """Stop everything, the latest first, and remove the folder, or all of it but the logs."""
        for name in reversed(list(self._processes)):
            self.stop(name)
        if keep_logs:
            _remove_all_but_logs(self.folder)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.close()


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nothing listens on; distinct, for all are held at once."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _sweep() -> None:
    """End and remove what crashed runs left, and the kept logs of long ago."""
    for folder in ROOT.glob("run-*"):
        if not (folder / "lock").exists():
            if time.time() - folder.stat().st_mtime > KEEP_LOGS_S:
                shutil.rmtree(folder, ignore_errors=True)
        elif _is_abandoned(folder):
            for record in folder.glob("*.pid"):
                _kill_recorded(record.read_text())
            shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    with (folder / "lock").open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _kill_recorded(record: str) -> None:
    pid, _, born = record.partition(" ")
    if born and _born(int(pid)) == born:
        # Not SIGTERM: a kube-apiserver whose etcd is gone does not end on it.
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def _born(pid: int) -> str:
    """What tells a process from a later one of the same id; empty if there is none."""
    stat = Path(f"/proc/{pid}/stat")
    if stat.exists():
        return stat.read_text().rpartition(")")[2].split()[19]
    ps = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return ps.stdout.strip()


def _remove_all_but_logs(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and path.name != "logs":
            shutil.rmtree(path, ignore_errors=True)
        elif path.is_file():
            path.unlink()
