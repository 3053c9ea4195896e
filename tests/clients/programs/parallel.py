# Two thousand connections, each with an answer behind it when the last one opens, and all asked once more then. A few
# open at a time: this client is slow, and the time to say what it wants runs from the connection.
import asyncio, resource, ssl

COUNT = 2000
HOST = 'api.anthropic.com'

async def main():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    tls = ssl.create_default_context() if SCHEME == 'tls' else None
    opening, all_open, opened = asyncio.Semaphore(16), asyncio.Event(), []

    async def connection():
        async def ask():
            writer.write(f'GET /status/204 HTTP/1.1\r\nHost: {HOST}\r\n\r\n'.encode())
            answer = await reader.readuntil(b'\r\n\r\n')
            return answer.startswith(b'HTTP/1.1 204')
        async with opening:
            reader, writer = await asyncio.open_connection(HOST, 443 if tls else 80, ssl=tls)
            first = await ask()
        opened.append(writer)
        if len(opened) == COUNT:
            print('open at once:', len(opened))
            all_open.set()
        await all_open.wait()
        return first and await ask()

    answers = await asyncio.gather(*(connection() for _ in range(COUNT)))
    print('answered:', sum(answers), 'twice')

asyncio.run(asyncio.wait_for(main(), 300))
