//! What must hold for all octets, however hostile (G16). Called by the fuzz targets; panics where it does not hold.

use crate::nonce::Nonce;
use crate::report::verify::{Demands, verify};
use crate::report::{Overall, Report, html};
use crate::seen::Seen;
use crate::wire::{dns, reply};

/// What comes back from a filter, or from who knows whom: never a proof of a nonce that is not in it.
pub fn answer(octets: &[u8]) {
    let Some(nonce) = Nonce::fresh() else { return };
    assert!(!matches!(reply::classify(octets, &nonce), Seen::Proof { .. }));
    let _ = reply::is_decided(octets, &nonce);
    assert!(!dns::read(octets).to_string().is_empty());
}

/// A report from a file: whatever it says, it passes only if its evidence does; and its page has no markup of its own.
pub fn report(octets: &[u8]) {
    let Ok(report) = Report::parse(octets) else { return };
    let verified = verify(&report, Demands::default(), "2026-12-01T00:00:00Z");
    if report.true_digest() != report.digest || report.judgement.overall != Overall::Pass {
        assert!(!verified.passes());
    }
    let page = html::page(&report, &report.judgement);
    assert!(page.len() > 1000);
}
