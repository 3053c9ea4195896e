//! The loopback device as the way to everywhere.

use std::{
    io::ErrorKind,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket},
};

use crate::world::{namespaced, succeeds};
use closedbook_kernel::lo::{self, Family, LoError, Prefix, TASK_V4, TASK_V6};

const FAR_V4: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const FAR_V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));

/// The address a packet to `destination` would come from.
fn source(destination: IpAddr) -> std::io::Result<IpAddr> {
    let wildcard: IpAddr =
        if destination.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((wildcard, 0))?;
    socket.connect((destination, 9))?;
    Ok(socket.local_addr()?.ip())
}

namespaced! {
    /// G6: before the namespace is laid out there is no way anywhere.
    fn nothing_is_routed_at_first() {
        for far in [FAR_V4, FAR_V6] {
            let error = source(far).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::NetworkUnreachable | ErrorKind::AddrNotAvailable), "{error}");
        }
    }

    fn sealing_gives_addresses_and_routes_and_may_be_repeated() {
        for _ in 0..3 {
            let loopback = lo::seal().unwrap();
            assert_eq!((loopback.family, loopback.unset), (Family::Dual, Vec::new()));
        }
        assert_eq!(source(FAR_V4).unwrap(), TASK_V4);
        assert_eq!(source(FAR_V6).unwrap(), TASK_V6);
        assert_eq!(succeeds("ip", &["-4", "route", "show"], "").lines().count(), 1);
        assert!(succeeds("ip", &["-4", "route", "show"], "").starts_with("default dev lo"));
    }

    /// G12: `ping` and low ports work as in a container, and ports are taken again early.
    fn sealing_writes_settings() {
        lo::seal().unwrap();
        let read = |path: &str| std::fs::read_to_string(path).unwrap();
        assert_eq!(read("/proc/sys/net/ipv4/ip_unprivileged_port_start").trim(), "0");
        assert_eq!(read("/proc/sys/net/ipv4/tcp_tw_reuse").trim(), "1");
        let range = read("/proc/sys/net/ipv4/ping_group_range");
        assert!(range.starts_with("0\t"), "{range}");
    }

    /// Container engines switch IPv6 off where there is no network.
    fn ipv6_is_switched_on_again() {
        std::fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1").unwrap();
        std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1").unwrap();
        assert_eq!(lo::seal().unwrap().family, Family::Dual);
        assert_eq!(source(FAR_V6).unwrap(), TASK_V6);
        assert_eq!(source(Ipv6Addr::LOCALHOST.into()).unwrap(), Ipv6Addr::LOCALHOST);
    }

    fn without_ipv6_only_ipv4_is_laid_out() {
        // What /proc/sys is to most containers.
        std::fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1").unwrap();
        nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS).unwrap();
        succeeds_mount_read_only("/proc/sys");
        let loopback = lo::seal().unwrap();
        assert_eq!(loopback.family, Family::V4Only);
        assert!(!loopback.unset.is_empty());
        assert_eq!(source(FAR_V4).unwrap(), TASK_V4);
        assert!(source(FAR_V6).is_err());
    }

    /// The ground of the lab: one server on the wildcard answers for any address.
    fn every_address_can_be_local() {
        assert_eq!(lo::any_local().unwrap(), Family::Dual);
        for far in [FAR_V4, FAR_V6] {
            let wildcard: IpAddr =
                if far.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
            let server = TcpListener::bind((wildcard, 0)).unwrap();
            let asked = SocketAddr::new(far, server.local_addr().unwrap().port());
            let client = TcpStream::connect(asked).unwrap();
            let (served, _) = server.accept().unwrap();
            assert_eq!(served.local_addr().unwrap(), asked);
            assert_eq!(client.peer_addr().unwrap(), asked);
        }
    }

    fn a_network_can_be_unreachable_among_local_ones() {
        lo::any_local().unwrap();
        for (address, length) in [(FAR_V4, 24), (FAR_V6, 32)] {
            assert!(source(address).is_ok());
            lo::unreachable(Prefix { address: network(address), length }).unwrap();
            let error = source(address).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::HostUnreachable, "{error}");
        }
    }

    /// G2: a device beside `lo` is named.
    fn other_devices_are_found() {
        lo::assert_only_loopback().unwrap();
        succeeds("ip", &["link", "add", "uplink", "type", "veth", "peer", "name", "other"], "");
        match lo::assert_only_loopback() {
            Err(LoError::OtherDevices(mut names)) => {
                names.sort();
                assert_eq!(names, ["other", "uplink"]);
            }
            other => panic!("{other:?}"),
        }
    }

    fn without_the_capability_nothing_is_laid_out() {
        caps::drop(None, caps::CapSet::Effective, caps::Capability::CAP_NET_ADMIN).unwrap();
        assert!(matches!(lo::seal(), Err(LoError::NotPermitted)));
        assert!(matches!(lo::any_local(), Err(LoError::NotPermitted)));
    }
}

fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => Ipv4Addr::new(192, 0, 2, 0).into(),
        IpAddr::V6(_) => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0).into(),
    }
}

fn succeeds_mount_read_only(path: &str) {
    succeeds("mount", &["--make-rprivate", "/"], "");
    succeeds("mount", &["--bind", path, path], "");
    succeeds("mount", &["-o", "remount,bind,ro", path], "");
}
