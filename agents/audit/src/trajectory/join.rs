//! Findings held against the decision log: what the proxy saw of them.

use std::collections::HashMap;

use closedbook_document::Place;
use serde::Serialize;

use super::finding::{Finding, Runs};
use super::json::{self, Json};
use crate::Malformed;

/// Records that begin so long before a call's time, or so long after it, can still be its own.
const BEFORE_MS: i64 = 5_000;
const AFTER_MS: i64 = 15 * 60_000;

/// So many faulty lines are named.
const MOST_FAULTS: usize = 20;

/// What the log says of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It was tried and refused.
    Refused,
    /// It went to a host that the policy allowed.
    Allowed,
    /// The log has no record of the host.
    NeverReached,
    /// The finding names no host, or what it did left from the provider: no record can be its own.
    NotInLog,
    /// The log has records of both kinds, or hosts with different outcomes.
    Ambiguous,
}

impl Outcome {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Refused => "refused",
            Outcome::Allowed => "allowed",
            Outcome::NeverReached => "never-reached",
            Outcome::NotInLog => "not-in-log",
            Outcome::Ambiguous => "ambiguous",
        }
    }
}

/// What the log says, and of which host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// All hosts together.
    pub outcome: Outcome,
    /// In a sentence.
    pub detail: String,
    /// Each host.
    pub hosts: Vec<HostSeen>,
}

/// What the log says of one host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostSeen {
    /// The host.
    pub host: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it was refused.
    pub reason: Option<String>,
    /// The entry that allowed it.
    pub rule: Option<String>,
    /// How many records there are of it.
    pub records: usize,
    /// Whether they are near in time; `null` when the transcript or the log has no time.
    pub near: Option<bool>,
}

/// A decision log.
#[derive(Debug, Default)]
pub struct Log {
    /// Lines are missing: that a host is not in it says nothing.
    torn: bool,
    hosts: HashMap<String, Vec<Record>>,
}

#[derive(Debug, Clone)]
struct Record {
    at: Option<i64>,
    allowed: bool,
    /// A question to the DNS, which is no connection.
    question: bool,
    reason: Option<String>,
    rule: Option<String>,
}

impl Log {
    /// Reads a log. Lines that can't be read are named; a log with any of them is malformed.
    pub fn read(file: &str, bytes: &[u8]) -> (Log, Vec<Malformed>) {
        let mut log = Log::default();
        let mut faults = Vec::new();
        let mut count = 0usize;
        for (index, raw) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if raw.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if let Err((column, reason)) = log.line(raw) {
                count += 1;
                if count <= MOST_FAULTS {
                    faults.push(Malformed {
                        file: file.into(),
                        place: Some(Place { line: index + 1, column }),
                        reason,
                    });
                }
            }
        }
        log.torn = count > 0;
        if count > MOST_FAULTS {
            faults.push(Malformed::whole(
                file,
                format!("and {} more lines that are no records", count - MOST_FAULTS),
            ));
        }
        (log, faults)
    }

    fn line(&mut self, raw: &[u8]) -> Result<(), (usize, String)> {
        let text =
            str::from_utf8(raw).map_err(|error| (error.valid_up_to() + 1, "not UTF-8 text".to_owned()))?;
        let value = json::parse(text).map_err(|fault| {
            (text.get(..fault.at).unwrap_or_default().chars().count() + 1, fault.what.to_owned())
        })?;
        let wrong = |what: &str| Err((1, what.to_owned()));
        if !value.is_table() {
            return wrong("no JSON object, which every record is");
        }
        // An opening says nothing of how it ends.
        if value.get("event").is_some_and(|event| *event != Json::Null) {
            return Ok(());
        }
        let allowed = match value.text("verdict") {
            // What was cut had been allowed before.
            Some("allow" | "cut") => true,
            Some("deny") => false,
            Some(_) => return wrong("`verdict` is none of allow, deny, cut"),
            None => return wrong("no `verdict`, which every record of a decision log has"),
        };
        let Some(kind) = value.text("kind") else {
            return wrong("no `kind`, which every record of a decision log has");
        };
        let name = match value.get("name") {
            None => return wrong("no `name`, which every record of a decision log has"),
            Some(Json::Text(name)) => Some(name.to_string()),
            Some(Json::Null) => None,
            Some(_) => return wrong("`name` is neither a text nor null"),
        };
        let record = Record {
            at: value.text("ts").and_then(moment),
            allowed,
            question: kind == "dns",
            reason: value.text("reason").map(str::to_owned),
            rule: value.text("rule").map(str::to_owned),
        };
        let original = value.text("original").and_then(address);
        for host in
            [name.map(|name| name.trim_end_matches('.').to_lowercase()), original].into_iter().flatten()
        {
            self.hosts.entry(host).or_default().push(record.clone());
        }
        Ok(())
    }

    /// Says of each finding what the log knows of it.
    pub fn join(&self, findings: &mut [Finding]) {
        for finding in findings {
            finding.log = Some(self.seen(finding));
        }
    }

    fn seen(&self, finding: &Finding) -> Seen {
        if finding.runs == Runs::Provider {
            let detail = "it ran at the provider, where the proxy sees nothing of it".into();
            return Seen { outcome: Outcome::NotInLog, detail, hosts: Vec::new() };
        }
        if finding.hosts.is_empty() {
            return Seen {
                outcome: Outcome::NotInLog,
                detail: "no host can be read from it".into(),
                hosts: Vec::new(),
            };
        }
        let at = finding.ts.as_deref().and_then(moment);
        let hosts: Vec<HostSeen> = finding.hosts.iter().map(|host| self.host(host, at)).collect();
        let first = hosts.first().map_or(Outcome::NotInLog, |host| host.outcome);
        let outcome = if hosts.iter().all(|host| host.outcome == first) { first } else { Outcome::Ambiguous };
        let detail = hosts.iter().map(HostSeen::sentence).collect::<Vec<_>>().join("; ");
        Seen { outcome, detail, hosts }
    }

    fn host(&self, host: &str, at: Option<i64>) -> HostSeen {
        let all = self.hosts.get(host).map(Vec::as_slice).unwrap_or_default();
        let near: Vec<&Record> = all
            .iter()
            .filter(|record| match (record.at, at) {
                (Some(record), Some(at)) => record >= at - BEFORE_MS && record <= at + AFTER_MS,
                _ => false,
            })
            .collect();
        let timed = at.is_some() && all.iter().any(|record| record.at.is_some());
        let records: Vec<&Record> = if near.is_empty() { all.iter().collect() } else { near.clone() };
        let flows = || records.iter().filter(|record| !record.question);
        let allowed = flows().find(|record| record.allowed);
        let refused = records.iter().find(|record| !record.allowed);
        let outcome = match (allowed, refused) {
            (Some(_), Some(_)) => Outcome::Ambiguous,
            (Some(_), None) => Outcome::Allowed,
            (None, Some(_)) => Outcome::Refused,
            (None, None) if self.torn => Outcome::Ambiguous,
            (None, None) => Outcome::NeverReached,
        };
        HostSeen {
            host: host.to_owned(),
            outcome,
            reason: refused.and_then(|record| record.reason.clone()),
            rule: allowed.and_then(|record| record.rule.clone()),
            records: records.len(),
            near: timed.then_some(!near.is_empty()),
        }
    }
}

