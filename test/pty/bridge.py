"""A terminal for a program under test.

    bridge.py COLUMNS ROWS PROGRAM ARG…

Runs the program on a pseudo terminal of its own. Standard input takes orders, one
JSON object a line: {"send": text}, {"resize": [columns, rows]}, {"signal": name},
{"foreground": name of a signal for whatever runs in the foreground}, {"close": true} (the window is closed). Standard output tells what happened, one
JSON object a line, with the milliseconds of the monotonic clock: {"data": base64},
{"pid": n}, {"sent": n} (the n-th send has been written), {"exit": code, "signal": number}.
"""

import base64
import errno
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time


def tell(**what):
    what["ms"] = time.monotonic() * 1000
    try:
        sys.stdout.write(json.dumps(what) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever asked has gone: closing the terminal ends the program.
        os._exit(1)


def set_size(fd, columns, rows):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def main():
    columns, rows = int(sys.argv[1]), int(sys.argv[2])
    pid, terminal = pty.fork()
    if pid == 0:
        set_size(0, columns, rows)
        os.execvp(sys.argv[3], sys.argv[3:])
    set_size(terminal, columns, rows)
    tell(pid=pid)
    before = termios.tcgetattr(terminal)
    orders, pending, sent, closed = sys.stdin.fileno(), b"", 0, False
    watched = [terminal, orders]
    while True:
        ready, _, _ = select.select(watched, [], [], 0.05)
        if terminal in ready:
            try:
                data = os.read(terminal, 65536)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                data = b""
            if data:
                tell(data=base64.b64encode(data).decode())
            else:
                watched.remove(terminal)
        if orders in ready:
            chunk = os.read(orders, 65536)
            if not chunk:
                watched.remove(orders)
            pending += chunk
            *lines, pending = pending.split(b"\n")
            for line in lines:
                order = json.loads(line)
                if "send" in order and not closed:
                    os.write(terminal, order["send"].encode())
                    sent += 1
                    tell(sent=sent)
                if "resize" in order and not closed:
                    set_size(terminal, *order["resize"])
                if "signal" in order:
                    os.kill(pid, getattr(signal, order["signal"]))
                if "foreground" in order and not closed:
                    os.killpg(os.tcgetpgrp(terminal), getattr(signal, order["foreground"]))
                if "close" in order and not closed:
                    closed = True
                    if terminal in watched:
                        watched.remove(terminal)
                    os.close(terminal)
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended and terminal not in watched:
            break
        if ended:
            # What it wrote last is still on its way.
            while select.select([terminal], [], [], 0.2)[0]:
                try:
                    data = os.read(terminal, 65536)
                except OSError:
                    break
                if not data:
                    break
                tell(data=base64.b64encode(data).decode())
            break
    modes = None
    if not closed:
        after = termios.tcgetattr(terminal)
        modes = {"echo": bool(after[3] & termios.ECHO), "canonical": bool(after[3] & termios.ICANON), "same": after == before}
    code = os.waitstatus_to_exitcode(status)
    tell(exit=code if code >= 0 else None, signal=-code if code < 0 else None, modes=modes)


main()
