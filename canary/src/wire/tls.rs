//! TLS by rustls: a client that tells what it saw of the certificate instead of giving up on it.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    AlertDescription, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme, StreamOwned,
};

use super::{PATIENCE, http, tcp};
use crate::nonce::Nonce;
use crate::seen::Seen;

/// How a hello is made.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether the name goes into the hello.
    pub sni: bool,
    /// ALPN protocols.
    pub alpn: Vec<Vec<u8>>,
    /// For how long each step may take.
    pub within: Duration,
    /// Certificates to trust beside the usual ones, PEM.
    pub trust: Option<String>,
    /// Whether the witness's proof counts under a good certificate alone: where the point is that the right host answers.
    pub strict: bool,
}

impl Options {
    /// An ordinary client that trusts these besides.
    pub fn ordinary(trust: Option<&str>) -> Self {
        Self { sni: true, alpn: Vec::new(), within: PATIENCE, trust: trust.map(str::to_owned), strict: false }
    }
}

/// Speaks TLS to `to` with `name` in the hello, asks one HTTP request for `host`, and says what came of it: a proof, a
/// verified answer, or why not.
pub fn get(to: SocketAddr, name: &str, host: &str, options: &Options, nonce: &Nonce) -> Seen {
    match tcp::connect(to, options.within) {
        Ok(stream) => get_on(stream, name, host, options, nonce),
        Err(seen) => seen,
    }
}

/// The same on a connection, or on whatever shapes its octets on their way.
pub fn get_on<S: Read + Write>(stream: S, name: &str, host: &str, options: &Options, nonce: &Nonce) -> Seen {
    let mut session = match handshake(stream, name, options) {
        Ok(session) => session,
        Err(seen) => return seen,
    };
    session.get(host, options.within, nonce)
}

/// A TLS session whose handshake is over.
#[derive(Debug)]
pub struct Session<S: Read + Write> {
    stream: StreamOwned<ClientConnection, S>,
    name: String,
    strict: bool,
    /// What is wrong with the certificate, if anything is.
    fault: Option<String>,
}

/// Shakes hands. An unverifiable certificate is no error: the session knows.
pub fn handshake<S: Read + Write>(mut stream: S, name: &str, options: &Options) -> Result<Session<S>, Seen> {
    let (config, noted) = config(options).map_err(Seen::failed)?;
    let server_name = ServerName::try_from(name.to_owned()).map_err(Seen::failed)?;
    let mut client = ClientConnection::new(Arc::new(config), server_name).map_err(Seen::failed)?;
    while client.is_handshaking() {
        client.complete_io(&mut stream).map_err(|error| of_handshake(&error))?;
    }
    let fault = noted.fault();
    Ok(Session {
        stream: StreamOwned::new(client, stream),
        name: name.to_owned(),
        strict: options.strict,
        fault,
    })
}

impl<S: Read + Write> Session<S> {
    /// Asks one request on it, the last.
    pub fn get(&mut self, host: &str, within: Duration, nonce: &Nonce) -> Seen {
        self.converse(&http::get(host, nonce), within, nonce)
    }

    /// Sends octets, and says what came back.
    pub fn converse(&mut self, octets: &[u8], within: Duration, nonce: &Nonce) -> Seen {
        if let Err(error) = self.stream.write_all(octets).and_then(|()| self.stream.flush()) {
            return of_handshake(&error);
        }
        let seen = tcp::read(&mut self.stream, nonce, within);
        self.known(seen)
    }

    /// Asks for the head of something, and keeps the connection.
    pub fn head(&mut self, host: &str, within: Duration, nonce: &Nonce) -> Seen {
        self.begin(&http::head_and_keep(host, nonce), within, nonce)
    }

    /// Sends octets and reads the head of the answer, for whoever wants to read on.
    pub fn begin(&mut self, octets: &[u8], within: Duration, nonce: &Nonce) -> Seen {
        if let Err(error) = self.stream.write_all(octets).and_then(|()| self.stream.flush()) {
            return of_handshake(&error);
        }
        let seen = tcp::read_head(&mut self.stream, nonce, within);
        self.known(seen)
    }

    /// What an answer means under the certificate that was shown.
    fn known(&self, seen: Seen) -> Seen {
        match (seen, &self.fault) {
            (Seen::Answered { status, .. }, None) => Seen::Verified { name: self.name.clone(), status },
            (seen @ Seen::Proof { .. }, Some(_)) if !self.strict => seen,
            (Seen::Answered { .. } | Seen::Proof { .. }, Some(why)) => {
                Seen::BadChain { name: self.name.clone(), why: why.clone() }
            }
            (seen, _) => seen,
        }
    }

    /// What is wrong with the certificate, if anything is.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// The protocol that was agreed on.
    pub fn alpn(&self) -> Option<&[u8]> {
        self.stream.conn.alpn_protocol()
    }

    /// The stream, for whoever wants to say something else on it.
    pub fn stream(&mut self) -> &mut StreamOwned<ClientConnection, S> {
        &mut self.stream
    }
}

/// What an error of a handshake means. rustls wraps what it has to say in an IO error.
fn of_handshake(error: &std::io::Error) -> Seen {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match inner {
        Some(Error::AlertReceived(AlertDescription::Unknown(number))) => Seen::Alert { description: *number },
        Some(Error::AlertReceived(alert)) => Seen::Alert { description: u8::from(*alert) },
        Some(Error::InvalidMessage(_)) => Seen::Octets { text: format!("not TLS: {error}") },
        Some(error) => Seen::TlsReply { text: error.to_string() },
        None => Seen::of_error("handshake", error),
    }
}

fn config(options: &Options) -> Result<(ClientConfig, Arc<Noting>), String> {
    let provider = Arc::new(default_provider());
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(pem) = &options.trust {
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let certificate = certificate.map_err(|error| format!("a certificate to trust: {error}"))?;
            roots.add(certificate).map_err(|error| format!("a certificate to trust: {error}"))?;
        }
    }
    let strict = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|error| error.to_string())?;
    let noting = Arc::new(Noting { strict, fault: Mutex::new(Some("no certificate came".to_owned())) });
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(noting.clone())
        .with_no_client_auth();
    config.enable_sni = options.sni;
    config.alpn_protocols.clone_from(&options.alpn);
    // Each try stands by itself.
    config.resumption = rustls::client::Resumption::disabled();
    Ok((config, noting))
}

/// Lets every certificate pass, and remembers whether the strict verifier would have. Signatures are verified all the
/// same: a certificate whose key the server does not have proves nothing.
#[derive(Debug)]
struct Noting {
    strict: Arc<WebPkiServerVerifier>,
    fault: Mutex<Option<String>>,
}

impl Noting {
    fn fault(&self) -> Option<String> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ServerCertVerifier for Noting {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let strict = self.strict.verify_server_cert(end_entity, intermediates, server_name, ocsp, now);
        let fault = strict.err().map(|error| error.to_string());
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.strict.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.strict.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.strict.supported_verify_schemes()
    }
}
