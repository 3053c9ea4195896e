//! The DNS service: every question that the task asks, whatever server it was meant for, is answered here.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use closedbook_policy::{Carries, DnsAnswers, Name, Phase, Reason, Refusal};

use super::Outer;
use super::log::{Kind, Record};
use super::metrics::Limit;
use super::ruling::{Claim, Leash};
use crate::evidence::dns::{Answer, Question, Ruling, Transport, ruling};
use flood::Pace;

pub(super) mod flood;
pub(super) mod leases;
pub(super) mod tcp;
#[cfg(test)]
mod tests;
pub(super) mod udp;

/// Seconds that a client may keep an address. A made-up one never changes; the connection is decided anew anyway.
const TTL: u32 = 60;

/// Answers one message, and records it. None where a message is no question at all.
async fn answer(
    outer: &Outer,
    client: Option<SocketAddr>,
    message: &[u8],
    transport: Transport,
) -> Option<Vec<u8>> {
    let pace = match outer.probes.has(client, None) {
        true => Pace::Answer,
        false => outer.questions.pace(&outer.metrics),
    };
    if pace == Pace::Drop {
        return None;
    }
    let phase = outer.ruling.now();
    let Ok(mut record) = outer.record(client, None, phase).await else {
        // G13: nothing is told that can't be recorded; G11: but silence would be a hang.
        let question = Question::parse(message).ok()?;
        return Some(Answer::ServerFailure.message(&question, transport));
    };
    // The log may have kept it waiting.
    let phase = outer.ruling.now();
    record.decided(&phase);
    record.note(|entry| {
        entry.kind = Kind::Dns;
        entry.port = Some(53);
    });
    match Question::parse(message) {
        Ok(question) if pace == Pace::Refuse => {
            record.note(|entry| entry.name = Some(question.text().into()));
            record.deny(&outer.metrics.hit(Limit::DnsRate));
            Some(
                Answer::TooMany { explanation: "closedbook: too many questions".into() }
                    .message(&question, transport),
            )
        }
        Ok(question) => Some(rule(outer, &phase, record, &question).await.message(&question, transport)),
        Err(malformed) => {
            record.deny(&Refusal::from(&malformed));
            malformed.reply().map(<[u8]>::to_vec)
        }
    }
}

async fn rule(outer: &Outer, phase: &Arc<Phase>, mut record: Record, question: &Question) -> Answer {
    record.note(|entry| entry.name = Some(question.text().into()));
    let entry = question.name().and_then(|name| phase.resolves(name));
    record.note(|record| record.rule = entry.map(|entry| entry.to_string().into()));
    match (ruling(question, entry.is_some()), question.name()) {
        (Ruling::Address, Some(name)) => match address(outer, phase, record.id(), name).await {
            Ok(addresses) => {
                record.allow_with(format!(
                    "A {}",
                    addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(" ")
                ));
                Answer::Addresses { addresses, ttl: TTL }
            }
            Err(refusal) if refusal.reason == Reason::PhaseChanged => {
                record.cut(&refusal);
                no_name(&outer.ruling.now())
            }
            Err(refusal) => {
                record.deny(&refusal);
                Answer::ServerFailure
            }
        },
        (Ruling::NoData, _) => {
            record.allow_with(format!("{}, no data", kind(question.kind())));
            Answer::NoData
        }
        (Ruling::Refused, _) => {
            record.deny(&Refusal::new(Reason::DnsType, format!("class {}", question.class())));
            Answer::Refused
        }
        (Ruling::NoName | Ruling::Address, _) => {
            let refusal = Refusal::new(
                Reason::DnsName,
                format!("{}: no entry of phase {} names it", kind(question.kind()), phase.name()),
            );
            record.note(|record| record.noise = question.name().is_some_and(|name| searched(phase, name)));
            record.deny(&refusal);
            no_name(phase)
        }
    }
}

fn no_name(phase: &Phase) -> Answer {
    Answer::NoName {
        explanation: format!("closedbook: phase {} does not permit this name", phase.name()).into(),
    }
}

/// The addresses that stand for a permitted name.
async fn address(outer: &Outer, phase: &Phase, id: u64, name: &Name) -> Result<Vec<IpAddr>, Refusal> {
    // A `tcp://` entry is recognised by the made-up address alone.
    let by_address =
        || phase.entries().iter().any(|entry| entry.carries() == Carries::Tcp && entry.names(name));
    match phase.dns_answers() {
        DnsAnswers::Real if !by_address() => upstream(outer, id, name).await,
        _ => match outer.leases.address(name) {
            Some(address) => Ok(vec![address.into()]),
            None => Err(outer.metrics.hit(Limit::DnsNames)),
        },
    }
}

/// The addresses that the name really has. Given up when a switch of phase no longer permits to ask for them.
async fn upstream(outer: &Outer, id: u64, name: &Name) -> Result<Vec<IpAddr>, Refusal> {
    let leash = Leash::new();
    let changed = |refusal: Refusal| Refusal::new(Reason::PhaseChanged, refusal.detail);
    let _asking = outer.ruling.hold(id, Claim::Question(name.clone()), &leash).map_err(changed)?;
    tokio::select! {
        biased;
        cut = leash.cut() => Err(cut),
        found = outer.dialler.resolver().addresses(name) => Ok(found?.to_vec()),
    }
}

/// Whether the name is a permitted one with a search domain behind it. The client has the answer it wants.
fn searched(phase: &Phase, name: &Name) -> bool {
    let text = name.as_str();
    let heads = text.match_indices('.').filter_map(|(dot, _)| text.get(..dot));
    heads
        .filter(|head| head.contains('.'))
        .filter_map(|head| Name::parse(head).ok())
        .any(|head| phase.resolves(&head).is_some())
}

/// The name of a type of record, for people.
fn kind(kind: u16) -> Cow<'static, str> {
    Cow::Borrowed(match kind {
        1 => "A",
        2 => "NS",
        5 => "CNAME",
        6 => "SOA",
        12 => "PTR",
        15 => "MX",
        16 => "TXT",
        28 => "AAAA",
        33 => "SRV",
        64 => "SVCB",
        65 => "HTTPS",
        255 => "ANY",
        other => return Cow::Owned(format!("TYPE{other}")),
    })
}
