"""A sound transparent proxy, small and slow, with knobs that make it leak in one way each.

    proxy.py CONFIG     (JSON; what may stand in it is read where it is used)

Says "ready" when it listens. Orders come on standard input, a phase each, and are answered with "done"."""
import asyncio
import ipaddress
import json
import os
import random
import re
import resource
import selectors
import socket
import struct
import sys
import threading

import head
import hello
import zone
from knobs import DEADLINE, LARGEST, Incomplete, Refused, Strange, permitted

CONFIG = json.loads(sys.argv[1])
ALERT = b"\x15\x03\x03\x00\x02\x02\x31"
PORT, DNS_PORT = 12345, 15053
NO_PLACE = [ipaddress.ip_network(net) for net in (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
    "198.18.0.0/15", "224.0.0.0/3")]

allow = set(CONFIG["allow"][CONFIG["phase"]])
flows = {}


class Flow:
    """One connection of the task, and the one that was made for it."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.buffer, self.upstream, self.name = b"", None, None
        self.address, self.port = original(writer.get_extra_info("socket"))

    async def fill(self):
        more = await self.reader.read(65536)
        self.buffer += more
        return bool(more)

    def reset(self):
        for writer in filter(None, (self.writer, self.upstream)):
            abort(writer)

    async def refuse(self, answer=b""):
        """Says so, and leaves the client time to read it: a reset would take the words from it."""
        if not answer:
            return self.reset()
        self.writer.write(answer)
        self.writer.write_eof()
        try:
            async with asyncio.timeout(1):
                while await self.reader.read(65536):
                    pass
        except TimeoutError:
            pass
        self.writer.close()


def abort(writer):
    sock = writer.get_extra_info("socket")
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    writer.transport.abort()


def original(sock):
    """Where the client was going before it was sent here."""
    if sock.family == socket.AF_INET:
        found = sock.getsockopt(socket.SOL_IP, 80, 16)
        return ipaddress.ip_address(found[4:8]), int.from_bytes(found[2:4], "big")
    found = sock.getsockopt(socket.IPPROTO_IPV6, 80, 28)
    return ipaddress.ip_address(found[8:24]), int.from_bytes(found[2:4], "big")


async def serve(reader, writer):
    try:
        flow = Flow(reader, writer)
    except OSError:
        return abort(writer)
    flows[id(flow)] = flow
    try:
        await decide(flow)
    except (OSError, asyncio.IncompleteReadError, Refused, Strange, Incomplete):
        flow.reset()
    finally:
        flows.pop(id(flow), None)
        for one in filter(None, (flow.writer, flow.upstream)):
            one.close()


async def decide(flow):
    ports = CONFIG.get("ports", [80, 443])
    if flow.address.is_loopback or ports != "any" and flow.port not in ports:
        return flow.reset()
    late = asyncio.get_running_loop().time() + CONFIG.get("deadline", DEADLINE)
    try:
        async with asyncio.timeout_at(late):
            name, ech = await server_name(flow)
    except Incomplete:
        return flow.reset()
    except TimeoutError:
        return await raw(flow) if "late" in CONFIG else flow.reset()
    except Refused as why:
        if "large" in CONFIG and "large" in str(why):
            return await raw(flow)
        return await flow.refuse(ALERT if flow.buffer[:1] == b"\x16" else b"")
    except Strange:
        return await not_tls(flow, late)
    if name is None and "nameless" in CONFIG:
        return await raw(flow)
    entry = None if name is None else permitted(name, allow, CONFIG.get("match", "exact"))
    if entry is None or ech and CONFIG.get("ech") == "refuse":
        return await flow.refuse(ALERT)
    flow.name = entry
    await dial(flow, name.decode("latin-1"))
    await pipe(flow)


async def server_name(flow):
    """The one name of the hello, or None for none."""
    while True:
        try:
            found, ech = hello.names(flow.buffer, CONFIG)
            break
        except Incomplete:
            if not await flow.fill():
                raise
    rule = CONFIG.get("names", "one")
    if rule == "one" and len(found) > 1:
        raise Refused("several names")
    if not found:
        return None, ech
    return found[-1 if rule == "last" else 0], ech


async def not_tls(flow, late):
    try:
        async with asyncio.timeout_at(late):
            while True:
                try:
                    head.looks_like_http(flow.buffer)
                    break
                except Incomplete:
                    if not await flow.fill():
                        raise
    except (Strange, TimeoutError):
        return await raw(flow) if "unknown" in CONFIG else flow.reset()
    if flow.buffer.startswith(b"PRI ") and "h2c" in CONFIG:
        return await raw(flow)
    first = True
    while True:
        try:
            if not await exchange(flow, late if first else None):
                return
        except Refused as why:
            return await flow.refuse(page(403 if str(why) == "name" else 400, why))
        first = False


def page(code, why):
    text = f"{code} {why}\n".encode()
    return b"HTTP/1.1 %d Refused\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (code, len(text)) + text


async def exchange(flow, late):
    """One request and its answer; False if there will be no other on this connection."""
    request = await read_head(flow, late)
    if request is None:
        return False
    if request.method == "CONNECT" and "connect" in CONFIG:
        return await connect(flow, request)
    target = re.match(rb"http://([^/]+)(/.*)", request.target)
    if target and "absolute" in CONFIG:
        request.start = request.start.replace(request.target, target[2])
        request.target = target[2]
    upgrade = "upgrade" in CONFIG and request.all(b"upgrade")
    if upgrade and request.method in head.METHODS:
        pass
    else:
        head.may_pass(request)
    length = head.framing(request, CONFIG)
    name = head.host(request, flow.port, {**CONFIG, "hosts": CONFIG.get("hosts") and "first"})
    entry = permitted(name, allow, CONFIG.get("match", "exact"))
    if entry is None:
        raise Refused("name")
    if CONFIG.get("hosts") == "last":
        # Looked at one, and goes by the other.
        name = head.host(request, flow.port, CONFIG)
    if target and "absolute" in CONFIG:
        name = target[1].partition(b":")[0]
    flow.name = entry
    flow.buffer = request.rest
    reader = await dial(flow, name.decode("latin-1"))
    upstream = flow.upstream
    if "first" in CONFIG or upgrade:
        upstream.write(request.octets())
        flow.served = reader
        await pipe(flow)
        return False
    drop = {b"connection", b"host", b"keep-alive", b"proxy-connection"}
    more = [b"Host: " + (name if "hosts" in CONFIG else entry.encode())]
    # A server that reads on finds what was smuggled behind the body.
    more += [] if "framing" in CONFIG else [b"Connection: close"]
    upstream.write(request.octets(*more, without=drop))
    upload = asyncio.create_task(copy_body(length, lambda count: take(flow, count), upstream))
    try:
        kept = await answer(flow, reader, request.method)
        await asyncio.wait_for(upload, 5)
    except (TimeoutError, ValueError):
        kept = False
    finally:
        upload.cancel()
        upstream.close()
        flow.upstream = None
    closes = any(b"close" in value.lower() for value in request.all(b"connection"))
    return kept and not closes


async def read_head(flow, late):
    """The head of the next request; None where the client has ended."""
    async with asyncio.timeout_at(late):
        while True:
            try:
                return head.request(flow.buffer, CONFIG)
            except Incomplete:
                if not await flow.fill():
                    return None


async def take(flow, count):
    """Exactly so many octets of the client; a line for None."""
    while (b"\n" not in flow.buffer) if count is None else len(flow.buffer) < count:
        if count is None and len(flow.buffer) > 64 or not await flow.fill():
            raise Refused("body")
    at = flow.buffer.index(b"\n") + 1 if count is None else count
    taken, flow.buffer = flow.buffer[:at], flow.buffer[at:]
    return taken


async def copy_body(length, source, writer):
    """Copies a body with its framing, which must be without any ornament."""
    while length not in (None, 0):
        if length == "chunked":
            line = await source(None)
            if not re.match(rb"[0-9A-Fa-f]{1,8}\r\n\Z", line):
                raise Refused("chunk")
            size = int(line, 16)
            part = await source(size + 2)
            if part[size:] != b"\r\n":
                raise Refused("chunk")
            writer.write(line + part)
            if not size:
                break
        else:
            part = await source(min(length, 65536))
            writer.write(part)
            length -= len(part)
        await writer.drain()


async def answer(flow, reader, method):
    """Copies the answer, interim ones included; False if its end is the connection's."""
    rest = b""

    async def source(count):
        """So many octets of the server; a line for None."""
        nonlocal rest
        while (b"\n" not in rest) if count is None else len(rest) < count:
            more = await reader.read(65536)
            if not more:
                raise Refused("body")
            rest += more
        at = rest.index(b"\n") + 1 if count is None else count
        taken, rest = rest[:at], rest[at:]
        return taken

    code = 100
    while code < 200:
        while b"\r\n\r\n" not in rest:
            more = await reader.read(65536)
            if not more or len(rest) > 65536:
                return False
            rest += more
        got = head.split(rest, loose=True)
        rest = got.rest
        code = int(got.start.split(b" ")[1])
        lengths, codings = got.all(b"content-length"), got.all(b"transfer-encoding")
        bare = method == "HEAD" or code in (204, 304) or code < 200
        kept = bare or bool(lengths or codings)
        flow.writer.write(got.octets(*([] if kept else [b"Connection: close"]), without={b"connection"}))
    if bare:
        return True
    if kept:
        await copy_body("chunked" if codings else int(lengths[0]), source, flow.writer)
        return True
    while rest:
        flow.writer.write(rest)
        await flow.writer.drain()
        rest = await reader.read(65536)
    return False


