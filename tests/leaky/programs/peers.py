"""How the canary is turned on somebody else's egress control: Debian's squid and nginx as filtering gateways.

    peers.py CLOSEDBOOK squid|nginx [--markdown] [--canary PROGRAM]

The lab, a gateway, and a task behind it, each in a network namespace of its own. The gateway forwards nothing: web ports
are redirected to the proxy under test, questions are answered by a small server that knows the permitted names alone, and
everything else is rejected. So what is found is the proxy's own. Nothing is installed and no service is started: Debian's
programs run from here, with their configuration, until the lab ends. Root, or a user namespace's root, is needed."""
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PERMITTED = ["api.anthropic.com", "auth.openai.com"]

GATE = """
table inet gate {
  chain turn { type nat hook prerouting priority -100; policy accept;
    iifname "inner" udp dport 53 redirect to :15053
    iifname "inner" tcp dport 53 redirect to :15053
    iifname "inner" tcp dport 443 redirect to :3129
    iifname "inner" tcp dport 80 redirect to :3128
  }
  chain in { type filter hook input priority 0; policy accept;
    iifname "inner" icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, nd-router-solicit } accept
    iifname "inner" ct status dnat accept
    iifname "inner" meta l4proto tcp reject with tcp reset
    iifname "inner" reject with icmpx admin-prohibited
  }
  chain through { type filter hook forward priority 0; policy drop;
    meta l4proto tcp reject with tcp reset
    reject with icmpx admin-prohibited
  }
}
"""

SQUID = """
http_port [::]:3130
http_port 3128 intercept
https_port 3129 intercept ssl-bump tls-cert=FOLDER/ca.pem generate-host-certificates=off
acl permitted_host dstdomain PERMITTED
acl permitted_name ssl::server_name --client-requested PERMITTED
acl first at_step SslBump1
acl tunnel method CONNECT
ssl_bump peek first
ssl_bump splice permitted_name
ssl_bump terminate all
http_access deny tunnel !all
http_access allow tunnel
http_access allow permitted_host
http_access deny all
host_verify_strict on
dns_nameservers 192.0.2.53
visible_hostname gate.test
pid_filename FOLDER/squid.pid
access_log none
cache_log FOLDER/squid.log
cache deny all
cache_mem 8 MB
pinger_enable off
coredump_dir FOLDER
cache_effective_user proxy
shutdown_lifetime 0 seconds
"""

NGINX = """
load_module /usr/lib/nginx/modules/ngx_stream_module.so;
daemon off; master_process off; pid FOLDER/nginx.pid; error_log FOLDER/nginx.log; worker_rlimit_nofile 4096;
events { worker_connections 2048; }
stream {
  resolver 192.0.2.53 ipv6=off;
  map $ssl_preread_server_name $backend { MAP default 127.0.0.1:9; }
  server { listen 3129; listen [::]:3129; ssl_preread on; proxy_connect_timeout 5s; proxy_pass $backend; }
}
http {
  access_log off; resolver 192.0.2.53 ipv6=off;
  client_body_temp_path FOLDER; proxy_temp_path FOLDER; fastcgi_temp_path FOLDER; uwsgi_temp_path FOLDER; scgi_temp_path FOLDER;
  server { listen 3128 default_server; listen [::]:3128 default_server; return 403; }
  server { listen 3128; listen [::]:3128; server_name NAMES;
    location / { proxy_pass http://$host$request_uri; proxy_set_header Host $host; proxy_http_version 1.1; } }
}
"""


def configuration(peer, folder):
    if peer == "squid":
        key = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=gate.test",
               "-keyout", f"{folder}/ca.pem", "-out", f"{folder}/cert.pem"]
        subprocess.run(key, check=True, capture_output=True)
        with open(f"{folder}/ca.pem", "a") as file:
            file.write(open(f"{folder}/cert.pem").read())
        text = SQUID.replace("PERMITTED", " ".join(PERMITTED))
        words = ["squid", "-N", "-f", f"{folder}/{peer}.conf"]
    else:
        text = NGINX.replace("MAP", " ".join(f"{name} {name}:443;" for name in PERMITTED))
        text = text.replace("NAMES", " ".join(PERMITTED))
        words = ["nginx", "-c", f"{folder}/{peer}.conf"]
    with open(f"{folder}/{peer}.conf", "w") as file:
        file.write(text.replace("FOLDER", folder))
    return words


