# Hand-made packets and frames, and sockets of unusual kinds.

SO_BINDTODEVICE, SO_MARK, SO_PRIORITY = 25, 36, 12
IP_HDRINCL, IP_OPTIONS, IP_FREEBIND, IP_TRANSPARENT, IP_UNICAST_IF = 3, 4, 15, 19, 50
IPV6_RECVERR = 25
IPPROTO_MPTCP, UDPLITE, SCTP, DCCP = 262, 136, 132, 33
MSG_FASTOPEN, TCP_FASTOPEN_CONNECT, TCP_FASTOPEN_NO_COOKIE = 0x20000000, 30, 34
PACKET_QDISC_BYPASS, SOL_PACKET, UDP_SEGMENT, SOL_UDP = 20, 263, 103, 17
LO = 1


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip(payload, protocol, to=None, source="10.200.0.1", fragment=0, options=b""):
    length = 20 + len(options)
    ends = socket.inet_aton(source) + socket.inet_aton(to or me.v4)
    head = struct.pack(">BBHHHBBH", 0x40 | length // 4, 0, length + len(payload), 77, fragment, 64, protocol, 0) + ends
    head += options
    return head[:10] + u16(checksum(head)) + head[12:] + payload


def ip6(payload, protocol, to=None, source="fd00:5a::1"):
    ends = socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(socket.AF_INET6, to or me.v6)
    return struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64) + ends + payload


def segment(flags, payload, to=None, source="10.200.0.1", port=443):
    """A TCP segment with its sum, for IPv4."""
    head = struct.pack(">HHIIBBHHH", 40123, port, 1, 1, 0x50, flags, 1024, 0, 0) + payload
    ends = socket.inet_aton(source) + socket.inet_aton(to or me.v4)
    total = checksum(ends + struct.pack(">BBH", 0, 6, len(head)) + head)
    return head[:16] + u16(total) + head[18:]


def datagram(payload, port=443):
    """A UDP datagram; a sum of zero is none."""
    return struct.pack(">HHHH", 40123, port, 8 + len(payload), 0) + payload


def raw(protocol, packet, *options, to=None, family=socket.AF_INET, whole=False):
    with sock(family, socket.SOCK_RAW, protocol, *options) as made:
        if whole:
            made.setsockopt(socket.IPPROTO_IP, IP_HDRINCL, 1)
        made.sendto(packet, (to or (me.v6 if family == socket.AF_INET6 else me.v4), 0))
        return "sent"


def frame(ethertype, content, *options, kind=socket.SOCK_DGRAM):
    """Past all rules: a frame given to the device itself."""
    with sock(socket.AF_PACKET, kind, 0, *options) as made:
        made.sendto(content, ("lo", ethertype))
        return "sent"


def echo(kind, v6=False):
    """An echo request whose payload is the nonce."""
    family, protocol, request = (socket.AF_INET6, 58, 128) if v6 else (socket.AF_INET, 1, 8)
    body = struct.pack(">BBHHH", request, 0, 0, 77, 1) + me.nonce.encode()
    if not v6:
        body = body[:2] + u16(checksum(body)) + body[4:]
    with sock(family, kind, protocol) as made:
        if v6:  # else an unconnected socket is not told of refusals
            made.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVERR, 1)
        made.sendto(body, (me.v6 if v6 else me.v4, 0))
        return "reached" if me.nonce.encode() in made.recv(4096) else "answer"


def stream_of(protocol, kind=socket.SOCK_STREAM, port=9):
    """A connection of another transport protocol."""
    with sock(socket.AF_INET, kind, protocol) as made:
        made.connect((me.v4, port))
        made.send(me.nonce.encode())
        return "sent"