async def connect(flow, request):
    name, _, port = request.target.partition(b":")
    flow.name, flow.port, flow.buffer = "", int(port or b"443"), request.rest
    await dial(flow, name.decode("latin-1"), foreign=True)
    flow.writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    await pipe(flow)
    return False


def exempt(sock):
    if CONFIG.get("mark"):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, CONFIG["mark"])
    sock.setblocking(False)
    return sock


async def resolve(name):
    """Our own question, made anew, to our own resolver."""
    identity = random.randrange(65536)
    for _ in range(3):
        said = await forwarded(zone.ask(name, identity), 1)
        if said and said[:2] == identity.to_bytes(2, "big"):
            return zone.addresses(said)
    raise Refused("no answer")


async def dial(flow, name, foreign=False):
    """Connects to the name, wherever the client wanted to go."""
    if CONFIG.get("dial") == "original":
        return await dial_address(flow, str(flow.address))
    bare = name.rstrip(".").lower()
    found = []
    if re.match(r"[a-z0-9.-]+\Z", bare):
        found = await resolve(bare)
    found = [one for one in found if not any(ipaddress.ip_address(one) in net for net in NO_PLACE)]
    if not found and "fall_back" in CONFIG:
        found = [str(flow.address)]
    if not found:
        raise Refused("no address")
    reader = await dial_address(flow, found[0])
    # The phase may have changed meanwhile.
    if not foreign and flow.name not in allow and "slow_switch" not in CONFIG and "keeps" not in CONFIG:
        raise Refused("phase")
    return reader


