# Questions by hand, to every server that a client could have been told of. Prints one line per question.
import socket, struct, sys

SERVERS = ['192.0.2.53', '127.0.0.53', '::1', '2001:db8::1', '198.51.100.1', '127.0.0.11']
TYPES = {'A': 1, 'NS': 2, 'CNAME': 5, 'SOA': 6, 'PTR': 12, 'MX': 15, 'TXT': 16, 'AAAA': 28, 'SRV': 33, 'SVCB': 64,
         'HTTPS': 65, 'ANY': 255}
CODES = {0: 'NOERROR', 1: 'FORMERR', 2: 'SERVFAIL', 3: 'NXDOMAIN', 4: 'NOTIMP', 5: 'REFUSED'}

def question(name, kind, edns):
    labels = b''.join(bytes([len(label)]) + label.encode() for label in name.split('.'))
    opt = b'\0' + struct.pack('!HHIH', 41, 1232, 0, 0) if edns else b''
    return struct.pack('!6H', 0x1234, 0x0100, 1, 0, 0, int(edns)) + labels + b'\0' + struct.pack('!HH', TYPES[kind], 1) + opt

def exchange(server, message, tcp):
    family = socket.AF_INET6 if ':' in server else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM) as wire:
        wire.settimeout(30)
        wire.connect((server, 53))
        if not tcp:
            wire.send(message)
            return wire.recv(65536)
        wire.sendall(struct.pack('!H', len(message)) + message)
        stream = wire.makefile('rb')
        return stream.read(struct.unpack('!H', stream.read(2))[0])

def skip(message, place):
    while (length := message[place]):
        if length >= 192:
            return place + 2
        place += 1 + length
    return place + 1

def read(message, asked):
    """The code and what comes with it; what is not in the answer section has a plus."""
    assert message[:2] == asked[:2] and message[2] & 0x80, message
    flags, questions, *counts = struct.unpack('!H4H', message[2:12])
    place = 12
    for _ in range(questions):
        place = skip(message, place) + 4
    found = []
    names = {number: name for name, number in TYPES.items()}
    for number in range(sum(counts)):
        place = skip(message, place)
        kind, _, _, length = struct.unpack('!HHIH', message[place:place + 10])
        data = message[place + 10:place + 10 + length]
        place += 10 + length
        if kind == 1:
            found.append(socket.inet_ntoa(data))
        elif kind == 41:
            while data:
                code, size = struct.unpack('!HH', data[:4])
                found.append(f'EDE {struct.unpack("!H", data[4:6])[0]}' if code == 15 else f'option {code}')
                data = data[4 + size:]
        else:
            found.append(('' if number < counts[0] else '+') + names[kind])
    return ' '.join([CODES[flags & 15], *found])

def ask(name, kind, server='192.0.2.53', tcp=False, edns=False):
    asked = question(name, kind, edns)
    return read(exchange(server, asked, tcp), asked)
