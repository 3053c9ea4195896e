# requests: a session that keeps its connection, a streamed answer, an upload, and another name.
import socket, requests

session = requests.Session()
for turn in range(3):
    seen = session.get(f'https://api.anthropic.com/turn-{turn}', timeout=30).json()
    print('allowed:', seen['host'], seen['sni'], seen['path'], seen['peer'])
answer = session.post('https://api.anthropic.com/v1/messages', json={'stream': True}, stream=True, timeout=30)
print('events:', sum(line.startswith(b'event: ') for line in answer.iter_lines()))
print('upload:', session.put('https://api.anthropic.com/upload', data=b'x' * 100_000, timeout=30).json()['bytes'])

def fails(url):
    try:
        return session.get(url, timeout=30).status_code
    except requests.exceptions.ConnectionError as error:
        return str(error)

print('other:', fails('https://example.com/'))
look_up = socket.getaddrinfo
socket.getaddrinfo = lambda name, *rest, **named: look_up('198.51.100.7', *rest, **named)
print('pinned:', fails('https://example.com/'))
print('plain:', fails('http://example.com/'))
