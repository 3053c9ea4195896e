"""A task and its sidecar in one network namespace, the lab behind it, the canary in the task.

Runs inside a lab (`closedbook lab exec`); reads a job from standard input and writes what came of it, JSON both.

    run         a name that no other run has
    canary      the words of the canary's command; the first is a path
    open        true: no rules and no proxy, the same probes with nothing in their way
    rules       knobs of rules.py; "on_death": "flush" takes them away when the proxy is killed
    proxy       knobs of proxy.py, or null for none
    faults      of the lab's hosts: "HOST KIND" each
    dead, dies  addresses of the lab where nobody is, from the start or at the end
    missing     programs that the container lacks
    trust       the authority to trust, if it is not the lab's
    stages      [phase, level, moment] each; those of one phase and moment run side by side
    capabilities  of the container's root
    allow       the lists of the phases
    targets     what is aimed at
    only        beginnings of probe ids; none for all
"""
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import rules

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"
LAB = os.path.dirname(os.environ["SSL_CERT_FILE"])
DOCKER = ["chown", "dac_override", "fsetid", "fowner", "mknod", "setgid", "setuid", "setfcap", "setpcap",
          "net_bind_service", "sys_chroot", "kill", "audit_write"]


def run(*words, text=None):
    done = subprocess.run(words, input=text, text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr.strip()}")


class Lab:
    """The lab's control socket."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(f"{LAB}/control")
        self.lines = self.socket.makefile("r")

    def ask(self, line):
        self.socket.sendall(f"{line}\n".encode())
        said = json.loads(self.lines.readline())
        if isinstance(said, dict) and "error" in said:
            raise SystemExit(f"{line}: {said['error']}")
        return said

    def alive(self):
        """Whether something that is sent to the witness now is written down."""
        nonce = "N0NCE-" + random.randbytes(8).hex()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            try:
                sock.sendto(nonce.encode(), ("203.0.113.200", 443))
            except OSError:
                return False
        for _ in range(40):
            self.ask("settle")
            if any(one["nonce"] == nonce for one in self.ask("arrivals")):
                return True
            time.sleep(0.05)
        return False

    def record(self):
        alive = self.alive()
        return {"arrivals": self.ask("arrivals"), "lost": self.ask("lost"), "alive": alive}


class Space:
    """A network namespace."""

    def __init__(self):
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "600"])
        self.path = f"/proc/{self.holder.pid}/ns/net"
        mine = os.readlink("/proc/self/ns/net")
        while os.readlink(self.path) == mine:
            time.sleep(0.002)
        run(*self.inside, "ip", "link", "set", "lo", "up")

    @property
    def inside(self):
        return ["nsenter", f"--net={self.path}"]

    def ip(self, lines):
        run(*self.inside, "ip", "-batch", "-", text=lines)

    def join_world(self):
        """A wire into the lab, which is where all its packets go."""
        run("ip", "link", "add", "world", "type", "veth", "peer", "name", "eth0", "netns", str(self.holder.pid))
        # Every address is the lab's own there, so the way back has to stand beside those, in the same table.
        run("ip", "-batch", "-", text="""
link set world addrgenmode none
addr add 10.77.0.1/24 dev world
addr add fd77::1/64 dev world nodad
addr add fe80::1/64 dev world nodad
link set world up
route add 10.77.0.0/24 dev world table local
route add fd77::/64 dev world table local
route add fe80::/64 dev world table local
""")
        self.ip("""
link set eth0 addrgenmode none
addr add 10.77.0.2/24 brd + dev eth0
addr add fd77::2/64 dev eth0 nodad
addr add fe80::2/64 dev eth0 nodad
link set eth0 up
route add default via 10.77.0.1
route add default via fd77::1
""")
        return self


class Program:
    """A program in the task's network, which says when it is ready."""

    def __init__(self, task, *words):
        words = [*task.inside, PYTHON, *words]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        start_new_session=True)
        self.hear("ready")

    def hear(self, word):
        said = self.process.stdout.readline().strip()
        if said != word:
            raise SystemExit(f"{self.process.args} said {said!r} for {word!r}")


