//! A key share of any size beside an ordinary one: the size of a post-quantum hello, without its mathematics.
//!
//! The large one belongs to a group that is reserved for this (GREASE, RFC 8701 section 3.1: servers pass over it), so
//! every server takes the X25519 share beside it, and a session comes of it.

use rustls::crypto::ring::kx_group::X25519;
use rustls::crypto::{ActiveKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::{Error, NamedGroup, ProtocolVersion};

const GREASE: NamedGroup = NamedGroup::Unknown(0x2a2a);

/// How large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// As X25519MLKEM768's: 1184 and 32 octets.
    PostQuantum,
    /// More than 8 KiB.
    NineKib,
    /// As much as fits one record.
    FifteenKib,
}

impl Share {
    /// The group that makes it.
    pub(super) fn group(self) -> &'static dyn SupportedKxGroup {
        match self {
            Share::PostQuantum => &Large { octets: 1216 },
            Share::NineKib => &Large { octets: 9 * 1024 },
            Share::FifteenKib => &Large { octets: 15 * 1024 },
        }
    }
}

#[derive(Debug)]
struct Large {
    octets: usize,
}

impl SupportedKxGroup for Large {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Box::new(Begun { share: vec![0x5a; self.octets], ordinary: X25519.start()? }))
    }

    fn name(&self) -> NamedGroup {
        GREASE
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

struct Begun {
    share: Vec<u8>,
    ordinary: Box<dyn ActiveKeyExchange>,
}

impl ActiveKeyExchange for Begun {
    fn complete(self: Box<Self>, _: &[u8]) -> Result<SharedSecret, Error> {
        Err(Error::General("the server chose a group that is reserved for nobody".to_owned()))
    }

    fn hybrid_component(&self) -> Option<(NamedGroup, &[u8])> {
        Some((self.ordinary.group(), self.ordinary.pub_key()))
    }

    fn complete_hybrid_component(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        self.ordinary.complete(peer)
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn group(&self) -> NamedGroup {
        GREASE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ordinary_share_stands_beside_the_large_one() {
        let begun = Share::PostQuantum.group().start().unwrap();
        assert_eq!((begun.pub_key().len(), begun.group()), (1216, GREASE));
        let (group, share) = begun.hybrid_component().unwrap();
        assert_eq!((group, share.len()), (NamedGroup::X25519, 32));
        assert!(begun.complete(&[0; 32]).is_err());
    }
}
