# As apt speaks: one connection, several requests written before the first answer is read.
import http.client, json, socket

def head(host, path):
    return (f'GET {path} HTTP/1.1\r\nHost: {host}\r\nCache-Control: max-age=0\r\nAccept: text/*\r\n'
            'If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT\r\nRange: bytes=0-\r\n'
            'User-Agent: Debian APT-HTTP/1.3 (2.6.1)\r\n\r\n').encode()

paths = ['/dists/a', '/dists/b', '/dists/c', '/dists/d']
wire = socket.create_connection(('deb.debian.org', 80), timeout=30)
wire.sendall(b''.join(head('deb.debian.org', path) for path in paths))

class Held:
    """http.client closes what it thinks it owns; the connection is ours."""
    def __init__(self):
        self.file = wire.makefile('rb')
    def makefile(self, *_):
        return self
    def __getattr__(self, name):
        return getattr(self.file, name)
    def close(self):
        pass

held = Held()
answered = []
for _ in paths:
    response = http.client.HTTPResponse(held)
    response.begin()
    answered.append(json.loads(response.read())['path'])
print('answered:', answered)

# The mirror moves: same connection, another host (G5).
wire.sendall(head('security.debian.org', '/dists/e'))
response = http.client.HTTPResponse(held)
response.begin()
print('other:', response.status, response.reason)
