//! The lab's certificate authority: made at the start, kept in memory, gone with the lab.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SerialNumber,
};
use ring::digest;
use rustls::ServerConfig;
use rustls::crypto::ring::{default_provider, sign::any_ecdsa_type};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::{CertifiedKey, SigningKey};

use crate::LabError;
use crate::fault::{Fault, Faults};

/// The name in the certificate of a server that was not told which name is wanted.
pub const NAMELESS: &str = "no-sni.test";
/// The name in the certificate of a host with [`Fault::WrongName`].
const WRONG: &str = "wrong-name.test";
/// Certificates kept. Beyond, they are made anew each time: a scan of names must not grow the lab.
const CACHE_LIMIT: usize = 4096;
/// Clock skew that a client is forgiven.
const BEFORE: Duration = Duration::from_secs(24 * 3600);
/// Under the 398 days that browsers accept.
const AFTER: Duration = Duration::from_secs(90 * 24 * 3600);

/// How far off a certificate with [`Fault::Expired`] or [`Fault::NotYet`] is.
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// Issues a certificate for whatever name a client asks for.
pub struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
    /// One key for all servers: making one costs more than signing.
    key: KeyPair,
    signer: Arc<dyn SigningKey>,
    cache: Mutex<HashMap<String, Arc<CertifiedKey>>>,
}

impl Authority {
    /// A fresh authority with a fresh key.
    pub(crate) fn new() -> Result<Self, LabError> {
        let key = KeyPair::generate()?;
        let mut params = params(&hash(key.public_key_raw()))?;
        // Two labs on one machine must not have authorities that differ in their key alone.
        let tag = crate::witness::hex(hash(key.public_key_raw()).get(..4).unwrap_or_default());
        params.distinguished_name.push(DnType::CommonName, format!("closedbook lab {tag}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let pem = params.self_signed(&key)?.pem();
        let leaf = KeyPair::generate()?;
        let signer = any_ecdsa_type(&PrivatePkcs8KeyDer::from(leaf.serialize_der()).into())?;
        let issuer = Issuer::new(params, key);
        Ok(Self { pem, issuer, key: leaf, signer, cache: Mutex::default() })
    }

    /// The authority's certificate, PEM.
    pub fn ca_pem(&self) -> &str {
        &self.pem
    }

    /// What a TLS server of the lab needs: TLS 1.2 and 1.3, `h2` and `http/1.1`.
    pub(crate) fn server(self: &Arc<Self>, faults: Arc<Faults>) -> Result<ServerConfig, LabError> {
        let resolver = Resolver { authority: self.clone(), faults };
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(resolver));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }

    /// The certificate for `name`; `None` if the name can't stand in one.
    fn certificate(&self, name: &str) -> Option<Arc<CertifiedKey>> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cache.get(name) {
            return Some(known.clone());
        }
        let made = Arc::new(self.issue(name, |time| time).ok()?);
        if cache.len() < CACHE_LIMIT {
            cache.insert(name.to_owned(), made.clone());
        }
        Some(made)
    }

    /// One for `name` that is good at another time, made anew for whoever asks.
    fn untimely(&self, name: &str, shift: fn(SystemTime) -> SystemTime) -> Option<Arc<CertifiedKey>> {
        self.issue(name, shift).ok().map(Arc::new)
    }

    fn issue(&self, name: &str, shift: fn(SystemTime) -> SystemTime) -> Result<CertifiedKey, LabError> {
        let mut params = params(&hash(name.as_bytes()))?;
        let now = shift(SystemTime::now());
        (params.not_before, params.not_after) = ((now - BEFORE).into(), (now + AFTER).into());
        params.subject_alt_names = vec![rcgen::SanType::DnsName(name.try_into()?)];
        params.distinguished_name.push(DnType::OrganizationName, "closedbook lab");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        // OpenSSL's strict mode, which newer Pythons switch on, wants it (RFC 5280 section 4.2.1.1).
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&self.key, &self.issuer)?;
        Ok(CertifiedKey::new(vec![certificate.der().clone()], self.signer.clone()))
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Resolver {
    authority: Arc<Authority>,
    faults: Arc<Faults>,
}

impl ResolvesServerCert for Resolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name().unwrap_or(NAMELESS);
        match self.faults.of(name) {
            Some(Fault::WrongName) => self.authority.certificate(WRONG),
            Some(Fault::Expired) => self.authority.untimely(name, |time| time - YEAR),
            Some(Fault::NotYet) => self.authority.untimely(name, |time| time + YEAR),
            _ => self.authority.certificate(name),
        }
    }
}

fn params(seed: &[u8]) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    let now = SystemTime::now();
    params.not_before = (now - BEFORE).into();
    params.not_after = (now + AFTER).into();
    // Of its own for each name: NSS refuses two certificates with one serial. Positive and under 20 octets (RFC 5280
    // section 4.1.2.2).
    let mut serial = vec![0x01];
    serial.extend(seed.iter().take(15));
    params.serial_number = Some(SerialNumber::from(serial));
    Ok(params)
}

fn hash(bytes: &[u8]) -> Vec<u8> {
    digest::digest(&digest::SHA256, bytes).as_ref().to_vec()
}
