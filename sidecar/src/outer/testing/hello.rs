//! ClientHellos, as short as they can be.

/// A ClientHello for this server name, in one record.
pub(crate) fn hello(name: Option<&str>) -> Vec<u8> {
    record(&message(name))
}

/// The same with trailing extensions that make it about this large.
fn message(name: Option<&str>) -> Vec<u8> {
    let mut extensions = Vec::new();
    if let Some(name) = name {
        let host = prefixed(name.as_bytes(), 2);
        let entry = [&[0][..], &host].concat();
        extensions.extend([0, 0]);
        extensions.extend(prefixed(&prefixed(&entry, 2), 2));
    }
    // supported_versions: TLS 1.3
    extensions.extend([0, 43, 0, 3, 2, 3, 4]);
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.push(0);
    body.extend(prefixed(&[0x13, 0x01], 2));
    body.extend(prefixed(&[0], 1));
    body.extend(prefixed(&extensions, 2));
    [&[1][..], &prefixed(&body, 3)].concat()
}

fn record(fragment: &[u8]) -> Vec<u8> {
    [&[22, 3, 1][..], &prefixed(fragment, 2)].concat()
}

fn prefixed(bytes: &[u8], width: usize) -> Vec<u8> {
    let length = bytes.len().to_be_bytes();
    [&length[length.len() - width..], bytes].concat()
}
