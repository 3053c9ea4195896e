//! Who vouches for a report: an Ed25519 signature (RFC 8032) over its digest.
//!
//! Keys are the files that OpenSSL makes: `openssl genpkey -algorithm ed25519` (PKCS#8, RFC 8410) and
//! `openssl pkey -pubout`.

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::document::Report;

/// What an Ed25519 key's SubjectPublicKeyInfo begins with (RFC 8410 section 4); the 32 octets of the key follow.
const SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// What is signed besides the digest, so that no signature for something else is one for a report.
const CONTEXT: &str = "closedbook canary report 1\n";

/// A signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// `ed25519`.
    pub algorithm: String,
    /// The public key, in hexadecimal digits: to say who claims to have signed. What it is checked with is the reader's.
    pub key: String,
    /// Over `closedbook canary report 1`, a line feed and the digest; in hexadecimal digits.
    pub value: String,
}

/// What is wrong with a key or a signature.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadSignature {
    /// No private key of this kind.
    #[error("there is no Ed25519 private key in it (PEM, PKCS#8: openssl genpkey -algorithm ed25519)")]
    PrivateKey,
    /// No public key of this kind.
    #[error("there is no Ed25519 public key in it (PEM: openssl pkey -pubout)")]
    PublicKey,
    /// Nobody has signed.
    #[error("it is not signed")]
    Missing,
    /// Another algorithm.
    #[error("it is signed with {0:?}, and this canary checks ed25519")]
    Algorithm(String),
    /// Not by this key, or not this report.
    #[error("its signature is not that of this key over this report; it says it was made with key {0}")]
    Wrong(String),
}

/// Whoever can sign.
#[derive(Debug)]
pub struct Signer(Ed25519KeyPair);

/// Whom to believe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signatory([u8; 32]);

impl Signer {
    /// From a key file.
    pub fn from_pem(pem: &[u8]) -> Result<Self, BadSignature> {
        let key = PrivatePkcs8KeyDer::from_pem_slice(pem).map_err(|_| BadSignature::PrivateKey)?;
        // OpenSSL's files are of version 1, without the public key.
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(key.secret_pkcs8_der());
        pair.map(Self).map_err(|_| BadSignature::PrivateKey)
    }

    /// Signs the report's digest.
    pub fn sign(&self, report: &mut Report) {
        let value = self.0.sign(message(&report.digest).as_bytes());
        report.signature = Some(Signature {
            algorithm: "ed25519".to_owned(),
            key: hex(self.0.public_key().as_ref()),
            value: hex(value.as_ref()),
        });
    }
}

impl Signatory {
    /// From a file with the public key.
    pub fn from_pem(pem: &[u8]) -> Result<Self, BadSignature> {
        let key = SubjectPublicKeyInfoDer::from_pem_slice(pem).map_err(|_| BadSignature::PublicKey)?;
        let octets = key.as_ref().strip_prefix(&SPKI).and_then(|octets| octets.try_into().ok());
        octets.map(Self).ok_or(BadSignature::PublicKey)
    }

    /// Whether he has signed this report. That the digest is the report's is not checked here.
    pub fn has_signed(&self, report: &Report) -> Result<(), BadSignature> {
        let signature = report.signature.as_ref().ok_or(BadSignature::Missing)?;
        if signature.algorithm != "ed25519" {
            return Err(BadSignature::Algorithm(signature.algorithm.clone()));
        }
        let wrong = || BadSignature::Wrong(signature.key.clone());
        let value = unhex(&signature.value).ok_or_else(wrong)?;
        let key = UnparsedPublicKey::new(&ED25519, self.0);
        key.verify(message(&report.digest).as_bytes(), &value).map_err(|_| wrong())
    }
}

fn message(digest: &str) -> String {
    format!("{CONTEXT}{digest}")
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits
        .chunks(2)
        .map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()))
        .collect()
}
