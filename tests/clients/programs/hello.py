# TLS by hand: the ClientHello leaves in pieces and records of any size, and the rest of the handshake follows.
def handshake(pieces, protocols=None, pause=False):
    context = ssl.create_default_context()
    if protocols:
        context.set_alpn_protocols(protocols)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname=HOST)
    raw = socket.create_connection((HOST, 443), timeout=60)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    hello = None
    def drive(step):
        nonlocal hello
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                mine = outgoing.read()
                if hello is None:
                    hello = mine
                    for piece in pieces(mine):
                        raw.sendall(piece)
                else:
                    raw.sendall(mine)
                incoming.write(raw.recv(65536))
    drive(tls.do_handshake)
    tls.write(head('/'))
    raw.sendall(outgoing.read())
    answer = b''
    while b'}' not in answer:
        answer += drive(lambda: tls.read(65536))
    return json.loads(answer.split(b'\r\n\r\n', 1)[1])['sni'], len(hello)

def messages(hello):
    """The handshake octets, out of their records."""
    octets = b''
    while hello:
        length, = struct.unpack('!H', hello[3:5])
        octets, hello = octets + hello[5:5 + length], hello[5 + length:]
    return octets

def records(size):
    def split(hello):
        octets = messages(hello)
        parts = (octets[start:start + size] for start in range(0, len(octets), size))
        return [b''.join(b'\x16\x03\x01' + struct.pack('!H', len(part)) + part for part in parts)]
    return split

def segments(size):
    return lambda hello: (hello[start:start + size] for start in range(0, len(hello), size))

def both(size):
    return lambda hello: segments(1)(records(size)(hello)[0])

print('one octet a segment:', handshake(segments(1))[0])
print('one octet a record:', handshake(records(1))[0])
print('seven octets a record:', handshake(records(7))[0])
print('three a record, one a segment:', handshake(both(3))[0])
# As large as with every extension that is in use and two post-quantum key shares, and then some.
many = [f'{turn:03}-{"p" * 240}' for turn in range(70)]
sni, length = handshake(segments(1000), protocols=many + ['http/1.1'])
print('padded:', sni, length > 16384 + 500)
