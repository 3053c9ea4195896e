//! `closedbook policy ruleset`: the packet rules of a sealed namespace, as nft(8) writes them.

use std::process::ExitCode;

use clap::Args;
use closedbook_kernel::nft;
use closedbook_sidecar::inner;

use crate::exit::Failure;

/// `policy ruleset`
#[derive(Args)]
pub(super) struct Ruleset {}

impl Ruleset {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        super::file::print(&nft::sealed(&inner::PORTS).render())?;
        Ok(ExitCode::SUCCESS)
    }
}
