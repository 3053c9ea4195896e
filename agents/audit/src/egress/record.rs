//! One line of the log (schema 1).

use std::borrow::Cow;

use closedbook_policy::Reason;
use serde::Deserialize;

/// What a line is.
pub(super) enum Line<'a> {
    /// A flow has opened; its record comes later.
    Opened(u64),
    /// An attempt has ended.
    Ended(Record<'a>),
}

/// What was attempted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Tls,
    Http,
    Dns,
    Tcp,
    Packet,
}

impl Kind {
    pub(super) const ALL: [(Kind, &'static str); 5] = [
        (Kind::Tls, "tls"),
        (Kind::Http, "http"),
        (Kind::Dns, "dns"),
        (Kind::Tcp, "tcp"),
        (Kind::Packet, "packet"),
    ];
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Allow,
    Deny(Reason),
    /// Ended by closedbook, for a reason or at its own end.
    Cut(Option<Reason>),
}

/// An attempt.
pub(super) struct Record<'a> {
    pub(super) id: u64,
    pub(super) ts: &'a str,
    pub(super) phase: Cow<'a, str>,
    pub(super) epoch: u64,
    pub(super) policy: Cow<'a, str>,
    pub(super) kind: Kind,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) port: Option<u16>,
    pub(super) original: Option<Cow<'a, str>>,
    pub(super) verdict: Verdict,
    pub(super) rule: Option<Cow<'a, str>>,
    pub(super) up: u64,
    pub(super) down: u64,
    pub(super) detail: Option<Cow<'a, str>>,
}

/// The fields as they are written. What a later version adds is passed over; what is missing is not guessed.
#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    event: Option<Text<'a>>,
    #[serde(borrow)]
    ts: &'a str,
    id: u64,
    #[serde(borrow)]
    phase: Text<'a>,
    epoch: u64,
    #[serde(borrow)]
    policy: Text<'a>,
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow, deserialize_with = "told")]
    name: Option<Text<'a>>,
    #[serde(deserialize_with = "told")]
    port: Option<u16>,
    #[serde(borrow, deserialize_with = "told")]
    original: Option<Text<'a>>,
    #[serde(borrow)]
    verdict: Option<Text<'a>>,
    #[serde(borrow)]
    reason: Option<Text<'a>>,
    #[serde(borrow)]
    rule: Option<Text<'a>>,
    #[serde(default)]
    bytes_up: u64,
    #[serde(default)]
    bytes_down: u64,
    #[serde(borrow)]
    detail: Option<Text<'a>>,
}

/// A field that may be null and may not be missing.
fn told<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

/// A text that is borrowed where it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

type Fault = (usize, String);

impl<'a> Line<'a> {
    pub(super) fn read(line: &'a [u8]) -> Result<Self, Fault> {
        let text =
            str::from_utf8(line).map_err(|error| (error.valid_up_to() + 1, "not UTF-8 text".to_owned()))?;
        let wire: Wire<'_> = serde_json::from_str(text).map_err(|error| {
            let place = format!(" at line {} column {}", error.line(), error.column());
            let reason = error.to_string();
            (error.column().max(1), reason.strip_suffix(&place).unwrap_or(&reason).to_owned())
        })?;
        if let Some(Text(event)) = &wire.event {
            return match &**event {
                "flow.open" => Ok(Line::Opened(wire.id)),
                _ => Err((1, format!("{event:?} is no event of schema 1"))),
            };
        }
        let record = wire.record().map_err(|reason| (1, reason))?;
        Ok(Line::Ended(record))
    }
}

impl<'a> Wire<'a> {
    fn record(self) -> Result<Record<'a>, String> {
        if self.id == 0 {
            return Err("id 0: numbers begin at 1".into());
        }
        if !is_time(self.ts) {
            return Err(format!("ts {:?} is no time in UTC", shortened(self.ts)));
        }
        let policy = self.policy.0;
        if policy.len() != 64 || !policy.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!("policy {:?} is no digest", shortened(&policy)));
        }
        let kind = Kind::ALL.into_iter().find(|(_, word)| *word == self.kind.0);
        let (kind, _) =
            kind.ok_or_else(|| format!("kind {:?} is none of schema 1", shortened(&self.kind.0)))?;
        let verdict = verdict(self.verdict.as_ref(), self.reason.as_ref())?;
        Ok(Record {
            id: self.id,
            ts: self.ts,
            phase: self.phase.0,
            epoch: self.epoch,
            policy,
            kind,
            name: self.name.map(|name| name.0),
            port: self.port,
            original: self.original.map(|original| original.0),
            verdict,
            rule: self.rule.map(|rule| rule.0),
            up: self.bytes_up,
            down: self.bytes_down,
            detail: self.detail.map(|detail| detail.0),
        })
    }
}

fn verdict(verdict: Option<&Text<'_>>, reason: Option<&Text<'_>>) -> Result<Verdict, String> {
    let verdict = verdict.map_or("", |verdict| &*verdict.0);
    let known = |reason: &Text<'_>| {
        let found = Reason::ALL.iter().find(|known| known.word() == reason.0).copied();
        found.ok_or_else(|| format!("reason {:?} is none of schema 1", shortened(&reason.0)))
    };
    match (verdict, reason.map(known).transpose()?) {
        ("allow", None) => Ok(Verdict::Allow),
        ("allow", Some(reason)) => Err(format!("verdict allow with the reason {reason}")),
        ("deny", Some(reason)) => Ok(Verdict::Deny(reason)),
        ("deny", None) => Err("verdict deny without a reason".into()),
        ("cut", reason) => Ok(Verdict::Cut(reason)),
        (other, _) => Err(format!("verdict {:?} is none of schema 1", shortened(other))),
    }
}

/// `2026-01-02T03:04:05.678Z`; times of this form sort as texts.
fn is_time(text: &str) -> bool {
    const FORM: &[u8; 19] = b"dddd-dd-ddTdd:dd:dd";
    let fits = |(byte, form): (&u8, &u8)| if *form == b'd' { byte.is_ascii_digit() } else { byte == form };
    let Some((seconds, rest)) = text.as_bytes().split_at_checked(FORM.len()) else { return false };
    if !seconds.iter().zip(FORM).all(fits) {
        return false;
    }
    match rest {
        [b'Z'] => true,
        [b'.', fraction @ .., b'Z'] => {
            !fraction.is_empty() && fraction.len() <= 9 && fraction.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

/// What is repeated in a message.
pub(super) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}
