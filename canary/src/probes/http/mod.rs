//! Plain HTTP: is each request checked, and is what is ambiguous refused? (G5)

mod aim;
mod connect;
mod framing;
mod h2c;
mod hosts;
mod method;
mod plain;
mod proxy;
mod redirect;
mod smuggle;
mod spoof;
mod switch;
mod target;
mod tunnel;
mod websocket;

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[
    plain::PROBES,
    spoof::PROBES,
    switch::PROBES,
    target::PROBES,
    hosts::PROBES,
    method::PROBES,
    connect::PROBES,
    proxy::PROBES,
    smuggle::PROBES,
    framing::PROBES,
    h2c::PROBES,
    tunnel::PROBES,
    redirect::PROBES,
    websocket::PROBES,
];
