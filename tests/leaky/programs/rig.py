"""A task and its sidecar in one network namespace, the lab behind it, the canary in the task.

Runs inside a lab (`closedbook lab exec`); reads a job from standard input and writes what came of it, JSON both.

    canary      the words of the canary's command; the first is a path
    open        true: no rules and no proxy, the same probes with nothing in their way
    rules       knobs of rules.py; "on_death": "flush" takes them away when the proxy is killed
    proxy       knobs of proxy.py, or null for none
    stages      [phase, level, moment] each; those of one phase and moment run side by side
    capabilities  of the container's root
    allow       the lists of the phases
    targets     what is aimed at, without the authority to trust
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
            sock.sendto(nonce.encode(), ("203.0.113.200", 443))
        for _ in range(40):
            self.ask("settle")
            if any(one["nonce"] == nonce for one in self.ask("arrivals")):
                return True
            time.sleep(0.05)
        return False

    def record(self):
        alive = self.alive()
        return {"arrivals": self.ask("arrivals"), "lost": self.ask("lost"), "alive": alive}


class Task:
    """The task's network: one end of a wire whose other end is in the lab."""

    def __init__(self):
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "600"])
        self.path = f"/proc/{self.holder.pid}/ns/net"
        mine = os.readlink("/proc/self/ns/net")
        while os.readlink(self.path) == mine:
            time.sleep(0.002)
        run("ip", "link", "add", "world", "type", "veth", "peer", "name", "eth0", "netns", str(self.holder.pid))
        run("ip", "-batch", "-", text="""
link set world addrgenmode none
addr add 10.77.0.1/24 dev world
addr add fd77::1/64 dev world nodad
addr add fe80::1/64 dev world nodad
link set world up
route add 10.77.0.2/32 dev world table local
route add fd77::2/128 dev world table local
route add fe80::/64 dev world table local
""")
        run(*self.inside, "ip", "-batch", "-", text="""
link set lo up
link set eth0 addrgenmode none
addr add 10.77.0.2/24 dev eth0
addr add fd77::2/64 dev eth0 nodad
addr add fe80::2/64 dev eth0 nodad
link set eth0 up
route add default via 10.77.0.1
route add default via fd77::1
""")

    @property
    def inside(self):
        return ["nsenter", f"--net={self.path}"]


class Proxy:
    def __init__(self, task, config):
        words = [*task.inside, PYTHON, f"{HERE}/proxy.py", json.dumps(config)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.hear("ready")

    def hear(self, word):
        said = self.process.stdout.readline().strip()
        if said != word:
            raise SystemExit(f"the proxy said {said!r} for {word!r}")

    def switch(self, phase):
        self.process.stdin.write(f"{phase}\n")
        self.process.stdin.flush()
        self.hear("done")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Worker:
    """A canary at work, in the container."""

    def __init__(self, task, job, targets, phase, level, moment, harness):
        self.stage = {"phase": phase, "level": level, "moment": moment, "surroundings": None, "outcomes": []}
        capabilities = ",".join(DOCKER + job.get("capabilities", []))
        canary, *arguments = job["canary"]
        words = [*task.inside, "unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child",
                 PYTHON, f"{HERE}/cell.py", level, capabilities, canary, *arguments]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.say({"phase": phase, "level": level, "moment": moment, "targets": targets, "harness": harness,
                  "only": job.get("only", []), "keep": None})
        self.waits = threading.Event()
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()

    def say(self, what):
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()

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


def main():
    job = json.load(sys.stdin)
    began = time.monotonic()
    lab, task = Lab(), Task()
    for fault in job.get("faults", []):
        lab.ask(f"fault {fault}")
    is_open, proxy = job.get("open", False), None
    first = job["stages"][0][0] if job["stages"][0][2] != "switch" else "setup"
    if not is_open:
        own, opened, passed = rules.marks(job["rules"])
        if job["proxy"] is not None:
            config = {"allow": job["allow"], "phase": first, "mark": own, "resolver": "192.0.2.53", **job["proxy"]}
            proxy = Proxy(task, config)
        if not job["rules"].get("none"):
            run(*task.inside, "nft", "-f", "-", text=rules.text(job["rules"], own, opened, passed))
    targets = {**job["targets"], "trust": job.get("trust") or open(os.environ["SSL_CERT_FILE"]).read()}
    lab.ask("reset")
    stages, phase, times = [], first, {}
    groups = []
    for stage in job["stages"]:
        if not groups or groups[-1][0][0] != stage[0] or groups[-1][0][2] != stage[2]:
            groups.append([])
        groups[-1].append(stage)
    for group in groups:
        start = time.monotonic()
        moment = group[0][2]
        if moment != "switch" and group[0][0] != phase:
            phase = group[0][0]
            if proxy:
                proxy.switch(phase)
        harness = {"switches": moment == "switch", "kills": moment == "crash"}
        workers = [Worker(task, job, targets, *stage, harness) for stage in group]
        if moment in ("switch", "crash"):
            for worker in workers:
                worker.waits.wait()
            if moment == "switch":
                phase = group[0][0]
                if proxy:
                    proxy.switch(phase)
            else:
                if proxy:
                    proxy.kill()
                if job["rules"].get("on_death") == "flush":
                    run(*task.inside, "nft", "flush", "ruleset")
            for worker in workers:
                # One that had nothing to wait for has gone.
                try:
                    worker.say("switched" if moment == "switch" else "killed")
                except BrokenPipeError:
                    pass
        stages.extend(worker.end() for worker in workers)
        times[moment] = round(time.monotonic() - start, 1)
    record = lab.record()
    times["all"] = round(time.monotonic() - began, 1)
    json.dump({"stages": stages, "record": record, "times": times}, sys.stdout)
    if proxy:
        proxy.process.kill()
    task.holder.kill()


main()