def fast_open(address, payload, *options, by="sendto", port=443):
    """Data in the SYN."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with sock(family, socket.SOCK_STREAM, 0, (socket.IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, 1), *options) as made:
        if by == "sendto":
            made.sendto(payload, MSG_FASTOPEN, (address, port))
        else:
            made.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
            made.connect((address, port))
            made.send(payload)
        return heard(made)


def any_family(family, kind=socket.SOCK_DGRAM, protocol=0):
    sock(family, kind, protocol).close()
    return "opened"


def syscall(number, *arguments):
    if libc.syscall(number, *map(ctypes.c_long, arguments)) < 0:
        raise OSError(ctypes.get_errno(), "syscall")
    return "done"


def several(*outcomes):
    return " ".join(outcomes)


def tried(code):
    try:
        return str(eval(code, globals() | {"N": me.nonce.encode()}))
    except OSError as error:
        return error_name(error)


def quic():
    """The beginning of an Initial packet (RFC 9000 section 17.2.2), whose connection id is the nonce."""
    return b"\xc3\0\0\0\x01" + vector(1, me.nonce.encode()[:20]) + b"\0\0" + u16(0x4000 | 1150) + me.nonce.encode() + bytes(1150)


def udp_lite(address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with sock(family, socket.SOCK_DGRAM, UDPLITE) as made:
        made.sendto(me.nonce.encode(), (address, 4444))
        return "sent"


def udp_from(source, to):
    with sock(socket.AF_INET, socket.SOCK_DGRAM, 0, (socket.IPPROTO_IP, IP_FREEBIND, 1)) as made:
        made.bind((source, 0))
        made.sendto(me.nonce.encode(), (to, 4444))
        return "sent"


def after_dns(address):
    """A socket that has had an answer from port 53, and so has an entry in connection tracking, sends to another."""
    with sock(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.sendto(ask(GOOD), (address, 53))
        made.recv(4096)
        made.sendto(me.nonce.encode(), (address, 4444))
        return "sent"


def banner(address, port):
    """Hears the server's banner, and answers it."""
    with connect(address, port) as stream:
        first = heard(stream)
        if first.startswith("reached"):
            return say(stream, me.nonce.encode())
        return first


def marked(address):
    with sock(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.connect((address, 4444))
        made.sendmsg([me.nonce.encode()], [(socket.SOL_SOCKET, SO_MARK, struct.pack("I", 114514))])
        return "sent"


def bound_to(source, to):
    """TLS for another name, from an address that is not the task's usual one."""
    with sock(socket.AF_INET, socket.SOCK_STREAM, 0, (socket.IPPROTO_IP, IP_FREEBIND, 1)) as made:
        made.bind((source, 0))
        made.connect((to, 443))
        return say(made, hello(sni(f"{me.nonce}.leak.test")))


def urgent(address):
    with connect(address, 443) as made:
        made.send(b"\0" + me.nonce.encode(), socket.MSG_OOB)
        return heard(made)


def again_from_same_port(address):
    """The same four numbers again, while connection tracking still knows the connection before."""
    with sock(socket.AF_INET, socket.SOCK_STREAM, 0, (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)) as first:
        first.connect((address, 443))
        port = first.getsockname()[1]
        first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with sock(socket.AF_INET, socket.SOCK_STREAM, 0, (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)) as second:
        second.bind(("0.0.0.0", port))
        second.connect((address, 443))
        return say(second, hello(sni(f"{me.nonce}.leak.test")))


def join(group):
    with sock(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, struct.pack("4s4si", socket.inet_aton(group), bytes(4), LO))
        made.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, struct.pack("4s4si", bytes(4), bytes(4), LO))
        made.sendto(me.nonce.encode(), (group, 4444))
        return "sent"


def udp6_from(source, to):
    with sock(socket.AF_INET6, socket.SOCK_DGRAM) as made:
        made.bind((source, 0))
        made.sendto(me.nonce.encode(), (to, 4444))
        return "sent"


def with_options(to, option):
    """IPV6_DSTOPTS in front of a datagram: padding, eight octets."""
    with sock(socket.AF_INET6, socket.SOCK_DGRAM) as made:
        made.setsockopt(socket.IPPROTO_IPV6, option, b"\0\0\x01\x04\0\0\0\0")
        made.sendto(me.nonce.encode(), (to, 4444))
        return "sent"
