//! From values to libnftnl's objects. The bytecode is the one nft makes of the rendered text.

use nftnl::{
    Batch, ChainType, FinalizedBatch, MsgType, ProtoFamily, Table,
    expr::{
        Bitwise, Cmp, CmpOp, Conntrack, ConntrackStatus, IcmpCode, Immediate, Meta, Payload, Register,
        RejectionType, States, TcpHeaderField, TransportHeaderField, UdpHeaderField, Verdict,
    },
};

use super::{
    apply::Step,
    expressions::{DestinationType, OrdinalNumber, Redirect},
    ffi,
    ruleset::{
        Action, Chain, Direction, Entry, Hook, Kind, Match, Name, Point, Policy, Reject, Rule, Ruleset,
        Transport,
    },
};

/// What there may be under the table's name before the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    Anything,
}

/// One transaction that leaves the table as described, and what each of its messages does, in order.
pub(super) fn batch(ruleset: &Ruleset, before: Before) -> (FinalizedBatch, Vec<Step>) {
    let table = Table::new(ruleset.table.as_c_str(), ProtoFamily::Inet);
    let mut batch = Batch::new();
    let mut steps = Vec::new();
    // Deleting a table that isn't there is an error, adding one that is there is none.
    let messages: &[MsgType] = match before {
        Before::Nothing => &[MsgType::Add],
        Before::Anything => &[MsgType::Add, MsgType::Del, MsgType::Add],
    };
    for message in messages {
        batch.add(&table, *message);
        steps.push(Step::Table(ruleset.table));
    }
    // All chains before any rule: rules name chains.
    for chain in &ruleset.chains {
        batch.add(&encoded_chain(chain, &table), MsgType::Add);
        steps.push(Step::Chain(chain.name));
    }
    for chain in &ruleset.chains {
        let parent = nftnl::Chain::new(chain.name.as_c_str(), &table);
        for rule in &chain.rules {
            batch.add(&encoded_rule(rule, &parent), MsgType::Add);
            steps.push(Step::Rule { chain: chain.name, rule: rule.comment });
        }
    }
    (batch.finalize(), steps)
}

/// The message that adds a rule.
pub(super) fn rule_message(ruleset: &Ruleset, chain: Name, rule: &Rule) -> Vec<u8> {
    let table = Table::new(ruleset.table.as_c_str(), ProtoFamily::Inet);
    let parent = nftnl::Chain::new(chain.as_c_str(), &table);
    ffi::message_of(&encoded_rule(rule, &parent))
}

/// The message that adds a chain.
pub(super) fn chain_message(ruleset: &Ruleset, chain: &Chain) -> Vec<u8> {
    let table = Table::new(ruleset.table.as_c_str(), ProtoFamily::Inet);
    ffi::message_of(&encoded_chain(chain, &table))
}

fn encoded_chain<'t>(chain: &Chain, table: &'t Table) -> nftnl::Chain<'t> {
    let mut encoded = nftnl::Chain::new(chain.name.as_c_str(), table);
    if let Entry::Hook(Hook { kind, point, priority, policy }) = chain.entry {
        encoded.set_type(match kind {
            Kind::Filter => ChainType::Filter,
            Kind::Nat => ChainType::Nat,
        });
        let point = match point {
            Point::Input => nftnl::Hook::In,
            Point::Output => nftnl::Hook::Out,
            Point::Postrouting => nftnl::Hook::PostRouting,
        };
        encoded.set_hook(point, priority);
        encoded.set_policy(match policy {
            Policy::Accept => nftnl::Policy::Accept,
            Policy::Drop => nftnl::Policy::Drop,
        });
    }
    encoded
}

