//! The gate against a model that has the whole stream before it and no state: it splits where the gate counts, and
//! says every fault of a head where the gate says the first.

use std::collections::BTreeSet;

use closedbook_policy::{Host, Name, Reason, Request, Upgrade};
use proptest::prelude::*;

use super::{End, traced};

#[derive(Debug)]
struct Expected {
    requests: Vec<(usize, Request)>,
    refused: BTreeSet<Reason>,
    held: bool,
}

fn model(stream: &[u8]) -> Expected {
    let mut expected = Expected { requests: Vec::new(), refused: BTreeSet::new(), held: false };
    let mut at = 0;
    while at < stream.len() {
        let rest = &stream[at..];
        let (lines, length) = match find(rest, b"\r\n\r\n") {
            Some(end) => (split(&rest[..end], b"\r\n"), Some(end + 4)),
            None => (split(rest, b"\r\n"), None),
        };
        let head = match judge(&lines, length.is_some()) {
            Ok(head) => head,
            Err(faults) => {
                expected.refused = faults;
                return expected;
            }
        };
        let Some(length) = length else { return expected };
        let upgrade = head.request.upgrade;
        expected.requests.push((at, head.request));
        at += length;
        if upgrade == Upgrade::WebSocket {
            expected.held = true;
            return expected;
        }
        match body(&stream[at..], head.length) {
            Some(Ok(length)) => at += length,
            None => return expected,
            Some(Err(())) => {
                expected.refused.insert(Reason::HttpMalformed);
                return expected;
            }
        }
    }
    expected
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn split<'a>(bytes: &'a [u8], at: &[u8]) -> Vec<&'a [u8]> {
    match find(bytes, at) {
        Some(end) => [vec![&bytes[..end]], split(&bytes[end + at.len()..], at)].concat(),
        None => vec![bytes],
    }
}

struct Head {
    request: Request,
    /// `None` is chunked.
    length: Option<u64>,
}

