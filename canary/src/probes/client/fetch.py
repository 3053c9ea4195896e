import errno, json, socket, ssl, sys, urllib.error, urllib.request


def told(kind, **more):
    print(json.dumps(dict(kind=kind, **more)))


def http(answer):
    body = answer.read(16384).decode("utf-8", "replace")
    head = "\r\n".join("%s: %s" % pair for pair in answer.headers.items())
    told("http", status=answer.status, head=head, body=body)


def failure(error):
    if isinstance(error, ssl.SSLCertVerificationError):
        told("bad-chain", why=str(error)[:200])
    elif isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):
        told("closed")
    elif isinstance(error, ssl.SSLError):
        reason = error.reason or str(error)
        told("alert", reason=reason) if "_ALERT_" in reason else told("other", why=str(error)[:200])
    elif isinstance(error, socket.gaierror):
        told("no-address")
    elif isinstance(error, ConnectionRefusedError):
        told("refused")
    elif isinstance(error, (ConnectionResetError, BrokenPipeError)):
        told("closed" if "end closed" in str(error) else "reset")
    elif isinstance(error, (socket.timeout, TimeoutError)):
        told("timeout")
    elif isinstance(error, OSError) and error.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH):
        told("unreachable", errno=errno.errorcode[error.errno])
    else:
        told("other", why=("%s: %s" % (type(error).__name__, error))[:200])


question = json.load(sys.stdin)
if question["at"]:
    looked_up = socket.getaddrinfo
    socket.getaddrinfo = lambda host, port, *rest, **more: looked_up(question["at"], port, *rest, **more)
context = ssl.create_default_context()
if question["trust"]:
    context.load_verify_locations(cadata=question["trust"])
request = urllib.request.Request(question["url"], headers={"X-Nonce": question["nonce"]})
try:
    http(urllib.request.urlopen(request, timeout=6, context=context))
except urllib.error.HTTPError as error:
    http(error)
except urllib.error.URLError as error:
    failure(error.reason)
except Exception as error:
    failure(error)