def inside(peer, canary, folder):
    """In the lab: both ways, without a gateway and with it."""
    import rig
    lab = rig.Lab()
    gate, task = rig.Space().join_world(), rig.Space()
    run = rig.run
    gate.ip(f"link add inner type veth peer name eth0 netns {task.holder.pid}\nlink set inner addrgenmode none\n"
            "addr add 10.78.0.1/24 dev inner\naddr add fd78::1/64 dev inner nodad\nlink set inner up\n")
    task.ip("link set eth0 addrgenmode none\naddr add 10.78.0.2/24 dev eth0\naddr add fd78::2/64 dev eth0 nodad\n"
            "link set eth0 up\nroute add default via 10.78.0.1\nroute add default via fd78::1\n")
    enter = task.inside
    asked = canary.split()
    job = {"run": f"{peer}-open", "canary": [*asked, "worker"], "capabilities": ["net_raw"]}
    hosts = [{"name": name, "https": True, "http": True} for name in PERMITTED]
    targets = {
        "permitted": hosts, "wildcards": [], "setup_only": [], "own_hosts": True, "refused": ["clinicaltrials.gov", "example.com"],
        "trust": open(os.environ["SSL_CERT_FILE"]).read(),
        "witness": {"name": "witness.test", "v4": "203.0.113.200", "v6": "2001:db8::2:200", "quiet": "203.0.113.202",
                    "zone": "leak.test", "resolver": "192.0.2.53"}}
    group = [["agent", level, "phase"] for level in ("agent", "root")]
    # Nothing in the way: the gateway only forwards.
    run(*gate.inside, "sh", "-c", "mount -t proc proc /proc 2>/dev/null; "
        "echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding")
    run("ip", "route", "add", "10.78.0.0/24", "via", "10.77.0.2", "dev", "world", "table", "local")
    run("ip", "route", "add", "fd78::/64", "via", "fd77::2", "dev", "world", "table", "local")
    lab.ask("reset")
    open_stages = rig.together(group, task, job, targets, None)
    open_record = lab.record()
    run(*gate.inside, "nft", "-f", "-", text=GATE)
    config = {"allow": {"agent": PERMITTED}, "phase": "agent", "resolver": "192.0.2.53", "everywhere": True,
              "recursion": {"types": [1], "anew": True}}
    rig.Proxy(gate, config)
    subprocess.Popen([*gate.inside, *configuration(peer, folder)], stdin=subprocess.DEVNULL, stdout=sys.stderr)
    for _ in range(100):
        listening = subprocess.run([*gate.inside, "ss", "-Hltn", "sport", "=", ":3129"], capture_output=True).stdout
        if listening:
            break
        time.sleep(0.1)
    else:
        raise SystemExit(f"{peer} does not listen")
    lab.ask("reset")
    job["run"] = peer
    sealed = rig.together(group, task, job, targets, None)
    record = lab.record()
    evidence = {"schema": 1, "run": peer, "made": "2026-12-01T00:00:00Z",
                "subject": {"canary": "0.1.0", "topology": peer, "phases": ["agent"]},
                "aims": {"agent": {**targets, "trust": None}}, "stages": sealed,
                "baseline": {"stages": open_stages, "witness": open_record}, "witness": record}
    judged = subprocess.run([*asked, "report", "-", "--json"], input=json.dumps(evidence), text=True, capture_output=True)
    sys.stderr.write(judged.stderr)
    judgement = json.loads(judged.stdout)["judgement"]
    for probe in judgement["probes"]:
        print(*(probe[key] for key in ("phase", "level", "verdict", "id", "because")))
    for reason in judgement["reasons"]:
        print("!", reason)
    sys.stdout.flush()
    os._exit(0)


def table(lines):
    """The worst verdict of each probe that is not good, with what was seen, as Markdown."""
    order = ["inconclusive", "refused", "suspect", "leak"]
    worst = {}
    for line in lines:
        if line.startswith("!") or len(line.split(None, 4)) < 5:
            continue
        _, level, verdict, probe, because = line.split(None, 4)
        if verdict in order and order.index(verdict) >= order.index(worst.get(probe, ("inconclusive",))[0]):
            worst[probe] = (verdict, level, because)
    print("| probe | verdict | seen |\n|---|---|---|")
    for probe, (verdict, _, because) in sorted(worst.items()):
        print(f"| `{probe}` | {verdict} | {because.replace('|', '/')} |")


def main():
    if sys.argv[1] == "--inside":
        sys.path.insert(0, HERE)
        return inside(*sys.argv[2:])
    program, peer = os.path.abspath(sys.argv[1]), sys.argv[2]
    folder = os.environ.get("TMPDIR", "/tmp") + f"/closedbook-peer-{os.getpid()}"
    os.mkdir(folder, 0o777)
    os.chmod(folder, 0o777)
    at = sys.argv.index("--canary") + 1 if "--canary" in sys.argv else 0
    canary = os.path.abspath(sys.argv[at]) if at else f"{program} canary"
    inner = [sys.executable, os.path.abspath(__file__), "--inside", peer, canary, folder]
    words = [program, "lab", "exec", "--", *inner]
    done = subprocess.run(words, capture_output=True, text=True)
    if "--markdown" not in sys.argv:
        sys.stdout.write(done.stdout)
        sys.stderr.write(done.stderr)
    else:
        table(done.stdout.splitlines())
    log = f"{folder}/{peer}.log"
    if not done.stdout and os.path.exists(log):
        sys.stderr.write(open(log).read()[-2000:])


main()
