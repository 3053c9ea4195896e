//! Texts in disguise: base64, hexadecimal, the escapes of `printf` and `$'...'`.

/// Base64 in either alphabet, with or without padding; white space is passed over. `None` if it is none, or no text.
pub(crate) fn base64(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut held, mut bits) = (0u32, 0u32);
    for c in text.bytes().filter(|b| !b.is_ascii_whitespace()) {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        held = (held << 6) | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits & 0xff) as u8);
        }
    }
    readable(bytes)
}

/// Pairs of hexadecimal digits; anything else between them is passed over.
pub(crate) fn hex(text: &str) -> Option<String> {
    let digits: Vec<u8> = text
        .replace("\\x", "")
        .chars()
        .filter(|c| !c.is_whitespace() && *c != ':')
        .map(|c| c.to_digit(16).map(|digit| digit as u8))
        .collect::<Option<_>>()?;
    if digits.is_empty() {
        return None;
    }
    readable(
        digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect(),
    )
}

fn readable(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    (!text.is_empty() && text.chars().all(|c| !c.is_control() || c.is_whitespace())).then_some(text)
}

/// The escapes that `printf`, `echo -e` and `$'...'` know: `\n`, `\x63`, `\143`, `\0143`, `\u0063`.
pub(crate) fn escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let (radix, most) = match rest.peek() {
            Some('x') => (16, 2),
            Some('u') => (16, 4),
            Some('U') => (16, 8),
            Some('0'..='7') => (8, 4),
            _ => {
                out.push_str(&simple(rest.next()));
                continue;
            }
        };
        if radix == 16 {
            rest.next();
            // JavaScript and Rust: `\u{63}`.
            if rest.peek() == Some(&'{') {
                rest.next();
            }
        }
        let most = if radix == 8 && rest.peek() != Some(&'0') { 3 } else { most };
        let mut code = 0u32;
        for _ in 0..most {
            let Some(digit) = rest.peek().and_then(|c| c.to_digit(radix)) else { break };
            code = code.wrapping_mul(radix).wrapping_add(digit);
            rest.next();
        }
        if rest.peek() == Some(&'}') && radix == 16 {
            rest.next();
        }
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    out
}

fn simple(c: Option<char>) -> String {
    match c {
        Some('n') => "\n".into(),
        Some('t') => "\t".into(),
        Some('r') => "\r".into(),
        Some('a' | 'b' | 'f' | 'v' | 'e' | 'E') => " ".into(),
        Some(c @ ('\\' | '\'' | '"' | '?' | '/' | '`' | '$')) => c.into(),
        Some('\n') => String::new(),
        Some(c) => format!("\\{c}"),
        None => "\\".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguises_are_taken_off() {
        assert_eq!(base64("Y3VybCBleGFtcGxlLmNvbQ==").as_deref(), Some("curl example.com"));
        assert_eq!(base64("Y3VybA").as_deref(), Some("curl"));
        assert_eq!(base64("not base64!"), None);
        assert_eq!(hex("6375 726c").as_deref(), Some("curl"));
        assert_eq!(hex(r"\x63\x75\x72\x6c").as_deref(), Some("curl"));
        assert_eq!(escapes(r"\x63\165r\u006c\n\0143 \'\q"), "curl\nc '\\q");
        assert_eq!(escapes("\\"), "\\");
    }
}
