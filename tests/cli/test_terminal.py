"""What a person sees on a terminal of 80 columns: colours, no broken columns, progress, a question."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading

import pytest

from tests.cli.desk import COMMAND, ROLL, SHUT, new_cluster

pytestmark = pytest.mark.slow
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A command on a terminal of its own; `answers` is what the person types."""

    def __init__(self, desk, *arguments, columns=80, answers=""):
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.seen = b""
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *arguments],
            cwd=desk.home,
            env={**desk.env, "TERM": "xterm-256color"},
            stdin=follower,
            stdout=follower,
            stderr=follower,
        )
        os.close(follower)
        reader = threading.Thread(target=self._read, args=(leader,))
        reader.start()
        os.write(leader, answers.encode())
        self.code = process.wait()
        reader.join()
        os.close(leader)
        self.text = CONTROL.sub("", self.seen.decode()).replace("\r\n", "\n")

    def _read(self, leader):
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:
                return
            if not part:
                return
            self.seen += part


def test_a_report_fits_80_columns_in_colour(new_desk):
    shown = Terminal(new_desk(new_cluster()), "report")

    lines = shown.text.splitlines()
    header = next(index for index, line in enumerate(lines) if line.startswith("POOL"))
    assert b"\x1b[1;31mTRAPPED" in shown.seen
    assert lines[header].split() == [
        "POOL",
        "VERDICT",
        "LAGGING",
        "DRIFTED",
        "NODES",
        "DAYS",
        "BEHIND",
        "NEXT",
        "WINDOW",
    ]
    assert lines[header + 1].split() == ["app", "TRAPPED", "3", "3", "3", "4", "-"]
    assert lines[header + 2] == "  No maintenance window is open, and none is to come."
    assert all(len(line) <= 80 for line in lines[header:])


def test_a_wide_terminal_has_the_reason_in_its_column(new_desk):
    shown = Terminal(new_desk(new_cluster()), "report", columns=160)

    lines = [line for line in shown.text.splitlines() if "TRAPPED" in line]
    assert lines[0].endswith("No maintenance window is open, and none is to come.")


def test_a_report_of_two_thousand_nodes_shows_progress(new_desk):
    desk = new_desk(new_cluster(nodes=2000))

    shown = Terminal(desk, "report")

    assert shown.code == 1
    assert "Reading nodeclaims: " in shown.text
    assert re.search(r"^app +TRAPPED +2000 +2000 +2000 ", shown.text, re.MULTILINE)
    assert len(desk.sim.serve().server.requests) < 60


@pytest.mark.parametrize(("answer", "code", "rolled"), [("n\n", 1, []), ("y\n", 0, ["a0"])])
def test_roll_asks_first_and_does_as_it_is_told(new_desk, answer, code, rolled):
    desk = new_desk(new_cluster())

    shown = Terminal(desk, *[word for word in ROLL if word != "--yes"], "--until", "sign", answers=answer)

    assert "3 of 3 nodes of app are drifted. Next in line: a0." in shown.text
    assert "Open the gate of app in sim for one node? [y/N]:" in shown.text
    assert shown.code == code
    assert desk.sim.witness.nodes() == rolled
    assert desk.budgets == SHUT
