use std::time::Duration;

use tokio::time::{advance, timeout};

use super::room::Room;
use super::{Bucket, Limits, Rate};

/// G6, G16: with every bound reached at once, there are descriptors left, whatever the limit is.
#[test]
fn bounds_fit_into_the_descriptors() {
    for descriptors in [256, 512, 1024, 4096, 20_000, 65_536, 1_048_576, u64::MAX] {
        let limits = Limits::for_descriptors(descriptors);
        let Limits { flows, hellos, dns_connections, lookups, pipes, .. } = limits;
        let most = 2 * flows + hellos + dns_connections + 2 * lookups + 2 * pipes;
        assert!((most as u64) <= descriptors - 64, "{descriptors}: {limits:?}");
        assert!(flows > hellos, "{descriptors}: {limits:?}");
    }
}

/// A limit of nothing still gives bounds that serve somebody.
#[test]
fn bounds_are_never_zero() {
    let limits = Limits::for_descriptors(0);
    assert!(limits.flows > 0 && limits.hellos > 0 && limits.dials > 0 && limits.lookups > 0, "{limits:?}");
}

/// A bucket gives its burst, then its rate, and never more than its burst after however long a silence.
#[tokio::test(start_paused = true)]
async fn bucket() {
    let bucket = Bucket::new(Rate { per_second: 10, burst: 3 });
    let taken = |bucket: &Bucket| (0..100).filter(|_| bucket.take()).count();
    assert_eq!(taken(&bucket), 3);
    advance(Duration::from_millis(100)).await;
    assert_eq!(taken(&bucket), 1);
    advance(Duration::from_secs(3600)).await;
    assert_eq!(taken(&bucket), 3);
}

/// G16: a full room takes a newcomer in place of the guest who has waited longest; nobody who has just come makes way.
#[tokio::test(start_paused = true)]
async fn the_slowest_makes_way() {
    let room = Room::new(2, 100);
    let mut slow = room.enter().await.unwrap();
    advance(Duration::from_secs(1)).await;
    let mut fresh = room.enter().await.unwrap();
    assert_eq!(room.taken(), 2);
    let newcomer = tokio::spawn({
        let room = room.clone();
        async move { room.enter().await }
    });
    slow.shown_out().await;
    drop(slow);
    let newcomer = newcomer.await.unwrap().expect("the place of the slow one");
    assert!(timeout(Duration::from_millis(1), fresh.shown_out()).await.is_err());
    assert!(timeout(Duration::from_millis(100), room.enter()).await.is_err(), "everybody is fresh");
    assert!(timeout(Duration::from_millis(1), fresh.shown_out()).await.is_err());
    drop(newcomer);
    assert!(timeout(Duration::from_millis(1), room.enter()).await.is_ok());
}

/// G12: a burst of clients that are all fresh is let in one after the other.
#[tokio::test(start_paused = true)]
async fn a_burst_waits() {
    let room = Room::new(3, 100);
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let room = room.clone();
        clients.spawn(async move {
            let stay = room.enter().await.expect("a place");
            tokio::time::sleep(Duration::from_millis(5)).await;
            drop(stay);
        });
    }
    assert_eq!(clients.join_all().await.len(), 50);
    assert_eq!(room.taken(), 0);
}

/// Who has said what it wants is not shown out, and what a guest holds is given back when it goes.
#[tokio::test(start_paused = true)]
async fn settled_guests_stay() {
    let room = Room::new(1, 100);
    let mut guest = room.enter().await.unwrap();
    assert!(guest.holds(100));
    assert!(!guest.holds(1));
    guest.settled();
    advance(Duration::from_secs(1)).await;
    assert!(room.enter().await.is_none());
    drop(guest);
    assert!(room.enter().await.unwrap().holds(100));
}
