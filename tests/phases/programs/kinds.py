# One connection of every kind to each of two hosts, in the middle of something; what becomes of each is said when asked.
import base64, os, socket, ssl, struct, sys

KEPT, CUT = 'api.anthropic.com', 'registry.npmjs.org'
context = ssl.create_default_context()

def connect(name, port):
    raw = socket.create_connection((name, port), timeout=60)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return raw

def request(name, path, more=''):
    return f'GET {path} HTTP/1.1\r\nHost: {name}\r\n{more}\r\n'.encode()

def answer(wire):
    head = b''
    while not head.endswith(b'\r\n\r\n'):
        octet = wire.recv(1)
        if not octet:
            raise ConnectionError('the end')
        head += octet
    fields = dict(line.split(': ', 1) for line in head.decode().lower().split('\r\n')[1:] if line)
    body, length = b'', int(fields.get('content-length', 0))
    while len(body) < length:
        piece = wire.recv(length - len(body))
        if not piece:
            raise ConnectionError('the end')
        body += piece
    status = head.split()[1].decode()
    if status == '403':
        raise PermissionError('refused')
    return status

class Tls:
    """Inside TLS, between two requests."""
    def __init__(self, name):
        self.name, self.wire = name, context.wrap_socket(connect(name, 443), server_hostname=name)
        self.use('before')
    def use(self, when):
        self.wire.sendall(request(self.name, f'/{when}-tls'))
        return answer(self.wire)

class Kept:
    """Plain HTTP, between two requests."""
    def __init__(self, name):
        self.name, self.wire = name, connect(name, 80)
        self.use('before')
    def use(self, when):
        self.wire.sendall(request(self.name, f'/{when}-kept'))
        return answer(self.wire)

class Body:
    """Plain HTTP, in the middle of a body."""
    def __init__(self, name):
        self.wire = connect(name, 80)
        self.wire.sendall(f'PUT /upload HTTP/1.1\r\nHost: {name}\r\nContent-Length: 20\r\n\r\n0123456789'.encode())
    def use(self, when):
        self.wire.sendall(b'after-body')
        return answer(self.wire)

class Head:
    """Plain HTTP, in the middle of a head."""
    def __init__(self, name):
        self.wire = connect(name, 80)
        self.rest = request(name, '/after-head')
        self.wire.sendall(self.rest[:10])
    def use(self, when):
        self.wire.sendall(self.rest[10:])
        return answer(self.wire)

class Hello:
    """TLS, in the middle of the hello."""
    def __init__(self, name):
        self.name, self.raw = name, connect(name, 443)
        self.incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.wire = context.wrap_bio(self.incoming, outgoing, server_hostname=name)
        self.outgoing = outgoing
        try:
            self.wire.do_handshake()
        except ssl.SSLWantReadError:
            pass
        self.hello = outgoing.read()
        self.raw.sendall(self.hello[:50])
    def use(self, when):
        self.raw.sendall(self.hello[50:])
        while True:
            try:
                self.wire.do_handshake()
                break
            except ssl.SSLWantReadError:
                self.raw.sendall(self.outgoing.read())
                piece = self.raw.recv(65536)
                if not piece:
                    raise ConnectionError('the end')
                self.incoming.write(piece)
        self.raw.sendall(self.outgoing.read())
        return self.wire.version()

class WebSocket:
    """A WebSocket in the clear."""
    def __init__(self, name):
        self.wire = connect(name, 80)
        key = base64.b64encode(os.urandom(16)).decode()
        self.wire.sendall(request(name, '/ws', f'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n'))
        assert answer(self.wire) == '101'
        self.use('before')
    def use(self, when):
        payload = f'{when}-websocket'.encode()
        self.wire.sendall(bytes([0x81, 0x80 | len(payload)]) + bytes(4) + payload)
        back = b''
        while len(back) < 2 + len(payload):
            piece = self.wire.recv(2 + len(payload) - len(back))
            if not piece:
                raise ConnectionError('the end')
            back += piece
        return back[2:].decode()

class Raw:
    """A connection of a tcp:// entry."""
    def __init__(self, name):
        self.wire = connect(name, 9000)
        self.use('before')
    def use(self, when):
        payload = f'{when}-raw\n'.encode()
        self.wire.sendall(payload)
        back = b''
        while payload not in back:
            piece = self.wire.recv(1000)
            if not piece:
                raise ConnectionError('the end')
            back += piece
        return 'echoed'

class Dns:
    """DNS over TCP, in the middle of a question."""
    def __init__(self, name):
        self.wire = connect('192.0.2.53', 53)
        labels = b''.join(bytes([len(label)]) + label.encode() for label in name.split('.'))
        message = b'\x12\x34\x01\x00\x00\x01' + bytes(6) + labels + b'\x00\x00\x01\x00\x01'
        self.message = struct.pack('!H', len(message)) + message
        self.wire.sendall(self.message[:9])
    def use(self, when):
        self.wire.sendall(self.message[9:])
        reply = self.wire.recv(2000)
        return {0: 'answered', 3: 'no such name'}[reply[5] & 15]

class Remembered:
    """The address of a tcp:// entry that a client has kept."""
    def __init__(self, name):
        self.address = (socket.gethostbyname(name), 9000)
    def use(self, when):
        wire = socket.create_connection(self.address, timeout=60)
        wire.sendall(b'after-remembered\n')
        return 'echoed' if wire.recv(100) else 'the end'

KINDS = [Tls, Kept, Body, Head, Hello, WebSocket, Raw, Dns, Remembered]
held = [(name, kind.__name__, kind(name)) for name in (KEPT, CUT) for kind in KINDS]
print('ready', flush=True)
sys.stdin.readline()
for name, kind, talk in held:
    try:
        # A reset is there as soon as the switch has returned, before anybody asks for it.
        wire = getattr(talk, 'raw', None) or getattr(talk, 'wire', None)
        if wire and (error := wire.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)):
            raise OSError(error, os.strerror(error))
        said = talk.use('after')
    except ConnectionResetError:
        said = 'reset'
    except ssl.SSLError as error:
        said = error.reason or repr(error)
    except OSError as error:
        said = str(error)
    print('kept' if name == KEPT else 'cut', kind, said, flush=True)
