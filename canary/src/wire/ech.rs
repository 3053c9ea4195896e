//! Encrypted ClientHello (RFC 9849): what its extension looks like from outside, and a client that sends GREASE.

use ring::rand::{SecureRandom as _, SystemRandom};
use rustls::client::{EchGreaseConfig, EchMode};
use rustls::crypto::hpke::{
    EncapsulatedSecret, Hpke, HpkeOpener, HpkePrivateKey, HpkePublicKey, HpkeSealer, HpkeSuite,
};
use rustls::internal::msgs::enums::{HpkeAead, HpkeKdf, HpkeKem};
use rustls::internal::msgs::handshake::HpkeSymmetricCipherSuite;
use rustls::{Error, OtherError};

use super::hello::sized_u16;

/// Octets of an X25519 public key.
const KEY: usize = 32;

/// The extension as an outer hello has it (RFC 9849 section 5): HKDF-SHA256 and AES-128-GCM, a configuration's number,
/// a key, and a payload as long as that of a browser.
pub fn outer() -> Vec<u8> {
    let mut body = vec![0, 0, 1, 0, 1, 0x2b];
    body.extend(sized_u16(&[0x33; KEY]));
    body.extend(sized_u16(&[0xc5; 208]));
    body
}

/// The extension as only an inner hello has it: a number. In the clear it contradicts itself.
pub fn inner() -> Vec<u8> {
    vec![1]
}

/// What a client sends that has no configuration (RFC 9849 section 6.2): octets at random in place of a key and of a
/// sealed hello. Nobody opens them, so nothing has to be sealed.
pub(super) fn grease() -> EchMode {
    EchMode::Grease(EchGreaseConfig::new(&Grease, HpkePublicKey(vec![0x09; KEY])))
}

#[derive(Debug)]
struct Grease;

#[derive(Debug)]
struct NothingSealed;

impl Hpke for Grease {
    fn seal(
        &self,
        _: &[u8],
        _: &[u8],
        _: &[u8],
        _: &HpkePublicKey,
    ) -> Result<(EncapsulatedSecret, Vec<u8>), Error> {
        Err(no_key())
    }

    /// All that is wanted of it is the key that goes into the extension.
    fn setup_sealer(
        &self,
        _: &[u8],
        _: &HpkePublicKey,
    ) -> Result<(EncapsulatedSecret, Box<dyn HpkeSealer>), Error> {
        let mut key = vec![0_u8; KEY];
        SystemRandom::new().fill(&mut key).map_err(|_| Error::FailedToGetRandomBytes)?;
        Ok((EncapsulatedSecret(key), Box::new(NothingSealed)))
    }

    fn open(
        &self,
        _: &EncapsulatedSecret,
        _: &[u8],
        _: &[u8],
        _: &[u8],
        _: &HpkePrivateKey,
    ) -> Result<Vec<u8>, Error> {
        Err(no_key())
    }

    fn setup_opener(
        &self,
        _: &EncapsulatedSecret,
        _: &[u8],
        _: &HpkePrivateKey,
    ) -> Result<Box<dyn HpkeOpener>, Error> {
        Err(no_key())
    }

    fn generate_key_pair(&self) -> Result<(HpkePublicKey, HpkePrivateKey), Error> {
        Err(no_key())
    }

    fn suite(&self) -> HpkeSuite {
        HpkeSuite {
            kem: HpkeKem::DHKEM_X25519_HKDF_SHA256,
            sym: HpkeSymmetricCipherSuite { kdf_id: HpkeKdf::HKDF_SHA256, aead_id: HpkeAead::AES_128_GCM },
        }
    }
}

impl HpkeSealer for NothingSealed {
    fn seal(&mut self, _: &[u8], _: &[u8]) -> Result<Vec<u8>, Error> {
        Err(no_key())
    }
}

fn no_key() -> Error {
    Error::Other(OtherError(std::sync::Arc::new(std::io::Error::other("GREASE has no key"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_is_as_long_as_it_says() {
        let outer = outer();
        assert_eq!(outer.len(), 6 + 2 + KEY + 2 + 208);
        assert_eq!((outer[0], outer[7], outer[41]), (0, 32, 208));
    }

    #[test]
    fn grease_has_a_key_of_its_own_each_time_and_seals_nothing() {
        let public = HpkePublicKey(vec![9; KEY]);
        let (one, mut sealer) = Grease.setup_sealer(&[], &public).unwrap();
        let (other, _) = Grease.setup_sealer(&[], &public).unwrap();
        assert_eq!((one.0.len(), one.0 == other.0), (KEY, false));
        assert!(sealer.seal(&[], b"a hello").is_err());
    }
}
