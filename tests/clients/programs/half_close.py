# One side has said all it had to say, and the other goes on.

# The client ends its side behind the request.
talk = Talk().say(head('/drip/40/5'))
talk.wire.shutdown(socket.SHUT_WR)
status, _, body = talk.answer()
print('plain, client first:', status, len(body), talk.over())

# Inside TLS by close_notify, after which the server still answers: the lab echoes what is not HTTP.
def in_tls(close_tcp):
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname=HOST)
    raw = socket.create_connection((HOST, 443), timeout=60)
    def drive(step):
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                if outgoing.pending:
                    raw.sendall(outgoing.read())
                news = raw.recv(65536)
                incoming.write(news) if news else incoming.write_eof()
    drive(tls.do_handshake)
    tls.write(b'no HTTP ' * 20_000)
    try:
        tls.unwrap()
    except ssl.SSLWantReadError:
        pass
    raw.sendall(outgoing.read())
    if close_tcp:
        raw.shutdown(socket.SHUT_WR)
    heard = b''
    try:
        while (piece := drive(lambda: tls.read(65536))):
            heard += piece
    except ssl.SSLError as error:
        # The echo ends without a close_notify of its own.
        heard += b'' if 'EOF' in str(error) else repr(error).encode()
    return heard.count(b'no HTTP ')

print('tls, client first:', in_tls(close_tcp=True))

# The server ends its side behind the answer, and reads on.
talk = Talk(tls=True).say(head('/half-close'))
status, _, body = talk.answer()
print('tls, server first:', status, body, talk.over())
talk.say(b'x' * 300_000)
talk.wire.shutdown(socket.SHUT_WR)
