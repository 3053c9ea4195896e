# urllib: the allowed name, another one, and another one that is believed to be at some address.
import socket, urllib.error, urllib.request

def get(url):
    return urllib.request.urlopen(url, timeout=30).read().decode()

def fails(url):
    try:
        return get(url)
    except urllib.error.URLError as error:
        return str(error)

print('allowed:', get('https://api.anthropic.com/by-urllib'))
print('other:', fails('https://example.com/'))

look_up = socket.getaddrinfo
socket.getaddrinfo = lambda name, *rest, **named: look_up('198.51.100.7', *rest, **named)
print('pinned:', fails('https://example.com/'))
print('plain:', fails('http://example.com/'))
