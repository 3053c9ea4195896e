//! The lab as the uplink of a run.

use std::ffi::OsString;
use std::net::SocketAddr;

use closedbook_kernel::namespace::Namespace;

use crate::exit::Failure;

/// A lab that lives as long as this value.
pub(super) struct Lab {
    namespaces: Vec<Namespace>,
}

impl Lab {
    pub(super) fn start() -> Result<Self, Failure> {
        Err(Failure::bug("not yet"))
    }
    pub(super) fn namespaces(&self) -> &[Namespace] {
        &self.namespaces
    }
    pub(super) fn environment(&self) -> Vec<(String, OsString)> {
        Vec::new()
    }
    pub(super) fn resolvers(&self) -> Vec<SocketAddr> {
        Vec::new()
    }
}