/// Judges the lines of a head; of one that is not whole, the last line is only looked at for octets no line has.
fn judge(lines: &[&[u8]], whole: bool) -> Result<Head, BTreeSet<Reason>> {
    let mut faults = BTreeSet::new();
    let (judged, partial) = if whole { (lines, &[][..]) } else { lines.split_at(lines.len() - 1) };
    let stray = |line: &[u8]| line.iter().any(|byte| matches!(byte, 0..=8 | 10..=31 | 127));
    let partial: Vec<_> = partial.iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    if judged.iter().any(|line| stray(line)) || partial.iter().any(|line| stray(line)) {
        faults.insert(Reason::HttpMalformed);
    }
    let texts: Vec<String> =
        judged.iter().map(|line| line.iter().map(|byte| char::from(*byte)).collect()).collect();
    let (line, fields) = match texts.split_first() {
        Some((line, fields)) => (line.as_str(), fields),
        None => ("GET / HTTP/1.1", &[][..]),
    };
    faults.extend(line_faults(line));
    let mut values = |name: &str| -> Vec<&str> {
        let mut found = Vec::new();
        for field in fields {
            let (field_name, value) = field.split_once(':').unwrap_or((" ", ""));
            let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            if field_name.is_empty() || !field_name.chars().all(token) {
                faults.insert(Reason::HttpMalformed);
            }
            let lower = field_name.to_ascii_lowercase();
            if lower != name && lower.replace('_', "-") == name {
                faults.insert(Reason::HttpMalformed);
            }
            if lower == name {
                found.push(value);
            }
        }
        found
    };
    let hosts = values("host");
    let lengths = values("content-length");
    let encodings = values("transfer-encoding");
    let upgrades = values("upgrade");
    let expects = values("expect");
    let settings = values("http2-settings");
    let connection = values("connection").join(",").to_ascii_lowercase();
    let options: Vec<_> = connection.split(',').map(str::trim).collect();
    let malformed = |wrong: bool| wrong.then_some(Reason::HttpMalformed);
    let upgrade_fault = |wrong: bool| wrong.then_some(Reason::HttpUpgrade);

    let mut request = None;
    if hosts.len() > 1 {
        faults.insert(Reason::HostDuplicate);
    }
    for value in &hosts {
        match host(value.strip_prefix(' ').unwrap_or(value)) {
            Ok((host, port)) => request = Some((host, port)),
            Err(reason) => _ = faults.insert(reason),
        }
    }
    if hosts.is_empty() && whole {
        faults.insert(Reason::HostMissing);
    }
    let number = |value: &&str| {
        let value = value.strip_prefix(' ').unwrap_or(value);
        value.parse::<u64>().ok().filter(|number| number.to_string() == value && *number < 1 << 63)
    };
    faults.extend(malformed(lengths.len() > 1 || lengths.iter().any(|value| number(value).is_none())));
    let chunked = |value: &&str| value.strip_prefix(' ').unwrap_or(value).eq_ignore_ascii_case("chunked");
    faults.extend(malformed(encodings.len() > 1 || !encodings.iter().all(chunked)));
    faults.extend(malformed(
        expects.len() > 1 || expects.iter().any(|value| !value.trim().eq_ignore_ascii_case("100-continue")),
    ));
    let deciding = ["host", "content-length", "transfer-encoding", "connection", "expect"];
    faults.extend(malformed(
        options.iter().any(|option| deciding.contains(&option.replace('_', "-").as_str())),
    ));
    faults.extend(upgrade_fault(!settings.is_empty() || options.contains(&"http2-settings")));
    faults
        .extend(upgrade_fault(upgrades.iter().any(|value| !value.trim().eq_ignore_ascii_case("websocket"))));
    faults.extend(upgrade_fault(upgrades.len() > 1));
    if whole {
        faults.extend(malformed(!lengths.is_empty() && !encodings.is_empty()));
        faults.extend(malformed(!encodings.is_empty() && line.ends_with("HTTP/1.0")));
        let body =
            lengths.iter().any(|value| value.trim() != "0") || !encodings.is_empty() || !expects.is_empty();
        let proper =
            line.starts_with("GET ") && line.ends_with("1.1") && options.contains(&"upgrade") && !body;
        faults.extend(upgrade_fault(!upgrades.is_empty() && !proper));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let (host, port) = request.unwrap_or((Host::Address([0, 0, 0, 0].into()), None));
    let upgrade = if upgrades.is_empty() { Upgrade::None } else { Upgrade::WebSocket };
    let length =
        if encodings.is_empty() { Some(lengths.first().and_then(number).unwrap_or(0)) } else { None };
    Ok(Head { request: Request { host, port, upgrade }, length })
}

fn line_faults(line: &str) -> Vec<Reason> {
    let parts: Vec<_> = line.split(' ').collect();
    let [method, target, version] = parts.as_slice() else { return vec![Reason::HttpMalformed] };
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let mut faults = Vec::new();
    if ["CONNECT", "TRACE", "PRI"].contains(&method.to_ascii_uppercase().as_str()) {
        faults.push(Reason::HttpMethod);
    }
    if !target.is_empty() && !target.starts_with('/') {
        faults.push(Reason::HttpForm);
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let odd = |c: char| !c.is_ascii_graphic() || "#<>".contains(c);
    let odd = path.contains('`') || query.contains('"') || target.contains(odd);
    let bad_target = target.is_empty() || target.starts_with('/') && odd;
    let bad_method = method.is_empty() || method.len() > 32 || !method.chars().all(token);
    if bad_target || bad_method || !["HTTP/1.0", "HTTP/1.1"].contains(version) {
        faults.push(Reason::HttpMalformed);
    }
    faults
}

fn host(value: &str) -> Result<(Host, Option<u16>), Reason> {
    if value.is_empty() {
        return Err(Reason::HostMissing);
    }
    let (host, port) = match value.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => {
            let number = port.parse::<u16>().ok().filter(|number| *number > 0 && number.to_string() == port);
            (host, Some(number.ok_or(Reason::HttpMalformed)?))
        }
        _ => (value, None),
    };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host = match (bare, host.parse::<std::net::Ipv4Addr>()) {
        (Some(v6), _) => {
            Host::Address(v6.parse::<std::net::Ipv6Addr>().map_err(|_| Reason::HttpMalformed)?.into())
        }
        (None, Ok(v4)) => Host::Address(v4.into()),
        (None, Err(_)) => Host::Name(Name::parse(host).map_err(|_| Reason::HttpMalformed)?),
    };
    Ok((host, port))
}

/// Where a body ends: `None` is *not yet*.
fn body(stream: &[u8], length: Option<u64>) -> Option<Result<usize, ()>> {
    if let Some(length) = length {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        return (stream.len() >= length).then_some(Ok(length));
    }
    let mut at = 0;
    loop {
        let rest = &stream[at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let text = std::str::from_utf8(&rest[..digits]).unwrap();
        let size = match u64::from_str_radix(text, 16) {
            Ok(size) if digits <= 16 && size < 1 << 63 => usize::try_from(size).unwrap(),
            _ if rest.is_empty() => return None,
            _ => return Some(Err(())),
        };
        match &rest[digits..] {
            [] | [b'\r'] => return None,
            [b'\r', b'\n', ..] => at += digits + 2,
            _ => return Some(Err(())),
        }
        if size == 0 {
            return trailers(&stream[at..]).map(|end| end.map(|end| at + end));
        }
        match stream.get(at.saturating_add(size)..).unwrap_or_default() {
            [] | [b'\r'] => return None,
            [b'\r', b'\n', ..] => at += size + 2,
            _ => return Some(Err(())),
        }
    }
}

fn trailers(stream: &[u8]) -> Option<Result<usize, ()>> {
    if stream.starts_with(b"\r\n") {
        return Some(Ok(2));
    }
    let end = find(stream, b"\r\n\r\n");
    let lines = split(&stream[..end.unwrap_or(stream.len())], b"\r\n");
    // Trailers are lines of a head without those that decide: the same judge, on a head that is made for it.
    let request: &[u8] = b"GET / HTTP/1.1";
    let good = judge(&[&[request], lines.as_slice()].concat(), false).is_ok();
    let whole = if end.is_some() { lines.as_slice() } else { &lines[..lines.len() - 1] };
    let decides = whole.iter().any(|line| {
        let name = line.split(|byte| *byte == b':').next().unwrap().to_ascii_lowercase();
        let known = [
            "host",
            "content-length",
            "transfer-encoding",
            "connection",
            "upgrade",
            "expect",
            "http2-settings",
            "cookie",
        ];
        known.iter().any(|known| known.as_bytes() == name)
    });
    let last_good = end.is_none() || judge(&[request, lines[lines.len() - 1], b""], false).is_ok();
    if !good || decides || !last_good {
        return Some(Err(()));
    }
    end.map(|end| Ok(end + 4))
}

fn any_of(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::sample::select(texts).prop_map(str::to_owned)
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => any_of(&["GET / HTTP/1.1", "POST /a?b HTTP/1.1", "PUT / HTTP/1.0"]),
        1 => any_of(&["", "GET /", "CONNECT a:1 HTTP/1.1", "GET http://b/ HTTP/1.1", "GET * HTTP/1.1", "PRI * HTTP/2.0",
            "get /# HTTP/1.1", "GET / HTTP/1.3", "GET  / HTTP/1.1", "TRACE / HTTP/1.1", "G\u{e4}T / HTTP/1.1"]),
    ]
}

fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => any_of(&["Accept: */*", "Connection: keep-alive", "X: y", "Connection: Upgrade", "Expect: 100-continue"]),
        2 => any_of(&["Upgrade: websocket", "Content-Length: 0", "Content-Length: 3", "Transfer-Encoding: chunked"]),
        1 => any_of(&["Host: b.example", "Host:", "Upgrade: h2c", "HTTP2-Settings: a", "Content-Length: +3",
            "Content-Length: 3,3", "Transfer-Encoding: gzip", "Transfer-Encoding: chunked\t", " folded", "A : b", "nocolon",
            "Connection: host", "Content_Length: 3", "Expect: x", "Transfer-Encoding: CHUNKED", ": x", "A\u{e4}: x"]),
    ]
}

