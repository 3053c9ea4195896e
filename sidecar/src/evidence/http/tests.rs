//! The gate: truth tables, a corpus of smuggled requests, and a naive model to agree with.

mod heads;
mod model;
mod places;
mod smuggling;

use closedbook_policy::{Reason, Refusal, Request};

use super::{Gate, Step};

/// All that a stream led to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Trace {
    /// The requests that the policy would have been asked about, and where their heads begin.
    requests: Vec<(usize, Request)>,
    /// Octets handed on.
    handed_on: usize,
    end: End,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    More,
    Held,
    Refused(Refusal),
}

/// The caller that the gate is made for: the policy permits everything, and no upgrade is answered.
fn drive(segments: &[&[u8]]) -> Trace {
    let mut gate = Gate::default();
    let mut trace = Trace { requests: Vec::new(), handed_on: 0, end: End::More };
    let mut kept = Vec::new();
    for segment in segments {
        kept.extend_from_slice(segment);
        loop {
            let length = match gate.next(&kept) {
                Ok(Step::Head { request, length }) => {
                    trace.requests.push((trace.handed_on, request));
                    length
                }
                Ok(Step::Body { length } | Step::Tunnel { length }) => length,
                Ok(Step::More) => break,
                Ok(Step::Held) => {
                    trace.end = End::Held;
                    break;
                }
                Err(refusal) => {
                    trace.end = End::Refused(refusal);
                    break;
                }
            };
            assert!(0 < length && length <= kept.len());
            kept.drain(..length);
            trace.handed_on += length;
        }
    }
    trace
}

/// Whole, byte by byte, and in every split in two (in 500 of them where there are more): one trace.
fn traced(bytes: &[u8]) -> Trace {
    let whole = drive(&[bytes]);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(whole, drive(&single), "byte by byte: {}", bytes.escape_ascii());
    for cut in (0..bytes.len()).step_by(1 + bytes.len() / 500) {
        let (front, back) = bytes.split_at(cut);
        assert_eq!(whole, drive(&[front, back]), "cut at {cut}: {}", bytes.escape_ascii());
    }
    whole
}

/// Asserts that a stream has `requests` valid heads and is refused after them, and that nothing after the last valid
/// one's head and body was handed on.
#[track_caller]
fn refused(bytes: &[u8], requests: usize, reason: Reason) -> Refusal {
    let trace = traced(bytes);
    assert_eq!(trace.requests.len(), requests, "{}", bytes.escape_ascii());
    match trace.end {
        End::Refused(refusal) => {
            assert_eq!(refusal.reason, reason, "{refusal}: {}", bytes.escape_ascii());
            if requests == 0 {
                assert_eq!(trace.handed_on, 0);
            }
            refusal
        }
        end => panic!("{end:?}: {}", bytes.escape_ascii()),
    }
}

/// Asserts that a stream is all in order, ends between requests, and gives its requests.
#[track_caller]
fn accepted(bytes: &[u8]) -> Vec<Request> {
    let trace = traced(bytes);
    assert_eq!(trace.end, End::More, "{}", bytes.escape_ascii());
    assert_eq!(trace.handed_on, bytes.len(), "{}", bytes.escape_ascii());
    trace.requests.into_iter().map(|(_, request)| request).collect()
}
