"""The head of an HTTP/1.1 message, read strictly (RFC 9112), and what may be done with it."""
import re

from knobs import LARGEST, Incomplete, Refused, Strange

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")
TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*\Z")
TARGET = re.compile(rb"/[\x21-\x7e]*\Z")


class Head:
    def __init__(self, start, fields, rest):
        self.start, self.fields, self.rest = start, fields, rest

    def all(self, name):
        return [value for field, value in self.fields if field.lower() == name]

    def octets(self, *more, without=()):
        lines = [self.start] + [name + b": " + value for name, value in self.fields if name.lower() not in without]
        return b"\r\n".join(lines + list(more)) + b"\r\n\r\n"


def split(octets, loose=False):
    """Start line and fields; Incomplete until the head is whole."""
    end = octets.find(b"\r\n\r\n")
    if end < 0:
        if len(octets) > LARGEST:
            raise Refused("too large")
        raise Incomplete
    start, *lines = octets[:end].split(b"\r\n")
    fields = []
    for line in lines:
        name, colon, value = line.partition(b":")
        value = value.strip(b" \t")
        if not loose and (not colon or not TOKEN.match(name) or not VALUE.match(value)):
            raise Refused("a field that is none")
        fields.append((name.strip() if loose else name, value))
    if not loose and not VALUE.match(start):
        raise Refused("a start line that is none")
    return Head(start, fields, octets[end + 4:])


def looks_like_http(octets):
    """Raises Strange as soon as it can be told that it is not."""
    starts = [method.encode() + b" " for method in METHODS + ("CONNECT", "TRACE", "PRI")]
    if any(octets.startswith(start) for start in starts):
        return
    if any(start.startswith(octets) for start in starts):
        raise Incomplete
    raise Strange("not HTTP")


def request(octets, config):
    """The head of a request; Refused if anything about it is ambiguous."""
    head = split(octets, loose="loose" in config)
    parts = head.start.split(b" ")
    if len(parts) != 3 or parts[2] != b"HTTP/1.1":
        raise Refused("not HTTP/1.1")
    head.method, head.target = parts[0].decode("latin-1"), parts[1]
    return head


def framing(head, config):
    """How the body ends: None, a number of octets, or "chunked"."""
    lengths, codings = head.all(b"content-length"), head.all(b"transfer-encoding")
    if config.get("framing") == "length" and lengths and lengths[0].isdigit():
        return int(lengths[0])
    if lengths and codings or len(lengths) > 1 or len(codings) > 1:
        raise Refused("framed twice")
    if codings:
        if codings[0].lower() != b"chunked":
            raise Refused("a coding that is not known")
        return "chunked"
    if lengths:
        if not re.match(rb"[0-9]{1,15}\Z", lengths[0]):
            raise Refused("a length that is none")
        return int(lengths[0])
    return None


def may_pass(head):
    """What is refused whatever its host."""
    if head.method not in METHODS:
        raise Refused("method")
    if not TARGET.match(head.target):
        raise Refused("form")
    if head.all(b"upgrade") or any(b"upgrade" in value.lower() for value in head.all(b"connection")):
        raise Refused("upgrade")


def host(head, port, config):
    """The name that a request is for, as octets."""
    hosts = head.all(b"host")
    if len(hosts) != 1 and not (hosts and config.get("hosts") in ("first", "last")):
        raise Refused("not one Host")
    value = hosts[-1 if config.get("hosts") == "last" else 0]
    name, colon, number = value.partition(b":")
    if colon and number != str(port).encode():
        raise Refused("another port")
    return name
