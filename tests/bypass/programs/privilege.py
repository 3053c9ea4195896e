# What a process tries with the privilege it has or can get.

CLONE_NEWNS = 0x20000
MS_BIND, MS_REMOUNT = 4096, 32
TUNSETIFF = 0x400454CA


def checked(result, what):
    if result < 0:
        raise OSError(ctypes.get_errno(), what)
    return "done"


def in_child(what):
    """In a process of its own, since a process with threads can't enter a user namespace."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = str(what())
        except BaseException as error:
            said = error_name(error)
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    said = os.read(read, 4096).decode()
    os.close(read)
    os.waitpid(child, 0)
    return said or "died"


def joined(path, kind):
    return checked(libc.setns(os.open(path, os.O_RDONLY), kind), "setns")


def owner_of_network():
    return checked(libc.setns(fcntl.ioctl(os.open("/proc/self/ns/net", os.O_RDONLY), NS_GET_USERNS), CLONE_NEWUSER), "setns")


def as_new_root(what, kinds=0):
    user, group = os.geteuid(), os.getegid()
    checked(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS | kinds), "unshare")
    for file, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{file}", "w") as it:
            it.write(text)
    return what()


def in_new_network(what):
    def first():
        ran("ip", "link", "set", "lo", "up")
        return what()

    return as_new_root(first, CLONE_NEWNET)


def ran(*words):
    import subprocess

    done = subprocess.run(words, capture_output=True, text=True)
    return "done" if done.returncode == 0 else "failed"


def writable(pattern):
    """Opens what is there for writing, and writes nothing: were a test to fail, it should do no harm."""
    import glob

    found = glob.glob(pattern)
    if not found:
        raise OSError(errno.ENOENT, pattern)
    for path in found:
        try:
            os.close(os.open(path, os.O_WRONLY))
            return f"{path} is writable"
        except OSError as error:
            refused = error
    raise refused


def opened(path):
    os.close(os.open(path, os.O_RDONLY))
    return "opened"


def listed(path):
    return f"{len(os.listdir(path))} entries"


def read_link(path):
    return os.readlink(path)


def mounted(kind, point):
    return checked(libc.mount(kind.encode(), point.encode(), kind.encode(), 0, None), "mount")


def unmounted(point):
    return checked(libc.umount2(point.encode(), 2), "umount")


def remounted(point):
    return checked(libc.mount(None, point.encode(), None, MS_BIND | MS_REMOUNT, None), "mount")


def traced(pid):
    PTRACE_SEIZE = 0x4206
    return checked(libc.ptrace(PTRACE_SEIZE, pid, None, None), "ptrace")


def descriptor_of(pid):
    """pidfd_open(2), pidfd_getfd(2)."""
    pidfd = libc.syscall(434, pid, 0)
    return checked(libc.syscall(438, pidfd, 0, 0), "pidfd_getfd")


def killed(pid):
    """The first process of a pid namespace hears no signal from inside, not even these."""
    for signal in (19, 9, 15):
        try:
            os.kill(pid, signal)
        except PermissionError:
            pass
    return "alive" if open(f"/proc/{pid}/stat").read().split(") ")[1][0] in "SR" else "dead"


def others():
    """Processes that are not the first, this one, or below it."""
    seen = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    strange = [pid for pid in seen if pid not in (1, os.getpid()) and os.getpid() not in ancestors(pid)]
    return "none" if not strange else f"{strange}"


def ancestors(pid):
    while pid > 1:
        yield pid
        pid = int(open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1].split()[1])


def by_handle(path):
    """open_by_handle_at(2) knows no mounts, so it would see what is covered."""
    handle, mount = ctypes.create_string_buffer(struct.pack("II", 128, 0) + bytes(128)), ctypes.c_int()
    checked(libc.name_to_handle_at(-100, path.encode(), handle, ctypes.byref(mount), 0), "name_to_handle_at")
    return checked(libc.open_by_handle_at(os.open("/", os.O_RDONLY), handle, 0), "open_by_handle_at")


def tunnel():
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"x0", 0x1001))
    return "made"


def bound(address, port, kind):
    """Takes a port with every option that allows sharing one."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    options = [(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1), (socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)]
    with sock(family, kind, 0, *options) as made:
        made.bind((address, port))
        if kind == socket.SOCK_STREAM:
            made.listen()
        return "taken"


def itself():
    """A socket that listens in the task, on the proxy's port of another of its addresses."""
    with sock(socket.AF_INET, socket.SOCK_STREAM) as made:
        made.bind(("127.0.0.5", 0))
        port = made.getsockname()[1]
    return tcp("127.0.0.5", port, hello(sni(f"{me.nonce}.leak.test")))


def by_i386(*arguments):
    """int 0x80 from a 64-bit process: another table of system calls, another architecture for a filter."""
    import mmap, platform

    if platform.machine() != "x86_64":
        raise OSError(errno.ENOSYS, "not this machine")
    # push rbx; mov eax, edi; mov ebx, esi; mov esi, edx; mov edx, ecx; mov ecx, esi; int 0x80; pop rbx; ret
    code = bytes.fromhex("53 89f8 89f3 89d6 89ca 89f1 cd80 5b c3")
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    entry = ctypes.addressof(ctypes.c_char.from_buffer(page))
    result = ctypes.CFUNCTYPE(ctypes.c_int, *(ctypes.c_int,) * len(arguments))(entry)(*arguments)
    if result < 0:
        raise OSError(-result, "int 0x80")
    return "done"
