use super::*;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn again(file: &File) -> (Journal, Past) {
    Journal::open(file.try_clone().unwrap()).unwrap()
}

/// G6: the next proxy knows what the former ones promised, in their order, and what was in force last.
#[test]
fn the_next_proxy_goes_on() {
    let file = Journal::blank().unwrap();
    let (first, past) = again(&file);
    assert_eq!(past, Past::default());
    first.begin("setup").unwrap();
    first.lease(&name("b.example")).unwrap();
    first.lease(&name("a.example")).unwrap();
    drop(first);
    let (second, past) = again(&file);
    assert_eq!((past.proxies, past.leases), (1, vec![name("b.example"), name("a.example")]));
    assert_eq!((past.ruling, past.entered), (None, vec!["setup".into()]));
    second.begin("setup").unwrap();
    second.ruling("{\"a\": \"policy\\n\"}", "agent", 2).unwrap();
    second.ruling("{\"a\": \"policy\\n\"}", "verifier", 3).unwrap();
    second.lease(&name("c.example")).unwrap();
    let (third, past) = again(&file);
    assert_eq!(past.proxies, 2);
    assert_eq!(past.entered, ["setup", "agent", "verifier"].map(Box::from));
    assert_eq!(past.leases, [name("b.example"), name("a.example"), name("c.example")]);
    let ruling = past.ruling.unwrap();
    assert_eq!((&*ruling.policy, &*ruling.phase, ruling.epoch), ("{\"a\": \"policy\\n\"}", "verifier", 3));
    third.ruling("{}", "agent", 4).unwrap();
    let (_, past) = again(&file);
    let ruling = past.ruling.unwrap();
    assert_eq!((&*ruling.policy, &*ruling.phase, ruling.epoch), ("{}", "agent", 4));
}

/// A proxy that dies while it writes has told nobody yet; what it wrote before stands.
#[test]
fn half_a_line_is_as_none() {
    let file = Journal::blank().unwrap();
    let (journal, _) = again(&file);
    journal.lease(&name("a.example")).unwrap();
    let whole = file.metadata().unwrap().len();
    journal.ruling("{}", "agent", 2).unwrap();
    let longer = file.metadata().unwrap().len();
    for cut in (whole..longer).rev() {
        file.set_len(cut).unwrap();
        let (_, past) = again(&file);
        assert_eq!(past.leases, [name("a.example")]);
        assert_eq!(past.ruling, None);
    }
}

/// G6, G16: a proxy that can't tell what was in force does not start in something wider.
#[test]
fn nonsense_starts_nothing() {
    for text in
        ["?\n", "{\"lease\":\"-\"}\n", "{\"phase\":{\"name\":\"agent\",\"epoch\":1}}\n", "{\"other\":1}\n"]
    {
        let mut file = Journal::blank().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        assert!(Journal::open(file).is_err(), "{text}");
    }
}

/// G16: it does not grow without bound.
#[test]
fn bounded() {
    let file = Journal::blank().unwrap();
    let (journal, _) = again(&file);
    let large = "x".repeat(20 * 1024 * 1024);
    for epoch in 0..3 {
        journal.ruling(&format!("{epoch}{large}"), "agent", epoch).unwrap();
    }
    assert!(journal.ruling(&large, "agent", 9).is_err());
    let (_, past) = again(&file);
    assert_eq!(past.ruling.unwrap().epoch, 2);
}
