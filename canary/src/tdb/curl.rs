//! The exit codes of curl (<https://curl.se/libcurl/c/libcurl-errors.html>).

use crate::seen::Seen;
use crate::trial::Try;
use crate::verdict::Verdict;

/// What curl would have returned for a request over HTTPS that came to this end; `None` where that can't be told.
pub(super) fn code(attempt: &Try, verdict: Verdict) -> Option<u8> {
    match verdict {
        // What can't be shown to be blocked counts as reached.
        Verdict::Allowed | Verdict::Leak | Verdict::Suspect => Some(OK),
        Verdict::Blocked | Verdict::BlockedSlow | Verdict::Refused => of_refusal(&attempt.seen),
        Verdict::Rewritten | Verdict::Inconclusive | Verdict::NotApplicable => None,
    }
}

const OK: u8 = 0;
const COULDNT_RESOLVE_HOST: u8 = 6;
const COULDNT_CONNECT: u8 = 7;
const HTTP_RETURNED_ERROR: u8 = 22;
const OPERATION_TIMEDOUT: u8 = 28;
const SSL_CONNECT_ERROR: u8 = 35;
const GOT_NOTHING: u8 = 52;
const PEER_FAILED_VERIFICATION: u8 = 60;

fn of_refusal(seen: &Seen) -> Option<u8> {
    match seen {
        Seen::Dns { .. } => Some(COULDNT_RESOLVE_HOST),
        Seen::Refused | Seen::Unreachable { .. } | Seen::Denied { .. } => Some(COULDNT_CONNECT),
        Seen::Alert { .. } | Seen::Reset | Seen::Closed => Some(SSL_CONNECT_ERROR),
        Seen::Silence | Seen::Sent => Some(OPERATION_TIMEDOUT),
        Seen::BadChain { .. } => Some(PEER_FAILED_VERIFICATION),
        Seen::Answered { .. } => Some(HTTP_RETURNED_ERROR),
        Seen::Octets { .. } | Seen::TlsReply { .. } => Some(GOT_NOTHING),
        Seen::Proof { .. } | Seen::Verified { .. } | Seen::Found { .. } => Some(OK),
        Seen::NotFound | Seen::Unsupported { .. } | Seen::Failed { .. } => None,
    }
}