impl HostSeen {
    fn sentence(&self) -> String {
        let Self { host, .. } = self;
        let far = if self.near == Some(false) { ", at another time" } else { "" };
        let reason = self.reason.as_deref().unwrap_or("no reason given");
        let rule = self.rule.as_deref().unwrap_or("an entry that is not named");
        match self.outcome {
            Outcome::Refused => format!("{host} was refused ({reason}){far}"),
            Outcome::Allowed => format!("{host} was allowed by {rule}{far}"),
            Outcome::Ambiguous if self.reason.is_none() && self.rule.is_none() => {
                format!("{host} is in no line of the log that could be read")
            }
            Outcome::Ambiguous => format!("{host} was both refused ({reason}) and allowed by {rule}{far}"),
            _ if self.records > 0 => format!("{host} was asked for in the DNS and never connected to"),
            _ => format!("the log has no record of {host}"),
        }
    }
}

/// The address of `192.0.2.1:443`, `[2001:db8::1]:443`.
fn address(original: &str) -> Option<String> {
    original.parse::<std::net::SocketAddr>().ok().map(|address| address.ip().to_canonical().to_string())
}

/// Milliseconds since 1970 of a time in RFC 3339, or of a number of seconds or milliseconds.
fn moment(text: &str) -> Option<i64> {
    if let Ok(number) = text.parse::<f64>() {
        let ms = if number > 1e11 { number } else { number * 1000.0 };
        return (ms.is_finite() && ms.abs() < 1e15).then_some(ms as i64);
    }
    let digits = |from: usize, length: usize| -> Option<i64> {
        let part = text.get(from..from + length)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let (year, month, day) = (digits(0, 4)?, digits(5, 2)?, digits(8, 2)?);
    let (hour, minute, second) = (digits(11, 2)?, digits(14, 2)?, digits(17, 2).unwrap_or(0));
    let rest = text.get(19..).unwrap_or_default();
    let fraction: String = rest
        .strip_prefix('.')
        .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect())
        .unwrap_or_default();
    let ms: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let zone = rest.find(['+', '-']).and_then(|at| rest.get(at..)).and_then(|zone| {
        let sign = if zone.starts_with('-') { -1 } else { 1 };
        let hours: i64 = zone.get(1..3)?.parse().ok()?;
        let minutes: i64 =
            zone.get(4..6).or_else(|| zone.get(3..5)).and_then(|text| text.parse().ok()).unwrap_or(0);
        Some(sign * (hours * 60 + minutes))
    });
    // Days since 1970 in the Gregorian calendar, years beginning in March.
    let (y, m) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    Some((((days * 24 + hour) * 60 + minute - zone.unwrap_or(0)) * 60 + second) * 1000 + ms)
}

#[cfg(test)]
mod tests;
