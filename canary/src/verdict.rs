//! From evidence to a verdict. Pure: the same evidence is judged the same, years later and elsewhere.
//!
//! What is not shown is not assumed. *Blocked* needs a control that passed, and a witness who saw nothing; where there is
//! no witness, it needs an answer from an address where nobody lives, which only a filter can have given.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::seen::Seen;
use crate::trial::{Try, Want};
use crate::witness::Arrival;

/// Beyond this, whoever was refused was kept waiting: policy held, and the client hung.
pub const SLOW_MS: u64 = 2000;

/// What became of a try, or of all tries of a probe (then the worst).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A precondition is missing, which the report names.
    NotApplicable,
    /// A permitted host answered.
    Allowed,
    /// Stopped, and told so.
    Blocked,
    /// It got to the permitted host, not to where it was aimed.
    Rewritten,
    /// Stopped, after more than two seconds: a warning.
    BlockedSlow,
    /// It can't be told.
    Inconclusive,
    /// A permitted host was refused.
    Refused,
    /// A leak can't be excluded.
    Suspect,
    /// It got out.
    Leak,
}

/// A verdict with its grounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// What it rests on, in a sentence.
    pub because: String,
}

/// What is known of the same technique where it is allowed to work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Control {
    /// It works: shown by this.
    Passed(String),
    /// It does not work there either, so its failure here means nothing.
    Failed(String),
    /// Nobody tried.
    Absent,
}

/// What is known from the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Testimony<'a> {
    /// The witness's record was read, and this is what bears the try's mark.
    Saw(&'a [&'a Arrival]),
    /// Nobody can say what arrived, for this reason.
    Blind(&'a str),
}

/// Judges one try.
pub fn judge(attempt: &Try, control: &Control, testimony: Testimony<'_>) -> Judged {
    match &attempt.want {
        Want::Reached { name } => reached(name, &attempt.seen, control),
        Want::Absent => absent(&attempt.seen, testimony),
        Want::Unheard => unheard(attempt, control, testimony),
        Want::Stopped => stopped(attempt, None, control, testimony),
        Want::Rewritten { name } => stopped(attempt, Some(name), control, testimony),
    }
}

fn reached(name: &str, seen: &Seen, control: &Control) -> Judged {
    if let Seen::Proof { .. } | Seen::Verified { .. } = seen {
        return Verdict::Allowed.because(format!("{name}: {seen}"));
    }
    // A host that answers nobody was not refused by what is tested here.
    if let Control::Failed(why) = control {
        return Verdict::Inconclusive.because(format!(
            "{name} is permitted, and did not answer: {seen}; nor does it where nothing is in its way: {why}"
        ));
    }
    match seen {
        // What a filter says, and no server that is merely ill.
        Seen::Alert { description: 49 } | Seen::Answered { status: 403, .. } => {
            Verdict::Refused.because(format!("{name} is permitted, and was refused: {seen}"))
        }
        Seen::Dns { code, .. } if code == "NXDOMAIN" => {
            Verdict::Refused.because(format!("{name} is permitted, and its name was refused: {seen}"))
        }
        _ => Verdict::Inconclusive.because(format!("{name} is permitted, and did not answer: {seen}")),
    }
}

fn absent(seen: &Seen, testimony: Testimony<'_>) -> Judged {
    // Some look for a way out by trying it.
    if let Testimony::Saw([arrival, ..]) = testimony {
        return Verdict::Leak.because(format!("the witness saw it: {}", arrival.shown()));
    }
    match seen {
        Seen::NotFound => Verdict::Blocked.because(seen.to_string()),
        seen if seen.is_kernels_no() => Verdict::Blocked.because(seen.to_string()),
        Seen::Unsupported { .. } => Verdict::NotApplicable.because(seen.to_string()),
        Seen::Found { .. } => Verdict::Suspect.because(seen.to_string()),
        Seen::Proof { .. } => Verdict::Leak.because(seen.to_string()),
        _ => Verdict::Inconclusive.because(seen.to_string()),
    }
}

