use std::env;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use closedbook_lab::load::{self, Exchange, Http, LoadError, Percentiles, Report, Tally};

use super::print;
use crate::exit::{Failure, chain};

/// Where Debian, Ubuntu and Alpine keep the authorities of the machine.
const SYSTEM_ROOTS: &str = "/etc/ssl/certs/ca-certificates.crt";

#[derive(clap::Args)]
pub(crate) struct Load {
    /// What to ask for.
    #[arg(long, value_name = "URL")]
    url: load::Uri,
    /// Connections in all.
    #[arg(long, default_value_t = 1)]
    connections: usize,
    /// Connections at a time; all of them unless given.
    #[arg(long)]
    parallel: Option<usize>,
    /// Requests on each connection, one after the other.
    #[arg(long, default_value_t = 1)]
    requests: usize,
    /// Check that the body is the lab's `/bytes` pattern.
    #[arg(long, conflicts_with = "upload")]
    bytes: bool,
    /// Send this many octets of the pattern, and check the hash in the answer.
    #[arg(long, value_name = "OCTETS")]
    upload: Option<u64>,
    /// HTTP/2.
    #[arg(long)]
    http2: bool,
    /// Keep every connection idle for this long, then make one more request on it.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    hold: f64,
    /// How long a step may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    timeout: f64,
    /// As one line of JSON.
    #[arg(long)]
    json: bool,
}

impl Load {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let json = self.json;
        let load = self.load()?;
        let runtime = tokio::runtime::Runtime::new()
            .map_err(|error| Failure::host(format!("can't start the client's threads: {error}")))?;
        let report = runtime.block_on(load::run(load)).map_err(failure)?;
        if json {
            let line = serde_json::to_string(&report)
                .map_err(|error| Failure::bug(format!("can't write the report: {error}")))?;
            print(&format!("{line}\n"));
        } else {
            print(&table(&report));
        }
        Ok(ExitCode::from(if report.is_clean() { 0 } else { 1 }))
    }

    fn load(self) -> Result<load::Load, Failure> {
        Ok(load::Load {
            url: self.url,
            connections: self.connections,
            parallel: self.parallel.unwrap_or(self.connections),
            requests: self.requests,
            exchange: match (self.upload, self.bytes) {
                (Some(count), _) => Exchange::Upload(count),
                (None, true) => Exchange::Pattern,
                (None, false) => Exchange::Get,
            },
            http: if self.http2 { Http::Two } else { Http::One },
            hold: seconds("--hold", self.hold)?,
            timeout: seconds("--timeout", self.timeout)?,
            roots: env::var_os("SSL_CERT_FILE").map_or_else(|| SYSTEM_ROOTS.into(), PathBuf::from),
        })
    }
}

fn seconds(flag: &str, number: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(number).map_err(|error| Failure::usage(format!("{flag} {number}: {error}")))
}

fn failure(error: LoadError) -> Failure {
    let text = chain(&error);
    match error {
        LoadError::Url(_) | LoadError::Hold { .. } => Failure::usage(text),
        LoadError::Roots { .. } => Failure::usage(text).remedy("name the lab's ca.pem in SSL_CERT_FILE"),
        LoadError::Resolve { .. } | LoadError::Tls(_) => Failure::refused(text),
    }
}

fn table(report: &Report) -> String {
    let mut lines = vec![tally("connections", &report.connections), tally("requests", &report.requests)];
    let times = [
        ("connect", report.connect_ms),
        ("tls", report.tls_ms),
        ("head", report.head_ms),
        ("total", report.total_ms),
    ];
    lines.extend(times.into_iter().map(|(what, times)| percentiles(what, times)));
    if report.checked > 0 {
        lines.push(format!("{:<12} {} of {} as they should be", "content", report.equal, report.checked));
    }
    let (rate, seconds) = (report.requests_per_second, report.seconds);
    let megabytes = report.bytes_per_second / 1e6;
    lines.push(format!("{:<12} {rate:.1} requests/s, {megabytes:.1} MB/s, {seconds:.3} s", "rate"));
    lines.join("\n") + "\n"
}

fn tally(what: &str, tally: &Tally) -> String {
    let errors: Vec<String> = tally.errors.iter().map(|(kind, count)| format!(", {kind}: {count}")).collect();
    format!("{what:<12} {} ok, {} failed{}", tally.ok, tally.failed(), errors.concat())
}

fn percentiles(what: &str, times: Percentiles) -> String {
    let Percentiles { p50, p90, p99, max } = times;
    format!("{what:<12} p50 {p50:.2} ms, p90 {p90:.2}, p99 {p99:.2}, max {max:.2}")
}
