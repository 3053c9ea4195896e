//! The verbs under which each package manager fetches something.

use super::local::{is_local, only_local_packages};

/// The verb under which something is fetched.
pub(super) fn fetched<'a>(name: &str, words: &[&'a str], plain: &[&'a str]) -> Option<&'a str> {
    let verb = plain.first().copied().unwrap_or_default();
    let has = |option: &str| words.contains(&option);
    let after = plain.get(1..).unwrap_or_default();
    let one_of = |verbs: &[&str]| verbs.contains(&verb).then_some(verb);
    match name {
        "pip" => {
            let fetching = one_of(&["install", "download", "wheel", "index", "search", "lock"])?;
            (!(has("--no-index") || has("--dry-run") && has("--no-deps") || only_local_packages(words, verb)))
                .then_some(fetching)
        }
        "uv" => {
            if has("--offline") || has("--no-index") {
                return None;
            }
            match (verb, after.first().copied().unwrap_or_default()) {
                ("pip", "install" | "sync" | "compile") => {
                    (!only_local_packages(words, after.first().copied().unwrap_or_default()))
                        .then_some("pip install")
                }
                ("tool", "run" | "install" | "upgrade") | ("python", "install") | ("self", "update") => {
                    Some(verb)
                }
                ("add" | "sync" | "lock" | "run" | "publish" | "build", _) => Some(verb),
                _ => None,
            }
        }
        "pipx" => one_of(&["install", "run", "upgrade", "inject", "upgrade-all"]),
        "uvx" | "npx" | "bunx" | "pnpx" => {
            (!has("--no-install") && !has("--offline") && !has("--no")).then_some("")
        }
        "poetry" | "pdm" | "pipenv" | "hatch" | "rye" | "pixi" => {
            one_of(&["add", "install", "update", "lock", "sync", "publish", "upgrade", "search", "global"])
        }
        "easy_install" | "cpanm" | "installr" | "install2.r" | "install.r" | "installBioc.r"
        | "installGithub.r" | "debootstrap" | "pkg_add" | "xbps-install" | "python-build"
        | "add-apt-repository" => (!plain.is_empty()).then_some(""),
        "conda" | "mamba" | "micromamba" => {
            if has("--offline") {
                return None;
            }
            match (verb, after.first().copied().unwrap_or_default()) {
                ("env", "create" | "update") => Some("env create"),
                ("create" | "install" | "update" | "upgrade" | "search", _) => Some(verb),
                _ => None,
            }
        }
        "npm" | "pnpm" | "yarn" | "bun" => {
            if has("--offline") {
                return None;
            }
            let fetching = one_of(&[
                "install",
                "i",
                "add",
                "ci",
                "update",
                "up",
                "upgrade",
                "view",
                "info",
                "show",
                "search",
                "publish",
                "audit",
                "outdated",
                "exec",
                "x",
                "dlx",
                "create",
                "init",
                "install-test",
                "login",
                "ping",
                "pack",
                "fund",
                "dedupe",
                "import",
            ]);
            if matches!(fetching, Some("init" | "create")) && (after.is_empty() || has("-y")) {
                return None;
            }
            if matches!(fetching, Some("pack" | "fund")) && after.is_empty() {
                return None;
            }
            // `yarn` alone installs.
            if name == "yarn" && plain.is_empty() {
                return Some("");
            }
            let fetching = fetching?;
            let local = !after.is_empty() && after.iter().all(|word| is_local(word));
            (!local).then_some(fetching)
        }
        "deno" => one_of(&["install", "add", "cache", "upgrade", "i"]),
        "corepack" => one_of(&["enable", "prepare", "install", "use", "up"]).filter(|verb| *verb != "enable"),
        "apt" | "apt-get" | "aptitude" => {
            let fetching = one_of(&[
                "install",
                "update",
                "upgrade",
                "dist-upgrade",
                "full-upgrade",
                "source",
                "download",
                "build-dep",
                "reinstall",
                "changelog",
                "satisfy",
            ])?;
            let local = !after.is_empty() && after.iter().all(|word| is_local(word));
            (!(has("--no-download") || has("-s") || has("--simulate") || has("--dry-run") || local))
                .then_some(fetching)
        }
        "dnf" | "yum" | "microdnf" | "zypper" => one_of(&[
            "install",
            "update",
            "upgrade",
            "in",
            "up",
            "search",
            "download",
            "makecache",
            "refresh",
            "ref",
            "reinstall",
            "groupinstall",
            "builddep",
            "check-update",
            "info",
            "dup",
            "se",
            "localinstall",
        ]),
        "pacman" => words.iter().any(|word| word.starts_with("-S") || *word == "--sync").then_some("-S"),
        "apk" => one_of(&["add", "update", "upgrade", "fetch"]),
        "brew" => one_of(&["install", "update", "upgrade", "fetch", "tap", "search", "reinstall"]),
        "snap" | "flatpak" => {
            one_of(&["install", "refresh", "download", "find", "search", "update", "remote-add"])
        }
        "emerge" => (!plain.is_empty() || has("--sync")).then_some(""),
        "port" | "pkg" => one_of(&["install", "selfupdate", "sync", "upgrade", "update", "fetch"]),
        "nix" => one_of(&["build", "shell", "run", "develop", "profile", "flake", "search"]),
        "nix-env" => words
            .iter()
            .any(|word| word.starts_with("-i") || *word == "--install" || *word == "-u")
            .then_some("-i"),
        "nix-shell" => Some(""),
        "guix" => one_of(&["install", "pull", "shell", "package", "build"]),
        "cargo" => {
            if has("--offline") || has("--frozen") {
                return None;
            }
            let fetching = one_of(&[
                "install",
                "fetch",
                "update",
                "add",
                "search",
                "publish",
                "binstall",
                "generate-lockfile",
                "vendor",
                "info",
            ])?;
            (!(verb == "install" && has("--path"))).then_some(fetching)
        }
        "rustup" => one_of(&["update", "install", "toolchain", "component", "target", "self", "default"])
            .filter(|verb| {
                !(matches!(*verb, "toolchain" | "component" | "target")
                    && matches!(after.first(), Some(&"list" | &"link" | &"remove")))
            }),
        "go" => match (verb, after.first().copied().unwrap_or_default()) {
            ("get" | "install", _) => {
                (after.is_empty() || !after.iter().all(|word| is_local(word))).then_some(verb)
            }
            ("mod", "download" | "tidy" | "vendor" | "why") => Some("mod download"),
            _ => None,
        },
        "gem" => {
            let fetching = one_of(&["install", "update", "fetch", "search", "i", "outdated", "push"])?;
            let local =
                has("--local") || has("-l") || !after.is_empty() && after.iter().all(|word| is_local(word));
            (!local).then_some(fetching)
        }
        "bundle" | "bundler" => {
            if has("--local") {
                return None;
            }
            if plain.is_empty() {
                Some("")
            } else {
                one_of(&["install", "update", "add", "outdated", "lock"])
            }
        }
        "composer" => {
            one_of(&["install", "require", "update", "create-project", "search", "global", "i", "u"])
        }
        "cpan" => (!plain.is_empty()).then_some(""),
        "helm" => one_of(&["install", "repo", "pull", "upgrade", "dependency", "search"]),
        "terraform" => one_of(&["init", "apply", "plan", "get"]),
        "dotnet" => one_of(&["add", "restore", "tool", "new", "workload"]),
        "mvn" | "gradle" | "sbt" | "lein" => {
            (!(has("-o") || has("--offline") || plain.is_empty())).then_some(verb)
        }
        "n" => plain
            .iter()
            .any(|word| {
                word.chars().all(|c| c.is_ascii_digit() || c == '.')
                    || matches!(*word, "lts" | "latest" | "stable")
            })
            .then_some(""),
        "sdk" => one_of(&["install", "update", "upgrade", "selfupdate"]),
        _ => one_of(&[
            "install", "add", "update", "upgrade", "get", "download", "fetch", "search", "pull", "sync",
            "use", "global", "setup", "build", "restore",
        ])
        .filter(|verb| {
            !matches!(*verb, "use" | "global" | "build" | "setup")
                || matches!(name, "volta" | "fnm" | "mise" | "pub")
        }),
    }
}