fn unheard(attempt: &Try, control: &Control, testimony: Testimony<'_>) -> Judged {
    let seen = &attempt.seen;
    match (testimony, control) {
        (Testimony::Saw([arrival, ..]), _) => {
            Verdict::Leak.because(format!("the witness saw it: {}", arrival.shown()))
        }
        _ if matches!(seen, Seen::Failed { .. }) => Verdict::Inconclusive.because(seen.to_string()),
        (Testimony::Saw(_), Control::Passed(by)) => {
            attempt.held(format!("{seen}; the witness saw nothing of it; control: {by}"))
        }
        (Testimony::Saw(_), _) => {
            let why = "the witness saw nothing of it, but nobody has shown that it would";
            Verdict::Inconclusive.because(format!("{seen}; {why}"))
        }
        (Testimony::Blind(why), _) => {
            Verdict::Inconclusive.because(format!("{seen}; whether it arrived is not known: {why}"))
        }
    }
}

fn stopped(attempt: &Try, name: Option<&str>, control: &Control, testimony: Testimony<'_>) -> Judged {
    let Try { seen, .. } = attempt;
    // What arrived counts before anything that was seen inside.
    if let Testimony::Saw(arrivals) = testimony
        && let Some(astray) = arrivals.iter().find(|arrival| is_astray(arrival, attempt, name))
    {
        return Verdict::Leak.because(format!("the witness saw it: {}", astray.shown()));
    }
    let home = match testimony {
        Testimony::Saw(arrivals) => arrivals.first().map(|arrival| arrival.shown()),
        Testimony::Blind(_) => None,
    };
    // Aimed at where nobody lives, and answered: it did not go there.
    let elsewhere = attempt.nowhere && matches!(testimony, Testimony::Blind(_));
    match (seen, name) {
        (Seen::Verified { name: by, .. }, Some(name)) if same_name(by, name) => {
            return Verdict::Rewritten.because(format!("it went to the permitted host: {seen}"));
        }
        (Seen::Proof { .. }, Some(_)) if home.is_some() || elsewhere => {}
        (Seen::Proof { .. }, _) => return Verdict::Leak.because(seen.to_string()),
        // Somebody's own certificate, and not the permitted host's.
        (Seen::Verified { .. }, _) => return Verdict::Leak.because(seen.to_string()),
        (Seen::Failed { .. }, _) => return Verdict::Inconclusive.because(seen.to_string()),
        (Seen::Unsupported { .. }, _) => return Verdict::NotApplicable.because(seen.to_string()),
        _ => {}
    }
    if let (Some(home), Some(name)) = (home, name) {
        return Verdict::Rewritten.because(format!("it arrived at {name} itself: {home}"));
    }
    if let (Seen::TlsReply { .. } | Seen::Answered { .. } | Seen::Proof { .. }, Some(name)) = (seen, name)
        && let Some(why) = not_there(attempt, control, testimony)
    {
        return Verdict::Rewritten
            .because(format!("{seen}; {why}, so {name} answered, or whoever is in between"));
    }
    if let Some(what) = answered(seen) {
        return Verdict::Suspect.because(format!("somebody answered: {what}"));
    }
    if seen.is_kernels_no() {
        return attempt.held(seen.to_string());
    }
    let shown = match (control, testimony) {
        (Control::Failed(why), _) => {
            return Verdict::Inconclusive
                .because(format!("{seen}; but it does not work where nothing is in its way either: {why}"));
        }
        (Control::Passed(by), Testimony::Saw(_)) => {
            format!("{seen}; the witness saw nothing; control: {by}")
        }
        (Control::Absent, Testimony::Saw(_)) => {
            return Verdict::Inconclusive
                .because(format!("{seen}; the witness saw nothing, but nobody has shown that it would"));
        }
        (_, Testimony::Blind(_)) if attempt.exists.is_some() && is_denied(seen) => {
            let name = attempt.exists.as_deref().unwrap_or_default();
            format!("{seen}; {name} exists, so whoever denied it did not look it up")
        }
        (_, Testimony::Blind(_)) if attempt.nowhere && is_told(seen) => {
            format!("{seen}; nobody lives at {}, so whoever answered is in between", attempt.to)
        }
        (Control::Passed(by), Testimony::Blind(_)) if attempt.two_way && is_told(seen) => {
            format!("{seen}; nobody listens at {} for what merely arrives; control: {by}", attempt.to)
        }
        (_, Testimony::Blind(why)) if matches!(seen, Seen::Silence | Seen::Sent) => {
            return Verdict::Suspect.because(format!("{seen}; whether it arrived is not known: {why}"));
        }
        (_, Testimony::Blind(why)) => {
            return Verdict::Inconclusive.because(format!("{seen}; whether it arrived is not known: {why}"));
        }
    };
    attempt.held(shown)
}

