"""What the parts of the proxy share."""

# A hello or a head that is longer is refused.
LARGEST = 16384 + 4096
# From the first SYN to the last octet that is needed for a decision.
DEADLINE = 5.0


class Incomplete(Exception):
    """More octets are needed."""


class Strange(Exception):
    """It is neither TLS nor HTTP."""


class Refused(Exception):
    """It is, and policy or its shape forbids it."""


def permitted(name, allow, match):
    """Whether a name, as octets, stands on the list; if so, the entry."""
    if match == "prefix":
        return next((entry for entry in allow if name.decode("latin-1").startswith(entry)), None)
    if match == "suffix":
        return next((entry for entry in allow if name.decode("latin-1").endswith(entry)), None)
    if match == "c-string":
        # As a C program has it that finds the name in its list and forgets where it ends.
        name = name.split(b"\0")[0]
    if match == "substring":
        return next((entry for entry in allow if entry in name.decode("latin-1")), None)
    try:
        text = name.decode("ascii").lower()
    except UnicodeDecodeError:
        return None
    text = text[:-1] if text.endswith(".") else text
    return text if text in allow else None
