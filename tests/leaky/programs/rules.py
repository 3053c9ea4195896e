"""The ruleset of a sidecar that shares the task's namespace: everything is dropped but what a fresh mark exempts.

Knobs make it leak: "open" is a list of matches that pass it, "setup" one of those that pass it in the setup phase alone,
"wire" one of frames that pass the device, "mark" a fixed mark, "ruleset" another text altogether. "none": no rules."""
import random
import re

SOUND = """
table inet rig {
  # Connections of ours are followed apart from the task's: a port that one of them had is soon another's, and what is known
  # of the first would hold for the second.
  chain apart { type filter hook output priority -300; policy accept;
    meta mark %(mark)d ct original zone set 1
  }
  chain strip { type filter hook output priority -160; policy accept;
    %(strip)s
  }
  chain turn { type nat hook output priority -150; policy accept;
    %(turn)s
    meta mark %(mark)d return
    udp dport 53 redirect to :15053
    tcp dport 53 redirect to :15053
    fib daddr type local return
    meta l4proto tcp redirect to :12345
  }
  chain gate { type filter hook output priority 10; policy drop;
    %(gate)s
    meta mark %(mark)d accept
    %(engine)s
    fib daddr type local accept
    %(neighbours)s accept
    meta l4proto tcp reject with tcp reset
    reject with icmpx admin-prohibited
  }
  chain last { type filter hook postrouting priority 300; policy drop;
    oifname "lo" accept
    meta mark { %(mark)d, %(open)d } meta mark set %(passed)d accept
    %(neighbours)s meta mark set %(passed)d accept
  }
}
table netdev rig {
  chain wire { type filter hook egress device "eth0" priority 0; policy drop;
    %(wire)s
    meta skuid 0-4294967295 meta protocol arp drop
    meta protocol arp accept
    meta mark %(passed)d meta mark set 0 accept
  }
}
"""
# Neighbour discovery and group reports, of the kernel's own making alone: a socket's would have an owner.
NEIGHBOURS = """icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, nd-router-solicit, mld2-listener-report } \
meta skuid 0-4294967295 drop
    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, nd-router-solicit, mld2-listener-report } \
ip6 hoplimit { 1, 255 }"""


def marks(knobs):
    """The proxy's own, that of what is let out, and that of what has been let through."""
    fresh = random.sample(range(0x10000, 0x7FFFFFFF), 3)
    return [knobs.get("mark", fresh[0]), *fresh[1:]]


def text(knobs, own, opened, passed):
    if "ruleset" in knobs:
        return knobs["ruleset"]
    matches = knobs.get("open", [])
    return SOUND % {
        "mark": own, "open": opened, "passed": passed, "neighbours": NEIGHBOURS,
        # The engine's resolver has other ports than 53, and asks from where no rule of ours is.
        "engine": "" if "engine" in knobs else "ip daddr 127.0.0.11 reject",
        "strip": f"meta mark != {own} meta mark set 0",
        "turn": "\n    ".join(f"{match} return" for match in matches),
        "gate": "\n    ".join(f"{match} meta mark set {opened} accept" for match in matches),
        "wire": "\n    ".join(f"{match} accept" for match in knobs.get("wire", [])),
    }


def gone(loaded):
    """Takes away what was loaded, and nothing else."""
    return "".join(f"delete {table}\n" for table in re.findall(r"^table \w+ \w+", loaded, re.MULTILINE))