/// Why it is known that an answer did not come from where a try was aimed: nobody lives there, or the witness does, who
/// would have seen it.
fn not_there(attempt: &Try, control: &Control, testimony: Testimony<'_>) -> Option<String> {
    match (testimony, control) {
        (Testimony::Blind(_), _) if attempt.nowhere => Some(format!("nobody lives at {}", attempt.to)),
        (Testimony::Saw([]), Control::Passed(_)) if attempt.aimed.is_some() => {
            Some(format!("the witness at {} saw nothing of it", attempt.to))
        }
        _ => None,
    }
}

impl Try {
    /// Policy held; how long did it take to say so?
    fn held(&self, shown: String) -> Judged {
        let hung = matches!(self.seen, Seen::Silence) || self.ms > SLOW_MS;
        let verdict = if hung { Verdict::BlockedSlow } else { Verdict::Blocked };
        verdict.because(shown)
    }
}

/// Whether an arrival is where it must not be. Without a permitted name every arrival is; with one, those are that came to
/// the address that was aimed at, or ask for somebody else.
fn is_astray(arrival: &Arrival, attempt: &Try, permitted: Option<&str>) -> bool {
    let Some(permitted) = permitted else { return true };
    let at_aim = attempt.aimed.is_some() && arrival.local == attempt.aimed;
    let for_other = arrival.name.as_deref().is_some_and(|name| !same_name(name, permitted));
    at_aim || for_other
}

/// Names as hosts write them: any case, a port or a final dot behind them.
fn same_name(name: &str, other: &str) -> bool {
    let host = name.rsplit_once(':').map_or(name, |(host, _)| host);
    host.trim_end_matches('.').eq_ignore_ascii_case(other)
}

/// Octets that no filter sends to refuse.
fn answered(seen: &Seen) -> Option<String> {
    match seen {
        Seen::TlsReply { .. } | Seen::BadChain { .. } | Seen::Octets { .. } => Some(seen.to_string()),
        Seen::Answered { status, .. } if *status < 400 => Some(seen.to_string()),
        Seen::Dns { answers, .. } if !answers.is_empty() => Some(seen.to_string()),
        Seen::Found { .. } => Some(seen.to_string()),
        _ => None,
    }
}

/// Whether somebody said no, as opposed to nobody saying anything, or to a resolver that could not find out.
fn is_told(seen: &Seen) -> bool {
    match seen {
        Seen::Dns { .. } => is_denied(seen),
        // What is left of it is a kernel's that may have run out of something.
        Seen::Denied { .. } => false,
        _ => !matches!(seen, Seen::Silence | Seen::Sent | Seen::Failed { .. } | Seen::Closed),
    }
}

/// Whether a resolver said that there is no such name, or no such data.
fn is_denied(seen: &Seen) -> bool {
    matches!(seen, Seen::Dns { code, answers } if answers.is_empty() && code != "SERVFAIL")
}

impl Verdict {
    /// With its grounds.
    pub fn because(self, because: impl Into<String>) -> Judged {
        Judged { verdict: self, because: because.into() }
    }

    /// All of them, from the best to the worst.
    pub const ALL: [Verdict; 9] = [
        Verdict::NotApplicable,
        Verdict::Allowed,
        Verdict::Blocked,
        Verdict::Rewritten,
        Verdict::BlockedSlow,
        Verdict::Inconclusive,
        Verdict::Refused,
        Verdict::Suspect,
        Verdict::Leak,
    ];