class Proxy(Program):
    def __init__(self, task, config):
        super().__init__(task, f"{HERE}/proxy.py", json.dumps(config))

    def switch(self, phase):
        self.process.stdin.write(f"{phase}\n")
        self.process.stdin.flush()
        self.hear("done")

    def kill(self):
        # All of it: its session is its own.
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Worker:
    """A canary at work, in the container."""

    def __init__(self, task, job, targets, phase, level, moment, harness):
        self.stage = {"phase": phase, "level": level, "moment": moment, "run": job["run"], "surroundings": None,
                      "outcomes": []}
        capabilities = ",".join(DOCKER + job.get("capabilities", []))
        canary, *arguments = job["canary"]
        words = [*task.inside, "unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child",
                 PYTHON, f"{HERE}/cell.py", level, capabilities, ",".join(job.get("missing", [])), canary, *arguments]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.say({"phase": phase, "level": level, "moment": moment, "targets": targets, "harness": harness,
                  "only": job.get("only", []), "keep": None})
        self.waits = threading.Event()
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()

    def say(self, what):
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()

    def tell(self, event):
        try:
            self.say(event)
        except BrokenPipeError:
            # It had nothing to wait for, and has gone.
            pass

    def listen(self):
        for line in self.process.stdout:
            said = json.loads(line)
            if said == "waiting":
                self.waits.set()
            elif "begun" in said:
                self.stage["surroundings"] = said["begun"]["surroundings"]
            else:
                self.stage["outcomes"].append(said["over"])
        self.waits.set()

    def end(self):
        self.thread.join()
        if self.process.wait() or self.stage["surroundings"] is None:
            raise SystemExit(f"the canary ended with {self.process.returncode}")
        return self.stage


class Sidecar:
    """The rules and the proxy, or what a hole has in their place."""

    def __init__(self, task, job, phase):
        self.task, self.rules, self.proxy = task, job["rules"], None
        marks = rules.marks(self.rules)
        self.text = rules.text(self.rules, *marks)
        self.first = rules.text({**self.rules, "open": self.rules.get("setup", []) + self.rules.get("open", [])}, *marks)
        if job["proxy"] is not None:
            config = {"allow": job["allow"], "phase": phase, "mark": marks[0], "resolver": "192.0.2.53"}
            self.proxy = Proxy(task, {**config, **job["proxy"]})
        if not self.rules.get("none"):
            self.load(self.first if phase == "setup" else self.text)

    def load(self, text):
        run(*self.task.inside, "nft", "-f", "-", text=text)

    def switch(self, phase):
        if self.rules.get("setup"):
            # At once, as nft does what stands in one file.
            self.load(rules.gone(self.first) + self.text)
        if self.proxy:
            self.proxy.switch(phase)

    def kill(self):
        if self.proxy:
            self.proxy.kill()
        if self.rules.get("on_death") == "flush":
            self.load(rules.gone(self.text))


def dead(addresses):
    """Nobody is there any more."""
    for address in addresses:
        run("ip", "route", "replace", "unreachable", address, "table", "local")


def grouped(stages):
    """Those of one moment run side by side."""
    groups = []
    for stage in stages:
        if not groups or groups[-1][0][2] != stage[2]:
            groups.append([])
        groups[-1].append(stage)
    return groups


def together(group, task, job, targets, sidecar):
    """Runs the workers of one moment, and does to the sidecar what belongs to it."""
    moment = group[0][2]
    harness = {"switches": moment == "switch", "kills": moment == "crash"}
    workers = [Worker(task, job, targets, *stage, harness) for stage in group]
    if moment != "phase":
        for worker in workers:
            worker.waits.wait()
        if sidecar:
            sidecar.switch(group[0][0]) if moment == "switch" else sidecar.kill()
        for worker in workers:
            worker.tell("switched" if moment == "switch" else "killed")
    return [worker.end() for worker in workers]


def main():
    job = json.load(sys.stdin)
    began = time.monotonic()
    lab, task = Lab(), Space().join_world()
    # Without its rules where nothing is to be in the way: to follow connections is to put fragments together.
    Program(task, f"{HERE}/engine.py", f"/proc/{os.getpid()}/ns/net", "" if job.get("open") else "rules")
    for fault in job.get("faults", []):
        lab.ask(f"fault {fault}")
    dead(job.get("dead", []))
    groups = grouped(job["stages"])
    # What crosses a switch begins before it.
    first = "setup" if groups[0][0][2] == "switch" else groups[0][0][0]
    sidecar = None if job.get("open") else Sidecar(task, job, first)
    targets = {**job["targets"], "trust": job.get("trust") or open(os.environ["SSL_CERT_FILE"]).read()}
    lab.ask("reset")
    stages, times = [], {}
    for group in groups:
        start = time.monotonic()
        stages += together(group, task, job, targets, sidecar)
        times[group[0][2]] = round(time.monotonic() - start, 1)
    dead(job.get("dies", []))
    record = lab.record()
    times["all"] = round(time.monotonic() - began, 1)
    aims = {stage["phase"]: {**targets, "trust": None} for stage in stages}
    json.dump({"stages": stages, "aims": aims, "record": record, "times": times}, sys.stdout)
    # Everything else here ends with the lab.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
