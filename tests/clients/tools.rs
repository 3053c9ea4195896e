//! Programs of the command line.
//!
//! Another name is tried twice: looked up, which DNS refuses, and pinned to an address, which the proxy refuses.

use crate::run;
use crate::support::{installed, modes};

/// G1, G3, G11, G12: HTTP/1.1 and HTTP/2, connections kept, an upload; other names by DNS, TLS alert and 403.
#[test]
fn curl() {
    for &mode in modes() {
        let run = run(mode).script(
            r#"
            set -e
            url=https://api.anthropic.com
            curl -sS --fail --http1.1 $url/one $url/two $url/three -w '\n1.1: %{http_version} %{num_connects}\n'
            curl -sS --fail --http2 $url/four $url/five -w '\n2: %{http_version} %{num_connects}\n'
            head -c 300000 /dev/zero | curl -sS --fail -T - $url/upload
            curl -sS https://example.com/ && exit 1 || echo "code $?"
            curl -sS --resolve example.com:443:198.51.100.7 https://example.com/ && exit 1 || echo "code $?"
            curl -sS --resolve example.com:80:198.51.100.7 http://example.com/ -w '\nstatus %{http_code}\n'
            "#,
        );
        let run = run.must_succeed();
        for path in ["one", "two", "three", "four", "five"] {
            let seen = format!(r#"{{"host":"api.anthropic.com","sni":"api.anthropic.com","path":"/{path}""#);
            assert_eq!(run.stdout.matches(&seen).count(), 1, "{path}: {run:#?}");
        }
        assert_eq!(run.stdout.matches("1.1: 1.1 0\n").count(), 2, "kept for all but the first: {run:#?}");
        assert_eq!(run.stdout.matches("2: 2 0\n").count(), 1, "kept: {run:#?}");
        let run = run
            .must_print(r#"{"bytes":300000,"#)
            .must_print("code 6")
            .must_complain("Could not resolve host: example.com")
            .must_print("code 35")
            .must_complain("tlsv1 alert access denied")
            .must_print("status 403")
            .must_print("reason: name-not-allowed")
            .must_complain("example.com (dns-name, 2 times), example.com (name-not-allowed, 2 times); add with --allow example.com\n")
            .must_record(2, "deny", "name-not-allowed")
            .must_not_arrive("example.com");
        assert_eq!(run.of_kind("tls").len(), 4, "one record a connection: {run:#?}");
    }
}

/// G1, G11, G12: wget's refusals come from GnuTLS. It can't pin a name, so it is given none at all.
#[test]
fn wget() {
    for &mode in modes() {
        run(mode)
            .script(
                "wget -q -O - https://api.anthropic.com/ || exit 1
                 wget -nv -O - https://example.com/ && exit 1
                 wget -nv -O - https://198.51.100.7/ && exit 1
                 wget -nv -O - --header 'Host: example.com' http://198.51.100.7/ && exit 1
                 true",
            )
            .must_succeed()
            .must_print(r#"{"host":"api.anthropic.com","sni":"api.anthropic.com","path":"/""#)
            .must_complain("unable to resolve host address")
            .must_complain("received alert [109]")
            .must_complain("ERROR 403: Forbidden")
            .must_record(1, "deny", "no-server-name")
            .must_record(1, "deny", "name-not-allowed")
            .must_not_arrive("example.com");
    }
}

/// G1, G11, G12: each version of TLS that is in use, and STARTTLS-less raw talk over it.
#[test]
fn openssl_s_client() {
    for &mode in modes() {
        run(mode)
            .script(
                r#"
                for version in -tls1_2 -tls1_3; do
                    printf 'GET /over%s HTTP/1.0\r\nHost: api.anthropic.com\r\n\r\n' $version |
                        openssl s_client -connect api.anthropic.com:443 -verify_return_error -brief -ign_eof $version || exit 1
                    openssl s_client -connect 198.51.100.7:443 -servername example.com $version </dev/null && exit 1
                done
                openssl s_client -connect example.com:443 </dev/null && exit 1
                true
                "#,
            )
            .must_succeed()
            .must_print(r#""path":"/over-tls1_2""#)
            .must_print(r#""path":"/over-tls1_3""#)
            .must_complain("Verification: OK")
            .must_complain("Protocol version: TLSv1.2")
            .must_complain("Protocol version: TLSv1.3")
            .must_complain("alert access denied")
            .must_complain("SSL alert number 49")
            .must_record(2, "deny", "name-not-allowed")
            .must_not_arrive("example.com");
    }
}

/// G1, G11, G12: a repository is cloned by name; another host's is not.
#[test]
fn git_over_https() {
    for &mode in modes() {
        run(mode)
            .script(
                "set -e
                 export HOME=$PWD GIT_CONFIG_NOSYSTEM=1
                 git clone -q https://api.anthropic.com/demo.git demo
                 git -C demo log --format='commit %H'
                 cat demo/README*
                 ! git clone -q https://example.com/demo.git other
                 ! git -c http.curloptResolve=example.com:443:198.51.100.7 clone -q https://example.com/demo.git other",
            )
            .must_succeed()
            .must_print("commit 67b2fc0f61899c379a035cbedd3b33803da750f8")
            .must_print("If you can read this, cloning works.")
            .must_complain("Could not resolve host: example.com")
            .must_complain("ccess")
            .must_record(1, "deny", "name-not-allowed")
            .must_not_arrive("example.com");
    }
}

/// G1, G5, G11, G12: what apt does: plain HTTP on a kept connection, several requests written at once, ranges, and
/// `If-Modified-Since`; another mirror gets its 403 at once.
#[test]
fn apt_like_plain_http() {
    for &mode in modes() {
        let run = crate::Run::in_lab(mode).allow("deb.debian.org:80").words(&[
            "python3",
            "-c",
            include_str!("programs/apt_like.py"),
        ]);
        run.must_succeed()
            .must_print("answered: ['/dists/a', '/dists/b', '/dists/c', '/dists/d']")
            .must_print("other: 403 Forbidden")
            .must_record(1, "deny", "name-not-allowed")
            .must_not_arrive("security.debian.org");
    }
}

/// G1, G11, G12: apt itself, over HTTP and HTTPS. It asks for service records first, of which nobody needs to hear.
#[test]
fn apt() {
    const HELPER: &str = "/usr/lib/apt/apt-helper";
    if !installed(HELPER) {
        return;
    }
    for &mode in modes() {
        let script = format!(
            "get() {{ {HELPER} -o Acquire::Retries=0 -o Acquire::https::CaInfo=$PWD/ca.pem download-file \"$@\"; }}
             # As root, apt fetches as a user of its own, who may not read the lab's folder.
             install -m 644 $SSL_CERT_FILE ca.pem
             hash=$(curl -sS --fail http://deb.debian.org/bytes/100000 | sha256sum | cut -d' ' -f1)
             get http://deb.debian.org/bytes/100000 plain SHA256:$hash || exit 1
             get https://deb.debian.org/bytes/100000 tls SHA256:$hash || exit 1
             get http://security.debian.org/bytes/100000 other && exit 1
             get http://198.51.100.9/bytes/100000 other && exit 1
             true"
        );
        let run = crate::Run::in_lab(mode)
            .allow("deb.debian.org")
            .script(&script)
            .must_succeed()
            .must_complain("Could not resolve 'security.debian.org'")
            .must_complain("403  Forbidden [IP: 198.51.100.9 80]")
            .must_not_arrive("security");
        assert!(
            run.stderr.ends_with("add with --allow security.debian.org --allow 198.51.100.9\n"),
            "{run:#?}"
        );
    }
}
