for server in SERVERS:
    for tcp in (False, True):
        for edns in (False, True):
            print(server, 'tcp' if tcp else 'udp', 'edns' if edns else 'plain', '|',
                  ask('api.anthropic.com', 'A', server, tcp, edns), '|', ask('n0nce.example.com', 'A', server, tcp, edns))
