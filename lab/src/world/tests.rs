use std::collections::HashSet;

use super::*;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

#[test]
fn every_row_of_the_table_is_a_name_and_has_an_address_of_its_own() {
    let rows = table::HOSTS.iter().map(|(_, names)| names.len()).sum::<usize>();
    let world = World::new();
    assert_eq!(world.hosts.len(), rows, "a row is not a name, or stands twice");
    let v4: HashSet<_> = world.hosts.iter().map(|host| host.v4).collect();
    let v6: HashSet<_> = world.hosts.iter().map(|host| host.v6).collect();
    assert_eq!((v4.len(), v6.len()), (rows, rows));
}

#[test]
fn addresses_are_documentation_space_and_never_those_of_the_witness_or_of_the_dead() {
    for position in 0..2000 {
        let (v4, v6) = addresses(position);
        let taken = [WITNESS_V4, RESOLVER_V4].contains(&v4) || DEAD.iter().any(|dead| dead.address == v4);
        assert!(!taken, "{v4}");
        assert!(matches!(v4.octets(), [198, 51, 100, 1..=254] | [203, 0, 113, 1..=199]), "{v4}");
        assert!(v6.segments().starts_with(&[0x2001, 0xdb8]), "{v6}");
        assert!(v6 != WITNESS_V6 && v6 != RESOLVER_V6);
    }
}

#[test]
fn the_same_names_give_the_same_world() {
    let one = World::new().with_host(name("added.test")).with_host(name("more.test"));
    let two = World::new().with_host(name("added.test")).with_host(name("more.test"));
    assert_eq!(one.hosts(), two.hosts());
    assert_ne!(one.answer(&name("added.test")), one.answer(&name("more.test")));
}

#[test]
fn a_name_added_twice_keeps_its_role_and_address() {
    let before = World::new();
    let after = before.clone().with_host(name("api.openai.com"));
    assert_eq!(before.hosts(), after.hosts());
}

#[test]
fn the_witness_owns_its_zone_at_any_depth_and_nothing_beside_it() {
    let world = World::new();
    let witness = Answer::at(WITNESS_V4, WITNESS_V6);
    for below in ["leak.test", "a.leak.test", "n0nce-1.b.c.d.leak.test", "witness.test"] {
        assert_eq!(world.answer(&name(below)), witness, "{below}");
    }
    for beside in ["xleak.test", "leak.test.example.net", "a.witness.test", "test"] {
        assert_eq!(world.answer(&name(beside)), Answer::NoSuchName, "{beside}");
    }
}

#[test]
fn the_special_names_come_before_the_table() {
    let world = World::new().with_host(name("timeout.test"));
    assert_eq!(world.answer(&name("timeout.test")), Answer::Silence);
    assert_eq!(world.answer(&name("nxdomain.test")), Answer::NoSuchName);
}