fn encoded_rule<'c>(rule: &Rule, parent: &'c nftnl::Chain<'c>) -> nftnl::Rule<'c> {
    let mut encoded = nftnl::Rule::new(parent);
    for condition in &rule.matches {
        add_match(&mut encoded, *condition);
    }
    if let Some(limit) = &rule.limit {
        encoded.add_expr(limit);
    }
    if rule.counter.is_some() {
        encoded.add_expr(&nftnl::expr::Counter);
    }
    add_action(&mut encoded, rule.action);
    encoded.set_comment(rule.comment.as_c_str()).expect("a `Name` is shorter than the longest comment");
    encoded
}

fn add_match(rule: &mut nftnl::Rule<'_>, condition: Match) {
    match condition {
        Match::Protocol(transport) => add_protocol(rule, transport),
        Match::Port(transport, port) => {
            add_protocol(rule, transport);
            rule.add_expr(&Payload::Transport(match transport {
                Transport::Tcp => TransportHeaderField::Tcp(TcpHeaderField::Dport),
                Transport::Udp => TransportHeaderField::Udp(UdpHeaderField::Dport),
            }));
            rule.add_expr(&Cmp::new(CmpOp::Eq, port.to_be_bytes().as_slice()));
        }
        Match::LocalDestination => {
            // `RTN_LOCAL` of `linux/rtnetlink.h`.
            const RTN_LOCAL: u32 = 2;
            rule.add_expr(&DestinationType);
            rule.add_expr(&Cmp::new(CmpOp::Eq, RTN_LOCAL));
        }
        Match::Redirected => {
            rule.add_expr(&Conntrack::Status);
            add_any_bit(rule, ConntrackStatus::DST_NAT.bits());
        }
        Match::Invalid => {
            rule.add_expr(&Conntrack::State);
            add_any_bit(rule, States::INVALID.bits());
        }
        Match::Interface(direction, name) => {
            rule.add_expr(&match direction {
                Direction::In => Meta::IifName,
                Direction::Out => Meta::OifName,
            });
            // All of `IFNAMSIZ`: fewer bytes would compare a prefix.
            let mut padded = [0_u8; 16];
            padded.iter_mut().zip(name.as_str().bytes()).for_each(|(to, from)| *to = from);
            rule.add_expr(&Cmp::new(CmpOp::Eq, padded.as_slice()));
        }
    }
}

fn add_protocol(rule: &mut nftnl::Rule<'_>, transport: Transport) {
    rule.add_expr(&Meta::L4Proto);
    // Numbers of IANA's "Protocol Numbers".
    rule.add_expr(&Cmp::new(
        CmpOp::Eq,
        match transport {
            Transport::Tcp => 6_u8,
            Transport::Udp => 17_u8,
        },
    ));
}

fn add_any_bit(rule: &mut nftnl::Rule<'_>, mask: u32) {
    rule.add_expr(&Bitwise::new(mask, 0_u32));
    rule.add_expr(&Cmp::new(CmpOp::Neq, 0_u32));
}

fn add_action(rule: &mut nftnl::Rule<'_>, action: Action) {
    match action {
        Action::Accept => rule.add_expr(&Verdict::Accept),
        Action::Drop => rule.add_expr(&Verdict::Drop),
        Action::Return => rule.add_expr(&Verdict::Return),
        Action::Goto(chain) => rule.add_expr(&Verdict::Goto { chain: chain.as_c_str().to_owned() }),
        Action::Redirect(port) => {
            rule.add_expr(&Immediate::new(port.to_be_bytes(), Register::Reg1));
            rule.add_expr(&Redirect);
        }
        Action::Reject(Reject::TcpReset) => rule.add_expr(&Verdict::Reject(RejectionType::TcpRst)),
        Action::Reject(Reject::AdminProhibited) => {
            rule.add_expr(&Verdict::Reject(RejectionType::Icmp(IcmpCode::AdminProhibited)));
        }
        Action::Log(log) => rule.add_expr(&log),
        Action::Number => {
            rule.add_expr(&OrdinalNumber);
            rule.add_expr(&Meta::Mark { set: true });
        }
    }
}
