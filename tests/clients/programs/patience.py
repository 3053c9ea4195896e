# Silence of more than ten seconds, which is the longest deadline inside of closedbook, in every place where a client
# or a server may be silent. All at the same time.
SILENCE = 11
said = []

def pause():
    # What is waited for here is time itself.
    threading.Event().wait(SILENCE)

def place(name):
    def run(scene):
        def guarded():
            try:
                said.append(f'{name}: {scene()}')
            except Exception as error:
                said.append(f'{name}: failed, {error!r}')
        thread = threading.Thread(target=guarded)
        thread.start()
        return thread
    return run

threads = []
for tls in (False, True):
    @threads.append
    @place(f'before the body, tls {tls}')
    def scene(tls=tls):
        return Talk(tls=tls).ask(f'/silent/{SILENCE}')[2]

    @threads.append
    @place(f'before the head, tls {tls}')
    def scene(tls=tls):
        return Talk(tls=tls).ask(f'/slow-head/{SILENCE}')[2]

    @threads.append
    @place(f'between events, tls {tls}')
    def scene(tls=tls):
        return Talk(tls=tls).ask(f'/sse/2?ms={SILENCE * 500}')[2].count(b'data:')

    @threads.append
    @place(f'between requests, tls {tls}')
    def scene(tls=tls):
        talk = Talk(tls=tls)
        talk.ask('/first')
        pause()
        return json.loads(talk.ask('/second')[2])['path']

    @threads.append
    @place(f'inside a body, tls {tls}')
    def scene(tls=tls):
        talk = Talk(tls=tls).say(head('/upload', method='PUT', more='Content-Length: 10\r\n') + b'first')
        pause()
        return json.loads(talk.say(b'later').answer()[2])['bytes']

for thread in threads:
    thread.join()
print('\n'.join(sorted(said)))
