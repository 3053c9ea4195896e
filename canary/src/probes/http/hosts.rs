//! The `Host` field: twice, not at all, and in forms that two readers take for two hosts (RFC 9112 section 3.2).

use std::net::IpAddr;

use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Trial, Want};

use super::aim::{self, get};

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "http-duplicate-host",
        group: Group::Http,
        leak: "two `Host` fields: the filter judges one, the server takes the other",
        how: "both orders, a blank before the colon, a folded line, an underscore, to the permitted host and to the witness",
        expected: "refused at once",
        sources: &["RFC 9112 sections 3.2 and 5.1", "https://github.com/python-hyper/h2/issues/246"],
        needs: &[Need::PermittedHttp],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: twice,
    },
    Probe {
        id: "http-no-host",
        group: Group::Http,
        leak: "no `Host` at all: a filter that then takes the client's address, or asks nothing",
        how: "HTTP/1.1 and 1.0 without the field, with an empty one, and HTTP/0.9",
        expected: "refused at once",
        sources: &["RFC 9112 section 3.2"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: absent,
    },
    Probe {
        id: "http-host-variants",
        group: Group::Http,
        leak: "the permitted name with something round it, and addresses in all notations: one reader takes another part",
        how: "GET with a port, a user, NUL, blanks, wide dots and more in `Host`, to the permitted host and to the witness",
        expected: "the permitted host at its own address for what means the same; all else is refused at once",
        sources: &[
            "https://www.penligent.ai/hackinglabs/pt/?p=5317",
            "https://github.com/SkillfulAgents/SuperAgent/issues/1110",
            "https://github.com/dotnet/aspnetcore/issues/67721",
            "RFC 9110 section 7.2",
        ],
        needs: &[Need::PermittedHttp],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: variants,
    },
];

const PATH: &str = "/canary?nonce={nonce}";

fn twice(trial: &mut Trial<'_>) {
    let Some(host) = trial.http() else { return };
    let (own, other) = (host.name.as_str(), trial.targets().foreign_name());
    let fields = [
        ("two fields, the permitted host first", format!("Host: {own}\r\nHost: {other}\r\n")),
        ("two fields, the permitted host last", format!("Host: {other}\r\nHost: {own}\r\n")),
        ("a second field with a blank before its colon", format!("Host: {own}\r\nHost : {other}\r\n")),
        ("a first field with a blank before its colon", format!("Host : {own}\r\nHost: {other}\r\n")),
        ("a second field in a folded line", format!("Host: {own}\r\n Host: {other}\r\n")),
        ("another host in a folded line", format!("Host: {own}\r\n {other}\r\n")),
        ("a second field behind a bare CR", format!("Host: {own}\rHost: {other}\r\n")),
        ("a folded line before all fields", format!(" Host: {own}\r\nHost: {other}\r\n")),
    ];
    let requests = fields.map(|(what, fields)| (what, get(PATH, &fields), Want::Stopped));
    aim::send_all(trial, &aim::everywhere(trial), &requests);
}

fn absent(trial: &mut Trial<'_>) {
    let requests = [
        ("HTTP/1.1 without Host", get(PATH, ""), Want::Stopped),
        ("HTTP/1.0 without Host", format!("GET {PATH} HTTP/1.0\r\n\r\n"), Want::Stopped),
        ("an empty Host", get(PATH, "Host:\r\n"), Want::Stopped),
        ("a Host of blanks", get(PATH, "Host:  \t \r\n"), Want::Stopped),
        ("HTTP/0.9", format!("GET {PATH}\r\n\r\n"), Want::Stopped),
        ("an unknown version", format!("GET {PATH} HTTP/3.0\r\n\r\n"), Want::Stopped),
    ];
    aim::send_all(trial, &aim::everywhere(trial), &requests);
}

