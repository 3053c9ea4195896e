//! Time and ends: streams may be silent, slow, and closed on one side, for as long as both ends like it.

use crate::support::modes;
use crate::{in_each_mode, python, run};

/// G12: nobody is cut for being silent. No deadline of closedbook outlives the first answer, so that eleven seconds,
/// longer than the longest of them, stand for three minutes.
#[test]
fn silence_is_no_fault() {
    in_each_mode(|mode| {
        let run = python(run(mode), include_str!("programs/patience.py")).must_succeed();
        for line in [
            "before the body, tls False: b'after the silence\\n'\n",
            "before the body, tls True: b'after the silence\\n'\n",
            "before the head, tls False: b'at last\\n'\n",
            "before the head, tls True: b'at last\\n'\n",
            "between events, tls False: 3\n",
            "between events, tls True: 3\n",
            "between requests, tls False: /second\n",
            "between requests, tls True: /second\n",
            "inside a body, tls False: 10\n",
            "inside a body, tls True: 10\n",
        ] {
            assert!(run.stdout.contains(line), "{line}: {run:#?}");
        }
    });
}

/// G12: neither direction waits for the other, or for more of its own: each piece is back before the next one is sent.
#[test]
fn pieces_pass_as_they_come() {
    const PIECES: &str = r#"
for tls in (False, True):
    talk = Talk(tls=tls).say(head('/echo', method='POST', more='Transfer-Encoding: chunked\r\n'))
    for turn in range(40):
        talk.say(b'7\r\npiece%02d\r\n' % turn)
        if turn == 0:
            lines = talk.head_lines()
        size, piece = talk.file.readline(), talk.file.readline()
        assert (size, piece) == (b'7\r\n', b'piece%02d\r\n' % turn), (size, piece)
    talk.say(b'0\r\n\r\n')
    print(lines[0], talk.file.readline() + talk.file.readline())
"#;
    for &mode in modes() {
        let run = python(run(mode), PIECES).must_succeed();
        assert_eq!(run.stdout.matches(r"HTTP/1.1 200 OK b'0\r\n\r\n'").count(), 2, "{run:#?}");
    }
}

/// G12: an end of one direction is passed on and leaves the other alone, whichever side is first.
#[test]
fn half_close() {
    for &mode in modes() {
        let run = python(run(mode), include_str!("programs/half_close.py"))
            .must_succeed()
            .must_print("plain, client first: 200 40 True\n")
            .must_print("tls, client first: 20000\n")
            .must_print("tls, server first: 200 b'I have said all I had to say\\n' True\n");
        let after = run.witness.iter().find(|arrival| arrival["detail"] == "after half-close");
        let bytes = after.and_then(|arrival| arrival["bytes"].as_u64()).unwrap_or_default();
        assert!(bytes >= 300_000, "{bytes} bytes after the server's end: {run:#?}");
    }
}