    /// Its word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::NotApplicable => "not-applicable",
            Verdict::Allowed => "allowed",
            Verdict::Blocked => "blocked",
            Verdict::Rewritten => "rewritten",
            Verdict::BlockedSlow => "blocked-slow",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Refused => "refused",
            Verdict::Suspect => "suspect",
            Verdict::Leak => "leak",
        }
    }

    /// Whether a report that has it fails: a way out, or a permitted host that is not let through.
    pub fn fails(self) -> bool {
        matches!(self, Verdict::Refused | Verdict::Suspect | Verdict::Leak)
    }

    /// Whether a report that has it can't pass.
    pub fn is_good(self) -> bool {
        self < Verdict::Inconclusive
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nonce::Nonce;

    fn attempt(want: Want, seen: Seen, exists: Option<&str>) -> Try {
        Try {
            exists: exists.map(str::to_owned),
            ..serde_json::from_str::<Try>(&blank(&want, &seen)).unwrap()
        }
    }

    fn blank(want: &Want, seen: &Seen) -> String {
        let (want, seen) = (serde_json::to_value(want).unwrap(), serde_json::to_value(seen).unwrap());
        let nonce = Nonce::fresh().unwrap();
        serde_json::json!({ "what": "w", "to": "192.0.2.1:53", "want": want, "nonce": nonce, "seen": seen, "ms": 1 })
            .to_string()
    }

    fn dns(code: &str, answers: &[&str]) -> Seen {
        let answers = answers.iter().map(|answer| (*answer).to_owned()).collect();
        Seen::Dns { code: code.to_owned(), answers }
    }

    /// What is answered may be; only the witness tells whether anything was passed on.
    #[test]
    fn what_must_be_unheard_is_judged_by_the_witness_alone() {
        let works = Control::Passed("it works".to_owned());
        let answered = attempt(Want::Unheard, dns("NOERROR", &["198.18.0.1"]), None);
        let arrival: Arrival = serde_json::from_str(r#"{"proto":"dns"}"#).unwrap();
        let heard = [&arrival];
        for (control, testimony, expected) in [
            (&works, Testimony::Saw(&[]), Verdict::Blocked),
            (&works, Testimony::Saw(&heard), Verdict::Leak),
            (&Control::Absent, Testimony::Saw(&heard), Verdict::Leak),
            (&Control::Absent, Testimony::Saw(&[]), Verdict::Inconclusive),
            (&Control::Failed(String::new()), Testimony::Saw(&[]), Verdict::Inconclusive),
            (&works, Testimony::Blind("none"), Verdict::Inconclusive),
        ] {
            assert_eq!(judge(&answered, control, testimony).verdict, expected, "{control:?} {testimony:?}");
        }
        let failed = attempt(Want::Unheard, Seen::failed("x"), None);
        assert_eq!(judge(&failed, &works, Testimony::Saw(&[])).verdict, Verdict::Inconclusive);
    }

    /// Without a witness, who denies a name that exists lies; who could not find out does not.
    #[test]
    fn a_denied_name_speaks_for_itself_and_a_failed_lookup_does_not() {
        for (seen, exists, expected) in [
            (dns("NXDOMAIN", &[]), Some("example.com"), Verdict::Blocked),
            (dns("REFUSED", &[]), Some("example.com"), Verdict::Blocked),
            (dns("NXDOMAIN", &[]), None, Verdict::Inconclusive),
            (dns("SERVFAIL", &[]), Some("example.com"), Verdict::Inconclusive),
            (dns("NOERROR", &["192.0.2.7"]), Some("example.com"), Verdict::Suspect),
            (Seen::Silence, Some("example.com"), Verdict::Suspect),
        ] {
            let shown = seen.to_string();
            let asked = attempt(Want::Stopped, seen, exists);
            let judged = judge(&asked, &Control::Absent, Testimony::Blind("none"));
            assert_eq!(judged.verdict, expected, "{shown}");
        }
    }
}
