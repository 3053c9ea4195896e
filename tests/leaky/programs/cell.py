"""The inside of a container: its own view of files and processes, and of capabilities what its root would have.

    cell.py LEVEL CAPABILITIES MISSING PROGRAM ARGUMENTS...

Run in the task's network, in a mount namespace of its own, as the first process of a pid namespace."""
import ctypes
import os
import shutil
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
UID = 1000


def mount(source, target, kind=None, flags=0, data=None):
    octets = [None if one is None else one.encode() for one in (source, target, kind, data)]
    if libc.mount(octets[0], octets[1], octets[2], ctypes.c_ulong(flags), octets[3]):
        raise OSError(ctypes.get_errno(), f"mount {source} on {target}")


def bind(source, target):
    os.makedirs(target, exist_ok=True) if os.path.isdir(source) else open(target, "w").close()
    mount(source, target, flags=MS_BIND | MS_REC)


def enter(root):
    """As containers do, and not by chroot: who is in one of those may make no user namespace."""
    number = {"x86_64": 155, "aarch64": 41}[os.uname().machine]
    os.chdir(root)
    if libc.syscall(ctypes.c_long(number), b".", b".") or libc.umount2(b".", 2):
        raise OSError(ctypes.get_errno(), "pivot_root")
    os.chdir("/")


def without_vsock():
    """What Docker's own filter of system calls keeps from its containers: the virtual machine that this may run in has
    sockets to its host, of which no network namespace knows."""
    audit, call = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}[os.uname().machine]
    load, equal, give = 0x20, 0x15, 0x06
    program = [(load, 0, 0, 4), (equal, 0, 5, audit), (load, 0, 0, 0), (equal, 0, 3, call), (load, 0, 0, 16),
               (equal, 0, 1, 40), (give, 0, 0, 0x00050001), (give, 0, 0, 0x7FFF0000)]
    octets = b"".join(struct.pack("HBBI", *statement) for statement in program)
    kept = ctypes.create_string_buffer(octets, len(octets))
    filter = struct.pack("HxxxxxxP", len(program), ctypes.addressof(kept))
    # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
    if libc.prctl(22, ctypes.c_ulong(2), ctypes.create_string_buffer(filter, len(filter)), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def furnish(program, mapped):
    root = "/tmp"
    resolv = open("/etc/resolv.conf").read()
    kept = os.open(program, os.O_PATH)
    mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")
    for name in ("usr",):
        bind("/" + name, f"{root}/{name}")
    for name in ("bin", "sbin", "lib", "lib64"):
        os.symlink("usr/" + name, f"{root}/{name}")
    for name in ("proc", "tmp", "root", "run", "var", "dev", "etc"):
        os.mkdir(f"{root}/{name}")
    os.chmod(f"{root}/tmp", 0o1777)
    for name in ("null", "zero", "urandom", "random"):
        bind("/dev/" + name, f"{root}/dev/{name}")
    for name, target in {"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"}.items():
        os.symlink(f"/proc/self/fd{target}", f"{root}/dev/{name}")
    bind(f"/proc/self/fd/{kept}", f"{root}/canary")
    os.close(kept)
    for name, text in {
        "resolv.conf": resolv,
        "hosts": "127.0.0.1 localhost\n::1 localhost\n",
        "passwd": f"root:x:0:0::/root:/bin/sh\nproxy:x:13:13::/:/bin/false\nagent:x:{UID}:{UID}::/tmp:/bin/sh\n",
        "nsswitch.conf": "hosts: files dns\n",
    }.items():
        with open(f"{root}/etc/{name}", "w") as file:
            file.write(text)
    if os.path.isdir("/etc/ssl"):
        shutil.copytree("/etc/ssl", f"{root}/etc/ssl", symlinks=True, ignore=lambda *_: ["private"])
    mount("proc", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    # As Docker has it: whoever is in a container may ping, and bind any port.
    groups = "0 2147483647" if mapped else "0 0"
    for name, value in {"ping_group_range": groups, "ip_unprivileged_port_start": "0"}.items():
        with open(f"{root}/proc/sys/net/ipv4/{name}", "w") as file:
            file.write(value)
    for name in ("sys", "irq", "bus", "fs"):
        mount(f"{root}/proc/{name}", f"{root}/proc/{name}", flags=MS_BIND | MS_REC)
        mount(None, f"{root}/proc/{name}", flags=MS_BIND | MS_REMOUNT | MS_RDONLY)
    enter(root)


def has_users():
    """Whether there is anybody here but root: a user namespace made by a mere user has one."""
    return any(int(line.split()[0]) <= UID < int(line.split()[0]) + int(line.split()[2])
               for line in open("/proc/self/uid_map"))


def main():
    level, capabilities, missing, program, *arguments = sys.argv[1:]
    mapped = has_users()
    mount(None, "/", flags=MS_REC | MS_PRIVATE)
    furnish(program, mapped)
    for name in filter(None, missing.split(",")):
        mount("/dev/null", f"/usr/bin/{name}", flags=MS_BIND)
    kept = ",".join(["-all"] + [f"+{name}" for name in capabilities.split(",") if name])
    who = [f"--bounding-set={kept}"]
    if level == "agent":
        # Without users, root without capabilities has to do.
        who = [f"--reuid={UID}", f"--regid={UID}", "--clear-groups", *who] if mapped else ["--bounding-set=-all"]
    without_vsock()
    words = ["setpriv", "--inh-caps=-all", *who, "/canary", *arguments]
    os.execve("/usr/bin/setpriv", words, {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp"})


main()