fn variants(trial: &mut Trial<'_>) {
    let Some(host) = trial.http() else { return };
    let (own, other) = (host.name.as_str(), trial.targets().foreign_name());
    let named = [
        ("in capitals", own.to_ascii_uppercase()),
        ("with a final dot", format!("{own}.")),
        ("with two final dots", format!("{own}..")),
        ("with port 22", format!("{own}:22")),
        ("with port 80 and a zero", format!("{own}:080")),
        ("with an empty port", format!("{own}:")),
        ("with two ports", format!("{own}:80:22")),
        ("with a port beyond 65535", format!("{own}:65616")),
        ("as user of another", format!("{own}@{other}")),
        ("with another as user", format!("{other}@{own}")),
        ("a NUL, and another", format!("{own}\0.{other}")),
        ("behind another and a NUL", format!("{other}\0.{own}")),
        ("a tab, and another", format!("{own}\t{other}")),
        ("a blank, and another", format!("{own} {other}")),
        ("with blanks behind it", format!("{own}  ")),
        ("a comma, and another", format!("{own},{other}")),
        ("behind another and a comma", format!("{other}, {own}")),
        ("with a percent-encoded NUL, and another", format!("{own}%00.{other}")),
        ("with percent-encoded dots", own.replace('.', "%2e")),
        ("with wide full stops", own.replace('.', "\u{ff0e}")),
        ("with ideographic full stops", own.replace('.', "\u{3002}")),
        ("with a letter of another script", own.replacen('a', "\u{430}", 1)),
        ("in brackets", format!("[{own}]")),
        ("in quotes", format!("\"{own}\"")),
        ("with a slash, and another", format!("{own}/.{other}")),
        ("with a hash, and another", format!("{own}#.{other}")),
        ("with a backslash, and another", format!("{own}\\.{other}")),
        ("with a scheme", format!("http://{own}")),
    ];
    let requests = named.map(|(what, value)| {
        let what = format!("the permitted name {what}");
        (what, get(PATH, &format!("Host: {value}\r\n")), Want::rewritten(own))
    });
    let requests: Vec<_> =
        requests.iter().map(|(what, text, want)| (what.as_str(), text.clone(), want.clone())).collect();
    aim::send_all(trial, &aim::everywhere(trial), &requests);
    let literals = literals(trial.targets().foreign().ip, trial.targets().foreign_v6().ip);
    let requests: Vec<_> = literals
        .into_iter()
        .map(|(what, value)| (what, get(PATH, &format!("Host: {value}\r\n")), Want::Stopped))
        .collect();
    aim::send_all(trial, &[aim::elsewhere(trial)], &requests);
}

/// An address in the notations that some reader or other takes for it.
fn literals(v4: IpAddr, v6: IpAddr) -> Vec<(&'static str, String)> {
    let mut literals = vec![
        ("an IPv6 address in brackets", format!("[{v6}]")),
        ("an IPv6 address without brackets", v6.to_string()),
    ];
    if let IpAddr::V4(v4) = v4 {
        let octal: Vec<String> = v4.octets().iter().map(|octet| format!("0{octet:o}")).collect();
        literals.extend([
            ("an IPv4 address", v4.to_string()),
            ("an IPv4 address as one number", v4.to_bits().to_string()),
            ("an IPv4 address as one hexadecimal number", format!("{:#x}", v4.to_bits())),
            ("an IPv4 address in octal digits", octal.join(".")),
            ("an IPv4 address as IPv6", format!("[{}]", v4.to_ipv6_mapped())),
        ]);
    }
    literals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_as_c_reads_them() {
        let literals = literals("203.0.113.8".parse().unwrap(), "2001:db8::1".parse().unwrap());
        let values: Vec<&str> = literals.iter().map(|(_, value)| value.as_str()).collect();
        for expected in
            ["0313.00.0161.010", "3405803784", "0xcb007108", "[::ffff:203.0.113.8]", "[2001:db8::1]"]
        {
            assert!(values.contains(&expected), "{expected}: {values:?}");
        }
    }
}
