# ClientHellos of every shape.


def u16(number):
    return struct.pack(">H", number)


def vector(size, content):
    return len(content).to_bytes(size, "big") + content


def extension(kind, content):
    return u16(kind) + vector(2, content)


def name_entry(name, kind=0):
    return bytes([kind]) + vector(2, name if isinstance(name, bytes) else name.encode())


def sni(*names):
    return extension(0, vector(2, b"".join(name_entry(name) for name in names)))


def alpn(*protocols):
    return extension(16, vector(2, b"".join(vector(1, one) for one in protocols)))


def message(*extensions, session=b"", version=0x0303, suites=(0x1301, 0xC02F)):
    """A handshake message of type ClientHello. The session id carries the nonce where no extension does."""
    rest = b"".join(extensions) + extension(43, b"\x04\x03\x04\x03\x03") + extension(10, b"\x00\x02\x00\x1d")
    rest += extension(13, b"\x00\x06\x04\x03\x08\x04\x04\x01") + extension(51, vector(2, u16(29) + vector(2, b"k" * 32)))
    body = u16(version) + b"r" * 32 + vector(1, session)
    body += vector(2, b"".join(map(u16, suites))) + b"\x01\x00" + vector(2, rest)
    return b"\x01" + vector(3, body)


def record(content, kind=22, version=0x0301):
    return bytes([kind]) + u16(version) + vector(2, content)


def hello(*extensions, **how):
    return record(message(*extensions, **how))


def inside(name, **how):
    """A hello for a name that can't carry the nonce: the session id does."""
    return hello(sni(name), session=me.nonce.encode()[:32], **how)


def at_nonce(data):
    """Cut so that a segment begins with the nonce: then the witness's tap knows the segment by it."""
    where = data.find(me.nonce.encode())
    return data[:where], data[where:]


def in_records(data, size):
    return [record(data[at : at + size]) for at in range(0, len(data), size)]


def tls(address, port, name, path="/", alpns=None):
    """A whole handshake by OpenSSL, and a request in it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if alpns:
        context.set_alpn_protocols(alpns)
    try:
        with context.wrap_socket(connect(address, port), server_hostname=name) as stream:
            stream.settimeout(me.wait)
            stream.sendall(f"GET {path}?nonce={me.nonce} HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
            return heard(stream)
    except ssl.SSLError as error:
        return f"ssl {error.reason}"


def bytewise(data):
    """An octet a segment until the nonce comes."""
    before, rest = at_nonce(data)
    return [bytes([octet]) for octet in before] + [rest]


def ssl2(version):
    """A hello of SSL 2.0, whose challenge is the nonce."""
    challenge = me.nonce.encode()[:32]
    body = b"\x01" + version + u16(3) + u16(0) + u16(len(challenge)) + b"\x01\x00\x80" + challenge
    return u16(0x8000 | len(body)) + body


def half(data):
    """Says half of it, and that this is all."""
    with connect(me.v4, 443) as stream:
        stream.sendall(data[: len(data) // 2])
        stream.shutdown(socket.SHUT_WR)
        return heard(stream)


def drip(data, pause, port=443):
    """Says a little of it, again and again, for as long as it is heard."""
    with connect(me.v4, port) as stream:
        for octet in data:
            stream.sendall(bytes([octet]))
            if select.select([stream], [], [], pause)[0]:
                break
        return heard(stream)


def ech():
    """encrypted_client_hello, outer form (RFC 9849); what is encrypted is nobody's to read."""
    return extension(0xFE0D, b"\0" + u16(1) + u16(1) + b"\x07" + vector(2, b"e" * 32) + vector(2, me.nonce.encode()))
