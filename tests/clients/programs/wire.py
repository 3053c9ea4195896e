# What the programs beside this one begin with: a connection on which requests are written as they stand.
import hashlib, http.client, io, json, os, socket, ssl, struct, sys, threading

HOST = 'api.anthropic.com'

def head(path, host=HOST, method='GET', version='HTTP/1.1', more=''):
    return f'{method} {path} {version}\r\nHost: {host}\r\n{more}\r\n'.encode()

class Talk:
    def __init__(self, name=HOST, port=None, tls=False):
        raw = socket.create_connection((name, port or (443 if tls else 80)), timeout=60)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.wire = ssl.create_default_context().wrap_socket(raw, server_hostname=name) if tls else raw
        self.file = self.wire.makefile('rb')

    def say(self, octets):
        self.wire.sendall(octets)
        return self

    def answer(self, method='GET'):
        """The next answer: status, header fields, body. Interim answers of status 100 are skipped."""
        # http.client closes what it is given; the connection goes on.
        class Kept(io.BufferedIOBase):
            def makefile(_, *__): return self.kept
            def close(_): pass
            def read(_, *count): return self.file.read(*count)
            def read1(_, *count): return self.file.read1(*count)
            def readinto(_, space): return self.file.readinto(space)
            def readline(_, *count): return self.file.readline(*count)
            def flush(_): pass
        self.kept = Kept()
        response = http.client.HTTPResponse(self.kept, method=method)
        response.begin()
        return response.status, response.headers, response.read()

    def ask(self, path, **named):
        return self.say(head(path, **named)).answer(named.get('method', 'GET'))

    def head_lines(self):
        """The lines of the next head, interim or not, up to the empty one."""
        lines = []
        while (line := self.file.readline().decode().rstrip('\r\n')):
            lines.append(line)
        return lines

    def over(self):
        """Whether the other side has ended, in order or not."""
        try:
            return self.file.read(1) == b''
        except OSError:
            return True
