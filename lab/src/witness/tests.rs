use super::*;

#[test]
fn the_file_has_one_line_for_each_arrival_and_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("witness.jsonl");
    let witness = Witness::new(Some(&path)).unwrap();
    witness.add(Arrival::new(Kind::Udp, b"nonce=one"));
    witness.add(Arrival::new(Kind::Icmp, &[0xff; 300]));
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Arrival> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, witness.arrivals());
    assert_eq!(lines[0].nonce.as_deref(), Some("one"));
    assert_eq!((lines[1].bytes, lines[1].hex.len()), (300, 512));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn who_waits_is_told_of_what_came_before_and_of_what_comes_after() {
    let witness = Witness::new(None).unwrap();
    witness.add(Arrival::new(Kind::Udp, b"N0NCE-before"));
    let long = Duration::from_secs(60);
    assert!(witness.seen(|one| one.carries("N0NCE-before"), long).await.is_some());
    let other = witness.clone();
    let waiting = tokio::spawn(async move { other.seen(|one| one.carries("N0NCE-after"), long).await });
    witness.add(Arrival::new(Kind::Udp, b"x"));
    witness.add(Arrival::new(Kind::Udp, b"N0NCE-after"));
    assert!(waiting.await.unwrap().is_some());
    assert_eq!(witness.seen(|_| false, Duration::ZERO).await, None);
}

#[test]
fn what_memory_pushes_out_is_counted() {
    let witness = Witness::new(None).unwrap();
    for _ in 0..MEMORY_LIMIT + 3 {
        witness.add(Arrival::new(Kind::Udp, b""));
    }
    assert_eq!((witness.arrivals().len(), witness.lost()), (MEMORY_LIMIT, 3));
    witness.reset();
    assert_eq!((witness.arrivals().len(), witness.lost()), (0, 0));
}

#[test]
fn a_proof_is_the_labs_own() {
    let (one, two) = (Witness::new(None).unwrap(), Witness::new(None).unwrap());
    assert_eq!(one.proof("x"), one.clone().proof("x"));
    assert_ne!(one.proof("x"), one.proof("y"));
    assert_ne!(one.proof("x"), two.proof("x"));
}
