# Many connections with traffic on all of them, half to a host that will be forbidden. Commands come by standard input:
# `open` makes the forbidden half anew, `mark` says that a switch has returned, `end` finishes and checks what is left.
import os, select, socket, sys, zlib

KEPT, CUT, FLOWS = 'api.anthropic.com', 'registry.npmjs.org', int(sys.argv[1])
poll = select.epoll()
flows, marked, leaks, resets, others = {}, False, 0, 0, 0

class Flow:
    def __init__(self, address, kept):
        self.kept, self.sent, self.received, self.greeted = kept, 0, 0, False
        self.out = self.back = 0
        self.wire = socket.create_connection(address, timeout=120)
        self.wire.setblocking(False)
        flows[self.wire.fileno()] = self
        poll.register(self.wire, select.EPOLLIN)
        self.write()
    def write(self):
        # One message is under way at a time. The first octet says whether a switch has come before it.
        message = (b'B' if marked and not self.kept else b'A') + os.urandom(8).hex().encode() + b'\n'
        if self.wire.send(message) != len(message):
            raise RuntimeError('no room for a few octets')
        self.sent += len(message)
        self.out = zlib.crc32(message, self.out)
    def read(self):
        global leaks
        octets = self.wire.recv(4096)
        if not octets:
            raise ConnectionError('the end')
        if not self.greeted:
            # The server's own line comes first.
            greeting, found, octets = octets.partition(b'\n')
            self.greeted = bool(found)
        if not self.kept:
            leaks += octets.count(b'B')
        self.received += len(octets)
        self.back = zlib.crc32(octets, self.back)
        if self.received == self.sent:
            self.write()
    def drop(self):
        poll.unregister(self.wire)
        del flows[self.wire.fileno()]
        self.wire.close()

def turn(patience):
    global resets, others
    told = False
    for descriptor, event in poll.poll(patience):
        if descriptor == 0:
            told = True
            continue
        flow = flows.get(descriptor)
        if flow is None:
            continue
        try:
            flow.read()
        except (ConnectionResetError, BrokenPipeError):
            resets += not flow.kept
            others += flow.kept
            flow.drop()
        except ConnectionError:
            others += 1
            flow.drop()
    return told

addresses = {name: (socket.gethostbyname(name), 9000) for name in (KEPT, CUT)}
for _ in range(FLOWS // 2):
    Flow(addresses[KEPT], True)
poll.register(0, select.EPOLLIN)
print('ready', flush=True)
while True:
    while not turn(-1):
        pass
    order = os.read(0, 100).decode().strip()
    if order == 'open':
        marked, leaks, others = False, 0, 0
        # On a machine that has no time, a dial may fail.
        while (missing := FLOWS - len(flows)) > 0:
            for _ in range(missing):
                Flow(addresses[CUT], False)
            while any(not flow.greeted for flow in flows.values()):
                turn(-1)
        resets = 0
        print('open', flush=True)
    elif order == 'mark':
        marked = True
        # Whoever is forbidden writes on, and hears of its end.
        for flow in [flow for flow in flows.values() if not flow.kept]:
            try:
                flow.write()
            except OSError:
                pass
        while any(not flow.kept for flow in flows.values()):
            turn(-1)
        print(f'resets {resets} leaks {leaks} others {others}', flush=True)
    elif order == 'end':
        break
equal = 0
for flow in list(flows.values()):
    flow.wire.setblocking(True)
    while flow.received < flow.sent:
        octets = flow.wire.recv(4096)
        if not octets:
            break
        if not flow.greeted:
            _, found, octets = octets.partition(b'\n')
            flow.greeted = bool(found)
        flow.received += len(octets)
        flow.back = zlib.crc32(octets, flow.back)
    equal += flow.sent == flow.received and flow.out == flow.back
print(f'kept {len(flows)} equal {equal}', flush=True)
