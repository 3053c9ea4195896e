# Servers that end before they should, and what the client sees of it.
for tls in (False, True):
    talk = Talk(tls=tls).say(head('/reset?after=20000'))
    try:
        print('whole?', len(talk.answer()[2]))
    except (http.client.IncompleteRead, OSError) as error:
        print('broken:', type(error).__name__)
    try:
        talk = Talk(tls=tls).say(head('/reset?after=0'))
        print('answered?', talk.answer())
    except (http.client.HTTPException, OSError) as error:
        print('nothing:', isinstance(error, (ConnectionError, ssl.SSLError)))
