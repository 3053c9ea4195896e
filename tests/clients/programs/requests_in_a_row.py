# Several requests on a connection, in all the forms that clients use.
talk = Talk()
peers = set()
for turn in range(50):
    status, _, body = talk.ask(f'/turn/{turn}')
    seen = json.loads(body)
    assert (status, seen['path'], seen['host']) == (200, f'/turn/{turn}', HOST), seen
    peers.add(seen['peer'])
print('kept: 50 over', len(peers))

# Five written at once, the first with the longest answer.
paths = ['/bytes/200000', '/drip/20/5', '/status/404', '/bytes/3', '/last']
talk.say(b''.join(map(head, paths)))
answers = [talk.answer() for _ in paths]
print('pipelined:', [(status, len(body)) for status, _, body in answers[:4]], json.loads(answers[4][2])['path'])

status, fields, body = talk.ask('/bytes/1000', method='HEAD')
print('head:', status, fields['content-length'], body)

piece = b'5\r\nhello\r\n6\r\n world\r\n0\r\n'
chunked = 'Transfer-Encoding: chunked\r\n'
talk.say(head('/upload', method='PUT', more=chunked) + piece + b'\r\n')
told = json.loads(talk.answer()[2])
print('chunked:', told['bytes'], told['sha256'] == hashlib.sha256(b'hello world').hexdigest())

talk.say(head('/upload', method='POST', more=chunked + 'Trailer: x-sum\r\n') + piece + b'x-sum: 1\r\n\r\n')
print('trailers:', json.loads(talk.answer()[2])['bytes'])

long = ''.join(f'X-Long-{turn}: {chr(97 + turn) * 10_000}\r\n' for turn in range(3))
seen = json.loads(talk.ask('/', more=long)[2])
print('30 KB of fields:', sum(len(value) for name, value in seen['headers'] if name.startswith('x-long-')))

odd = json.loads(talk.ask('/a%20b/%2e%2e/;p=1?q=%00&r=/../', more='Accept:\r\nX-Empty: \r\nCookie: a=b\r\nCookie: c=d\r\n')[2])
print('as written:', odd['path'], [value for name, value in odd['headers'] if name == 'cookie'])

for method in ['OPTIONS', 'DELETE', 'PATCH', 'PROPFIND']:
    print('method:', json.loads(talk.ask('/', method=method, more='Content-Length: 0\r\n')[2])['method'])

old = Talk().say(head('/old', version='HTTP/1.0'))
status, fields, body = old.answer()
print('1.0:', status, json.loads(body)['path'], old.over())

ended = Talk().say(head('/last', more='Connection: close\r\n'))
status, fields, body = ended.answer()
print('close:', status, fields['connection'], ended.over())
