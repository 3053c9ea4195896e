# RFC 6455 by hand. The argument says over what.
import base64

KEY = base64.b64encode(bytes(range(16))).decode()
ACCEPT = base64.b64encode(hashlib.sha1((KEY + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').encode()).digest()).decode()

def frame(opcode, payload):
    mask = os.urandom(4)
    length = len(payload)
    size = bytes([0x80 | length]) if length < 126 else struct.pack('!BH', 0x80 | 126, length)
    masked = bytes(octet ^ mask[place % 4] for place, octet in enumerate(payload))
    return bytes([0x80 | opcode]) + size + mask + masked

def hear(talk):
    first, length = talk.file.read(2)
    if length == 126:
        length, = struct.unpack('!H', talk.file.read(2))
    return first & 15, talk.file.read(length)

upgrade = f'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n'
talk = Talk(tls=sys.argv[1] == 'tls')
# The first frame in the same segment as the handshake: it must wait for the answer, and not get lost.
talk.say(head('/ws', more=upgrade) + (frame(1, b'at once') if sys.argv[2:] == ['early'] else b''))
lines = talk.head_lines()
print('status:', lines[0])
fields = {name.lower(): value for name, value in (line.split(': ', 1) for line in lines[1:])}
if '101' not in lines[0]:
    print('reason:', fields.get('x-closedbook-reason'))
    sys.exit(3)
print('accept:', fields['sec-websocket-accept'] == ACCEPT)
if sys.argv[2:] == ['early']:
    print('early:', hear(talk))
for payload in (b'hello', b'y' * 60_000):
    opcode, back = hear(talk.say(frame(1 if payload == b'hello' else 2, payload)))
    print('message:', opcode, back == payload)
print('ping:', hear(talk.say(frame(9, b'are you there'))))
print('closing:', hear(talk.say(frame(8, struct.pack('!H', 1000))))[0], talk.over())
