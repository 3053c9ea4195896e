# What the programs beside this one begin with: crowds of connections, and requests that may be refused.
import json, os, socket, ssl, struct, sys, threading, time

HOST = 'api.anthropic.com'

def connect(address='198.51.100.9', port=80):
    return socket.create_connection((address, port), timeout=30)

def get(path, host=HOST, address='198.51.100.9'):
    """The status of an answer to a request on a connection of its own."""
    with connect(address) as wire:
        wire.sendall(f'GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n'.encode())
        answer = b''
        while (octets := wire.recv(65536)):
            answer += octets
    return int(answer.split(b' ', 2)[1])

def served(path):
    try:
        return get(path) == 200
    except (OSError, IndexError):
        return False

def say(line):
    print(line, flush=True)
    sys.stdin.readline()
