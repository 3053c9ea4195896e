# Answers before the answer.
body = b'x' * 100_000
length = f'Content-Length: {len(body)}\r\nExpect: 100-continue\r\n'

# The client waits for the word, however long it takes.
for tls in (False, True):
    talk = Talk(tls=tls).say(head('/expect', method='PUT', more=length))
    print('word:', talk.head_lines())
    status, _, answer = talk.say(body).answer()
    print('expect:', status, json.loads(answer)['bytes'])

    # The server does not want it: the final answer comes without a word, and nothing was sent.
    talk = Talk(tls=tls).say(head('/expect?refuse', method='PUT', more=length))
    print('refused:', talk.head_lines()[0])

    # RFC 8297.
    talk = Talk(tls=tls).say(head('/early-hints'))
    early = talk.head_lines()
    print('early:', early[0], early[1:])
    status, _, answer = talk.answer()
    print('then:', status, answer)
