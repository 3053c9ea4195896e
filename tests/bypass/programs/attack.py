"""Carries out attacks, one job a line on standard input, one answer a line on standard output.

A job names a level and the attacks: name, Python expression, nonce, and the addresses to aim at. An attack's outcome is
the text that its expression gives, or the name of its error. With a process number as argument, this first enters the
user namespace that owns that process's network, with every capability, and then the network.
"""

import ctypes, errno, fcntl, json, os, select, socket, ssl, struct, sys, threading, time

NS_GET_USERNS = 0xB701
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
libc = ctypes.CDLL(None, use_errno=True)


def enter(pid):
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    owner = fcntl.ioctl(network, NS_GET_USERNS)
    for namespace, kind in ((owner, CLONE_NEWUSER), (network, CLONE_NEWNET)):
        if libc.setns(namespace, kind):
            raise OSError(ctypes.get_errno(), "setns")
    keep_over_exec()


def keep_over_exec():
    """Capabilities of a process that is not uid 0 end at execve(2) unless they are ambient."""
    status = open("/proc/self/status").read()
    all_of_them = int(status.split("CapPrm:")[1].split()[0], 16)
    halves = [all_of_them & 0xFFFFFFFF, all_of_them >> 32]
    header = struct.pack("Ii", 0x20080522, 0)
    if libc.capset(header, struct.pack("6I", *(halves[0],) * 3, *(halves[1],) * 3)):
        raise OSError(ctypes.get_errno(), "capset")
    PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 47, 2
    for capability in range(all_of_them.bit_length()):
        if libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")


class Local(threading.local):
    """What one attack knows: the nonce, the addresses, and how long it may wait."""


me = Local()
AGAIN = 0.2


def error_name(error):
    if isinstance(error, TimeoutError) and error.errno is None:
        return "hang"
    if isinstance(error, OSError) and error.errno in errno.errorcode and not isinstance(error, ssl.SSLError):
        return errno.errorcode[error.errno]
    if isinstance(error, socket.gaierror):
        return "no-address"
    return f"{type(error).__name__}: {error}"


def one(job, attack, results):
    me.nonce, me.v4, me.v6, me.wait = attack["nonce"], attack["v4"], attack["v6"], job["wait"]
    names = {"nonce": me.nonce, "N": me.nonce.encode(), "v4": me.v4, "v6": me.v6, "host": f"{me.nonce}.leak.test"}
    began = time.monotonic()
    try:
        outcome = str(eval(attack["code"], globals() | names))
    except BaseException as error:
        outcome = error_name(error)
    results[attack["name"]] = {"outcome": outcome, "ms": round((time.monotonic() - began) * 1000, 1)}


def answer(job):
    results = {}
    if job.get("command"):
        import subprocess

        return {"output": subprocess.run(job["command"], capture_output=True, text=True).__repr__()}
    if not job["together"]:
        for attack in job["attacks"]:
            one(job, attack, results)
        return results
    threads = [threading.Thread(target=one, args=(job, attack, results), daemon=True) for attack in job["attacks"]]
    for start in range(0, len(threads), 24):
        some = threads[start : start + 24]
        [thread.start() for thread in some]
        [thread.join(job["wait"] * 12) for thread in some]
    return results


# What attacks are made of: connections.


def sock(family, kind, protocol=0, *options):
    made = socket.socket(family, kind, protocol)
    made.settimeout(me.wait)
    for option in options:
        made.setsockopt(*option)
    return made


def connect(address, port, *options, protocol=0, scope=0):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = sock(family, socket.SOCK_STREAM, protocol, *options)
    made.connect((address, port, 0, scope) if scope else (address, port))
    try:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        pass
    return made


def say(stream, *parts):
    """Each part is a segment of its own; a part that is a number is a pause."""
    for part in parts:
        if isinstance(part, (int, float)):
            time.sleep(part)
        else:
            stream.sendall(part)
    return heard(stream)


def heard(stream):
    """What the other side answers: an alert, a status, or that it is somebody who should not have been reached."""
    got = b""
    try:
        while len(got) < 65536:
            stream.settimeout(AGAIN if got else me.wait)
            more = stream.recv(65536)
            if not more:
                return told(got)
            got += more
    except TimeoutError:
        return f"{told(got)} open" if got else "hang"
    except OSError as error:
        return told(got) if got else error_name(error)
    return told(got)


def told(got):
    if not got:
        return "eof"
    if got[:1] == b"\x15" and len(got) >= 7:
        return f"alert {got[6]}"
    if got[:5] == b"HTTP/":
        return f"status {got[9:12].decode()}"
    if got[:1] == b"\x16" or b"LAB-" in got or me.nonce.encode() in got:
        return "reached"
    return f"answer {got[:40]!r}"


def tcp(address, port, *parts, **how):
    with connect(address, port, *how.pop("options", ()), **how) as stream:
        return say(stream, *parts)


def udp(address, port, payload, *options, connected=True, listen=True, scope=0, flags=0):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    to = (address, port, 0, scope) if scope else (address, port)
    with sock(family, socket.SOCK_DGRAM, 0, *options) as made:
        if connected:
            made.connect(to)
            made.send(payload, flags)
        else:
            made.sendto(payload, flags, to)
        return heard(made) if listen else "sent"


def tcp_server_first(address, port):
    with connect(address, port) as stream:
        return heard(stream)
