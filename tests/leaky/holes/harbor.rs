//! The rules of a sidecar that is in wide use, as they were measured: a mark that everybody knows, ICMP and the resolvers
//! exempt, TCP left to a redirection alone, all of it taken away when the proxy ends; behind them a proxy that looks at the
//! first name of a connection.

use serde_json::json;

use crate::hole::Hole;

const RULES: &str = r#"
table inet divert {
  chain send { type nat hook output priority -100; policy accept;
    meta mark 114514 return
    fib daddr type local return
    ip daddr 192.0.2.53 return
    ip6 daddr 2001:db8::53 return
    meta l4proto tcp redirect to :12345
  }
  chain pass { type filter hook output priority 0; policy accept;
    meta mark 114514 accept
    meta l4proto { icmp, ipv6-icmp } accept
    fib daddr type local accept
    ip daddr 192.0.2.53 accept
    ip6 daddr 2001:db8::53 accept
    meta l4proto != tcp reject
  }
}
"#;

#[test]
fn is_found() {
    Hole::named("harbor")
        .rules(json!({"ruleset": RULES, "mark": 114514, "on_death": "flush"}))
        .proxy(json!({"ports": "any", "first": true, "h2c": true, "slow_switch": 2}))
        .with_raw_sockets()
        .through_its_life()
        .which_may_be_found_by(&[
            "allow-nothing-else",
            "dns-",
            "http-smuggle-misc",
            "ip6-dns-nameserver",
            "life-",
        ])
        .is_found_by(&[
            "dns-embedded-recursion",
            "dns-upstream-netns-wide",
            "dns-upstream-spoof-mark",
            "http-h2c-prior-knowledge",
            "http-keepalive-host-switch",
            "http-pipeline-host-switch",
            "l4-af-packet",
            "l4-icmp-echo",
            "l4-icmpv6",
            "l4-raw-tcp-invalid",
            "life-phase-switch-established",
            "life-policy-reload-window",
            "life-sidecar-crash",
            "priv-so-mark",
            "tls-nonstandard-port",
        ]);
}