async def dial_address(flow, address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = exempt(socket.socket(family, socket.SOCK_STREAM))
    async with asyncio.timeout(5):
        await asyncio.get_running_loop().sock_connect(sock, (address, flow.port))
        reader, flow.upstream = await asyncio.open_connection(sock=sock)
    flow.served = reader
    return reader


async def raw(flow):
    """On to the original destination, whatever it is: the fall-back that this test is about."""
    flow.name = ""
    await dial_address(flow, str(flow.address))
    await pipe(flow)


async def pipe(flow):
    flow.upstream.write(flow.buffer)

    async def way(reader, writer):
        while more := await reader.read(65536):
            writer.write(more)
            await writer.drain()
        writer.write_eof()

    ways = [asyncio.create_task(way(flow.reader, flow.upstream)), asyncio.create_task(way(flow.served, flow.writer))]
    done, others = await asyncio.wait(ways, return_when=asyncio.FIRST_EXCEPTION)
    for one in others:
        one.cancel()
    for one in done:
        if one.exception():
            raise one.exception()


def answer_questions(sockets, orders):
    """Those that come by UDP, in a process of its own: a crowd of connections must not keep them waiting."""
    waiting = selectors.DefaultSelector()
    for sock in (*sockets, orders):
        waiting.register(sock, selectors.EVENT_READ)

    def reply(sock, octets, peer):
        if said := asyncio.run(zone_answer(octets)):
            sock.sendto(said, peer)

    while True:
        for key, _ in waiting.select():
            if key.fileobj is not orders:
                octets, peer = key.fileobj.recvfrom(4096)
                if is_foreign(octets):
                    threading.Thread(target=reply, args=(key.fileobj, octets, peer), daemon=True).start()
                elif said := zone.answer(octets, allow, CONFIG):
                    key.fileobj.sendto(said, peer)
                continue
            phase = orders.recv(100).decode()
            if not phase:
                os._exit(0)
            if "slow_switch" in CONFIG:
                threading.Timer(CONFIG["slow_switch"], take_list, [phase]).start()
            else:
                take_list(phase)
            orders.send(b"done")


def take_list(phase):
    new = set(CONFIG["allow"][phase])
    allow.clear()
    allow.update(new)


def is_foreign(octets):
    """Whether this hole has the question answered by somebody else."""
    asked = zone.question(octets)
    if not asked or asked[1] not in CONFIG.get("recursion", {}).get("types", []):
        return False
    return bool(permitted(asked[0], allow, "exact") or CONFIG["recursion"].get("all"))


async def zone_answer(octets):
    if not is_foreign(octets):
        return zone.answer(octets, allow, CONFIG)
    if "anew" not in CONFIG["recursion"]:
        return await forwarded(octets)
    # The real addresses, by a question of our own: nothing of the client's goes any further.
    name, _, _, end = zone.question(octets)
    try:
        return zone.reply(octets, zone.NOERROR, *zone.records(await resolve(name.decode("latin-1"))), end)
    except Refused:
        return zone.reply(octets, zone.SERVFAIL, end=end)


async def forwarded(octets, within=3):
    """These octets to the resolver, and its answer back."""
    loop = asyncio.get_running_loop()
    with exempt(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as sock:
        sock.connect((CONFIG["resolver"], 53))
        await loop.sock_sendall(sock, octets)
        try:
            async with asyncio.timeout(within):
                return await loop.sock_recv(sock, 4096)
        except TimeoutError:
            return None


async def questions_by_tcp(reader, writer):
    try:
        while True:
            length = int.from_bytes(await asyncio.wait_for(reader.readexactly(2), 1), "big")
            said = await zone_answer(await asyncio.wait_for(reader.readexactly(length), 1))
            if said is None:
                break
            writer.write(len(said).to_bytes(2, "big") + said)
    except (OSError, asyncio.IncompleteReadError, TimeoutError):
        pass
    writer.close()


async def control(reader, writer):
    """Policy for whoever asks: on a port of loopback, anybody in the namespace."""
    await reader.read(4096)
    text = json.dumps({"allow": sorted(allow)}).encode()
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(text) + text)
    await writer.drain()
    writer.close()


async def switch(phase):
    """The new list, and the end of what it does not permit."""
    if "slow_switch" in CONFIG:
        return asyncio.get_running_loop().call_later(CONFIG["slow_switch"], take_list, phase)
    take_list(phase)
    if "keeps" in CONFIG:
        return
    for flow in list(flows.values()):
        if flow.name is not None and flow.name not in allow:
            flow.reset()


def listener(family, kind, port):
    sock = socket.socket(family, kind)
    if kind == socket.SOCK_STREAM:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    everywhere = "everywhere" in CONFIG
    sock.bind((("::" if everywhere else "::1") if family == socket.AF_INET6 else "0.0.0.0" if everywhere else "127.0.0.1", port))
    return sock


async def main(questions):
    loop = asyncio.get_running_loop()
    for family in (socket.AF_INET, socket.AF_INET6):
        await asyncio.start_server(serve, sock=listener(family, socket.SOCK_STREAM, PORT), backlog=1024)
        await asyncio.start_server(questions_by_tcp, sock=listener(family, socket.SOCK_STREAM, DNS_PORT))
    if "control" in CONFIG:
        await asyncio.start_server(control, sock=listener(socket.AF_INET, socket.SOCK_STREAM, CONFIG["control"]))
    if "uid" in CONFIG:
        os.setgroups([])
        os.setgid(CONFIG["uid"])
        os.setuid(CONFIG["uid"])
    print("ready", flush=True)
    orders = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    while line := await orders.readline():
        phase = line.decode().strip()
        questions.send(phase.encode())
        questions.recv(100)
        await switch(phase)
        print("done", flush=True)


def start():
    # A crowd needs descriptors, and whoever comes after it too.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    sockets = [listener(family, socket.SOCK_DGRAM, DNS_PORT) for family in (socket.AF_INET, socket.AF_INET6)]
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        answer_questions(sockets, theirs)
    for sock in (*sockets, theirs):
        sock.close()
    asyncio.run(main(ours))


start()
