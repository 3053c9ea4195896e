"""The first flight of a TLS client, read strictly (RFC 8446 section 4.1.2, RFC 6066 section 3)."""
from knobs import LARGEST, Incomplete, Refused, Strange


def handshake(octets, largest):
    """The first handshake message of these records, put together; Incomplete until it is whole."""
    message, at = b"", 0
    while True:
        if len(octets) < at + 5:
            raise Incomplete
        kind, major, minor = octets[at], octets[at + 1], octets[at + 2]
        length = int.from_bytes(octets[at + 3:at + 5], "big")
        if kind != 22 or major != 3 or minor not in (1, 2, 3) or not 0 < length <= 16384:
            raise Strange("no handshake record")
        message += octets[at + 5:at + 5 + length]
        at += 5 + length
        if message and message[0] != 1:
            raise Strange("no ClientHello")
        if len(message) >= 4:
            whole = 4 + int.from_bytes(message[1:4], "big")
            if whole > largest:
                raise Refused("too large")
            if len(message) > whole:
                raise Refused("something behind the ClientHello")
            if len(message) == whole and len(octets) >= at:
                return message[4:]
        if len(octets) > 4 * largest:
            raise Refused("too many records")


class Reader:
    def __init__(self, octets):
        self.octets = octets

    def take(self, count):
        if len(self.octets) < count:
            raise Refused("malformed hello")
        taken, self.octets = self.octets[:count], self.octets[count:]
        return taken

    def number(self, width):
        return int.from_bytes(self.take(width), "big")

    def vector(self, width):
        return Reader(self.take(self.number(width)))

    def more(self):
        return bool(self.octets)


def names(octets, config):
    """The server names of a ClientHello, in their order, whether it carries ECH, and its protocols.

    Raises Refused for what is malformed; that a name stands twice is for the caller to judge."""
    body = Reader(handshake(octets, config.get("largest", LARGEST)))
    body.take(2 + 32)
    if len(body.vector(1).octets) > 32:
        raise Refused("malformed hello")
    suites = body.vector(2).octets
    if not suites or len(suites) % 2:
        raise Refused("malformed hello")
    body.vector(1)
    found, seen, ech = [], [], False
    if body.more():
        extensions = body.vector(2)
        if body.more():
            raise Refused("something behind the extensions")
        while extensions.more():
            kind, content = extensions.number(2), extensions.vector(2)
            seen.append(kind)
            ech = ech or kind == 0xFE0D
            if kind == 0:
                entries = content.vector(2)
                if content.more() or not entries.more():
                    raise Refused("malformed server_name")
                while entries.more():
                    if entries.number(1) != 0:
                        raise Refused("a name of another kind")
                    found.append(entries.vector(2).octets)
    if len(seen) != len(set(seen)) and config.get("names", "one") == "one":
        raise Refused("an extension twice")
    return found, ech
