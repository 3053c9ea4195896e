use std::io::Seek;

use super::*;
use crate::journal::Journal;

fn given() -> (UnixStream, UnixStream) {
    UnixStream::pair().unwrap()
}

/// Only what is a journal is taken for one, and only closedbook's own listeners are served.
#[test]
fn a_stranger_hands_nothing_over() {
    let (inner, outer) = given();
    let journal = Journal::blank().unwrap();
    descriptors::send(&inner, &[journal.as_fd()]).unwrap();
    assert!(matches!(take(outer), Err(HandoffError::Listeners(ListenError::Incomplete { .. }))));

    let (inner, outer) = given();
    let file = tempfile::tempfile().unwrap();
    descriptors::send(&inner, &[file.as_fd()]).unwrap();
    assert!(matches!(take(outer), Err(HandoffError::Listeners(ListenError::NotASocket(_)))));

    let (inner, outer) = given();
    drop(inner);
    assert!(matches!(take(outer), Err(HandoffError::Talk(_))));
}

fn verdict_of(text: &[u8]) -> Result<(), TestFailed> {
    let (mut inner, outer) = given();
    // More than the socket holds is still being written when it is given up.
    let text = text.to_vec();
    let says = std::thread::spawn(move || drop(inner.write_all(&text)));
    let heard = Verdict(BufReader::new(io::Read::take(outer, 2 * LINE))).wait();
    says.join().unwrap();
    heard
}

/// G6: nothing but the word that it passed counts as passed.
#[test]
fn only_passed_is_passed() {
    assert!(verdict_of(b"\"passed\"\n").is_ok());
    let failed = verdict_of(b"{\"failed\":\"nobody answers\"}\n").unwrap_err();
    assert_eq!(failed.to_string(), "the self-test failed: nobody answers");
    for other in [&b""[..], b"\"passed\"", b"{\"probes\":[]}\n", b"yes\n", &[b'x'; 300_000]] {
        assert!(verdict_of(other).is_err(), "{} bytes", other.len());
    }
}

/// The journal that arrives is the one that was sent.
#[test]
fn the_journal_is_shared() {
    let mut journal = Journal::blank().unwrap();
    let (inner, outer) = given();
    descriptors::send(&inner, &[journal.as_fd()]).unwrap();
    let mut received = File::from(descriptors::receive(&outer).unwrap().pop().unwrap());
    assert!(descriptors::is_memory_file(&received));
    received.write_all(b"word").unwrap();
    journal.rewind().unwrap();
    assert_eq!(io::read_to_string(journal).unwrap(), "word");
}
