//! How a program is told to trust the lab's authority.
//!
//! | variable | read by |
//! |---|---|
//! | `SSL_CERT_FILE` | OpenSSL (`openssl s_client` too), Python's `ssl`, Go, Ruby, rustls-native-certs, uv, Deno's and Bun's OpenSSL |
//! | `CURL_CA_BUNDLE` | curl |
//! | `REQUESTS_CA_BUNDLE` | Python requests |
//! | `NODE_EXTRA_CA_CERTS` | Node, Bun (adds to the built-in list) |
//! | `DENO_CERT` | Deno |
//! | `GIT_SSL_CAINFO` | git over https |
//! | `PIP_CERT` | pip |
//! | `UV_NATIVE_TLS` | uv: use the platform's list, which SSL_CERT_FILE replaces |
//! | `npm_config_cafile`, `NPM_CONFIG_CAFILE` | npm, pnpm |
//! | `YARN_HTTPS_CA_FILE_PATH` | yarn 2 and later |
//! | `CARGO_HTTP_CAINFO` | cargo |
//! | `AWS_CA_BUNDLE` | aws-cli, boto |
//! | `GRPC_DEFAULT_SSL_ROOTS_FILE_PATH` | gRPC's C core and all that wraps it |
//! | `HTTPLIB2_CA_CERTS` | httplib2 |
//! | `CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE` | gcloud |
//! | `PERL_LWP_SSL_CA_FILE` | Perl's LWP |
//! | `NIX_SSL_CERT_FILE` | Nix, and programs patched by it |
//! | `WGETRC` | wget, which reads no variable for the authority itself: points at a start-up file with `ca_certificate =` |
//!
//! Not reached: programs with a list of their own compiled in (webpki-roots), browsers (NSS reads its own database), and
//! Java, which reads no PEM file: make a store with `keytool -importcert -noprompt -file ca.pem -keystore lab.p12
//! -storetype PKCS12 -storepass changeit` and name it in `JAVA_TOOL_OPTIONS=-Djavax.net.ssl.trustStore=lab.p12
//! -Djavax.net.ssl.trustStorePassword=changeit`.

use std::path::Path;

/// Variables that take the path of a PEM file.
const PEM: [&str; 17] = [
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "DENO_CERT",
    "GIT_SSL_CAINFO",
    "PIP_CERT",
    "npm_config_cafile",
    "NPM_CONFIG_CAFILE",
    "YARN_HTTPS_CA_FILE_PATH",
    "CARGO_HTTP_CAINFO",
    "AWS_CA_BUNDLE",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "HTTPLIB2_CA_CERTS",
    "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
    "PERL_LWP_SSL_CA_FILE",
    "NIX_SSL_CERT_FILE",
];

/// The variables that make a command trust the certificate at `ca`. For wget, [`wgetrc`] must be written to
/// [`wgetrc_path`] first.
pub fn ca_environment(ca: &Path) -> Vec<(String, String)> {
    let path = ca.to_string_lossy();
    let mut all: Vec<_> = PEM.iter().map(|name| ((*name).to_owned(), path.clone().into_owned())).collect();
    all.push(("UV_NATIVE_TLS".to_owned(), "1".to_owned()));
    all.push(("WGETRC".to_owned(), wgetrc_path(ca).to_string_lossy().into_owned()));
    all
}

/// Where wget's start-up file stands: beside the certificate.
pub fn wgetrc_path(ca: &Path) -> std::path::PathBuf {
    ca.with_file_name("wgetrc")
}

/// What wget's start-up file says.
pub fn wgetrc(ca: &Path) -> String {
    format!("ca_certificate = {}\n", ca.display())
}
