"""The answers to questions: names that are permitted have an address, nothing else exists. Nobody else is asked."""
import struct

from knobs import permitted

NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED = range(6)


def question(octets):
    """Name, type, class, and where the question ends; None if it is none."""
    if len(octets) < 17:
        return None
    at, labels = 12, []
    while at < len(octets) and octets[at]:
        length = octets[at]
        if length > 63 or at + 1 + length >= len(octets):
            return None
        labels.append(octets[at + 1:at + 1 + length])
        at += 1 + length
    if at + 5 > len(octets):
        return None
    kind, klass = struct.unpack("!HH", octets[at + 1:at + 5])
    return b".".join(labels), kind, klass, at + 5


def reply(octets, code, records=b"", count=0, end=12):
    identity, flags = octets[:2], struct.unpack("!H", octets[2:4])[0]
    flags = 0x8080 | (flags & 0x7900) | code
    asked = 1 if end > 12 else 0
    # A client that speaks EDNS is answered in it (RFC 6891 section 6.1.1).
    extended = asked and octets[10:12] == b"\0\1"
    tail = b"\0" + struct.pack("!HHIH", 41, 1232, 0, 0) if extended else b""
    return identity + struct.pack("!HHHHH", flags, asked, count, 0, bool(tail)) + octets[12:end] + records + tail


def answer(octets, allow, config):
    """The answer to one question, or None for what is no question."""
    if len(octets) < 12 or octets[2] & 0x80:
        return None
    if octets[2] & 0x78:
        return reply(octets, NOTIMP)
    asked = question(octets)
    if octets[4:6] != b"\0\1" or octets[6:10] != b"\0" * 4 or asked is None:
        return reply(octets, FORMERR)
    name, kind, klass, end = asked
    if klass != 1:
        return reply(octets, REFUSED, end=end)
    entry = permitted(name, allow, config.get("zone", "exact"))
    if entry is None:
        return reply(octets, NXDOMAIN, end=end)
    if kind != 1:
        return reply(octets, NOERROR, end=end)
    return reply(octets, NOERROR, *records([f"198.18.0.{1 + sorted(allow).index(entry)}"]), end)


def records(found):
    """A records of these addresses, and how many they are."""
    packed = [bytes(int(part) for part in address.split(".")) for address in found]
    return b"".join(b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 5, 4) + address for address in packed), len(packed)


def ask(name, identity):
    """A question for the address of a name."""
    labels = b"".join(bytes([len(label)]) + label for label in name.encode().split(b"."))
    return struct.pack("!HHHHHH", identity, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", 1, 1)


def addresses(octets):
    """IPv4 addresses of an answer."""
    asked = question(octets)
    found, at = [], asked[3] if asked else len(octets)
    for _ in range(struct.unpack("!H", octets[6:8])[0]):
        while at < len(octets) and octets[at] and octets[at] < 192:
            at += 1 + octets[at]
        at += 2 if at < len(octets) and octets[at] else 1
        kind, _, _, length = struct.unpack("!HHIH", octets[at:at + 10])
        if kind == 1:
            found.append(".".join(str(octet) for octet in octets[at + 10:at + 14]))
        at += 10 + length
    return found