fn hosts() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => any_of(&["Host: a.example\r\n", "hOsT:A.EXAMPLE.:80\r\n", "Host: 192.0.2.1:8\r\n", "Host: [2001:db8::1]:443\r\n"]),
        1 => any_of(&["", "Host: u@a.example\r\n", "Host: a.example:0\r\n", "Host: 127.1\r\n", "Host: [::1\r\n",
            "Host: a.example \r\n", "Host: a..b\r\n", "Host: [::1]x\r\n", "Host: a:b:1\r\n"]),
    ]
}

fn bodies() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => any_of(&["", "abc", "0\r\n\r\n", "3\r\nabc\r\n0\r\n\r\n", "A\r\n0123456789\r\n0\r\nX: y\r\n\r\n"]),
        1 => any_of(&["3;x\r\nabc\r\n0\r\n\r\n", "3\r\nabcd", "0\r\nHost: b\r\n\r\n", "0\r\n x\r\n\r\n", "g", "0\r\nX\r\n\r\n",
            "3\nabc", "0\r\nX: \n", "0\r\nCookie: a\r\n\r\n", "8000000000000000\r\n", "7fffffffffffffff\r\nx"]),
    ]
}

fn message() -> impl Strategy<Value = String> {
    (line(), hosts(), proptest::collection::vec(field(), 0..3), bodies()).prop_map(
        |(line, host, fields, body)| {
            let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
            format!("{line}\r\n{host}{fields}\r\n{body}")
        },
    )
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let bent = (
        any::<prop::sample::Index>(),
        prop_oneof![any::<u8>(), proptest::sample::select(&b"\r\n :;\0\t0"[..])],
    );
    (
        proptest::collection::vec(message(), 1..4),
        proptest::collection::vec(bent, 0..2),
        any::<prop::sample::Index>(),
    )
        .prop_map(|(messages, bends, end)| {
            let mut stream: Vec<u8> = messages.concat().into_bytes();
            for (place, value) in bends {
                let place = place.index(stream.len());
                stream[place] = value;
            }
            // One in four streams is cut off.
            let end = end.index(stream.len() * 4);
            stream.truncate(end.max(1));
            stream
        })
}

fn agree(stream: &[u8]) -> Result<(), TestCaseError> {
    let trace = traced(stream);
    let expected = model(stream);
    prop_assert_eq!(&trace.requests, &expected.requests);
    match trace.end {
        End::More => prop_assert!(expected.refused.is_empty() && !expected.held, "{:?}", expected),
        End::Held => prop_assert!(expected.held),
        End::Refused(refusal) => {
            prop_assert!(expected.refused.contains(&refusal.reason), "{} but {:?}", refusal, expected)
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// G5: the same requests at the same octets, and the same end, whatever the stream.
    #[test]
    fn gate_agrees_with_the_model(stream in stream()) {
        agree(&stream)?;
    }

    /// G16: no bytes panic.
    #[test]
    fn hostile_bytes(stream in proptest::collection::vec(any::<u8>(), 0..200)) {
        agree(&stream)?;
    }
}
