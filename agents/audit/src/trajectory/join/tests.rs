use super::*;

#[test]
fn moments() {
    assert_eq!(moment("1970-01-01T00:00:00.000Z"), Some(0));
    assert_eq!(moment("2026-11-30T21:00:00.250Z"), Some(1_796_072_400_250));
    assert_eq!(moment("2026-11-30T22:00:00.25+01:00"), Some(1_796_072_400_250));
    assert_eq!(moment("1796072400250"), Some(1_796_072_400_250));
    assert_eq!(moment("1796072400.25"), Some(1_796_072_400_250));
    assert_eq!(moment("yesterday"), None);
    assert_eq!(moment("2026-1\u{e4}"), None);
}

#[test]
fn a_line_that_is_no_record_is_named() {
    let text = b"{\"event\":\"flow.open\",\"name\":\"a\"}\n{\"kind\":\"tls\",\"name\":\"a\",\"verdict\":\"deny\"}\n{\"kind\":\"tls\",\"verdict\":\"maybe\",\"name\":null}\n{\"kin";
    let (log, faults) = Log::read("egress.jsonl", text);
    assert_eq!(log.hosts.len(), 1);
    assert_eq!(faults.len(), 2);
    assert_eq!(
        faults[0].to_string(),
        "egress.jsonl, line 3, column 1: `verdict` is none of allow, deny, cut"
    );
    assert!(faults[1].to_string().starts_with("egress.jsonl, line 4, column 6: "), "{}", faults[1]);
}
