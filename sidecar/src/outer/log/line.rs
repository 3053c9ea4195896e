//! The line of an entry: JSON, schema 1.

use std::net::SocketAddr;

use closedbook_policy::Reason;
use serde::{Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

use super::{Entry, Kind, Verdict};

/// The fields in the order of the documentation.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(serialize_with = "milliseconds")]
    ts: OffsetDateTime,
    id: u64,
    phase: &'a str,
    epoch: u64,
    policy: String,
    kind: Kind,
    name: Option<&'a str>,
    port: Option<u16>,
    original: Option<SocketAddr>,
    dialled: Option<SocketAddr>,
    verdict: Verdict,
    reason: Option<Reason>,
    rule: Option<&'a str>,
    bytes_up: u64,
    bytes_down: u64,
    ms: u64,
    detail: Option<&'a str>,
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Line {
            ts: self.ts,
            id: self.id,
            phase: self.phase.name(),
            epoch: self.phase.epoch().0,
            policy: self.phase.policy().to_string(),
            kind: self.kind,
            name: self.name.as_deref(),
            port: self.port,
            original: self.original,
            dialled: self.dialled,
            verdict: self.verdict,
            reason: self.reason,
            rule: self.rule.as_deref(),
            bytes_up: self.bytes_up,
            bytes_down: self.bytes_down,
            ms: self.ms,
            detail: self.detail.as_deref(),
        }
        .serialize(serializer)
    }
}

/// The line that says that a flow has opened. Its record comes at the end, under the same number.
pub(super) struct Opening<'a>(pub(super) &'a Entry);

#[derive(Serialize)]
struct OpeningLine<'a> {
    event: &'static str,
    #[serde(serialize_with = "milliseconds")]
    ts: OffsetDateTime,
    id: u64,
    phase: &'a str,
    epoch: u64,
    policy: String,
    kind: Kind,
    name: Option<&'a str>,
    port: Option<u16>,
    original: Option<SocketAddr>,
    dialled: Option<SocketAddr>,
    rule: Option<&'a str>,
}

impl Serialize for Opening<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(entry) = self;
        OpeningLine {
            event: "flow.open",
            ts: entry.ts,
            id: entry.id,
            phase: entry.phase.name(),
            epoch: entry.phase.epoch().0,
            policy: entry.phase.policy().to_string(),
            kind: entry.kind,
            name: entry.name.as_deref(),
            port: entry.port,
            original: entry.original,
            dialled: entry.dialled,
            rule: entry.rule.as_deref(),
        }
        .serialize(serializer)
    }
}

fn milliseconds<S: Serializer>(ts: &OffsetDateTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&rfc3339(*ts))
}

/// As every time is written: RFC 3339 with milliseconds, in UTC.
pub(crate) fn rfc3339(ts: OffsetDateTime) -> String {
    const FORMAT: &[BorrowedFormatItem<'_>] =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
    // Nothing of this format can be missing from a time.
    ts.to_offset(time::UtcOffset::UTC).format(FORMAT).unwrap_or_default()
}
