//! Variables: ways to engines, credentials, proxies. No value is ever repeated.

use super::{Case, say};
use crate::container::finding::{Level, Remark};

/// Beginnings by which tokens are known, whatever the variable is called.
const TOKENS: [(&str, &str); 12] = [
    ("ghp_", "GitHub"),
    ("gho_", "GitHub"),
    ("ghs_", "GitHub"),
    ("github_pat_", "GitHub"),
    ("glpat-", "GitLab"),
    ("hf_", "Hugging Face"),
    ("npm_", "npm"),
    ("pypi-", "PyPI"),
    ("AKIA", "AWS"),
    ("ASIA", "AWS"),
    ("xoxb-", "Slack"),
    ("dckr_pat_", "Docker Hub"),
];

pub(super) fn check(case: &Case<'_>, found: &mut Vec<Remark>) {
    for variable in &case.container.environment {
        let (name, value) = &variable.value;
        if value.as_deref() == Some("") {
            continue;
        }
        if let Some((level, id, what, allows, remedy)) = judged(name, value.as_deref()) {
            found.push(say(level, id, &variable.spot, what).allows(allows).remedy(remedy));
        }
    }
}

type Judgement = (Level, &'static str, String, &'static str, &'static str);

fn judged(name: &str, value: Option<&str>) -> Option<Judgement> {
    let upper = name.to_ascii_uppercase();
    if ["DOCKER_HOST", "CONTAINER_HOST", "CONTAINERD_ADDRESS", "BUILDKIT_HOST", "NERDCTL_HOST"]
        .contains(&upper.as_str())
    {
        return Some((
            Level::Weakens,
            "engine-address",
            format!("{name} leads to a container engine"),
            "Where the engine answers, it can start containers of its own beside the sidecar.",
            "leave the variable out, and mount no socket",
        ));
    }
    if ["SSH_AUTH_SOCK", "KUBECONFIG", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY"].contains(&upper.as_str()) {
        return Some((
            Level::Note,
            "service-address",
            format!("{name} leads to a service of the machine"),
            "Where the service is in sight, it acts for the container.",
            "leave the variable out",
        ));
    }
    if ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "SOCKS_PROXY"].contains(&upper.as_str()) {
        return Some((
            Level::Note,
            "proxy",
            format!("{name} is set"),
            "Clients that heed it go to that proxy; those that do not, or that the task tells not to, go directly.",
            "leave it out: the sidecar needs no proxy variables, and a proxy that is reachable is a relay",
        ));
    }
    let owner = value.and_then(|value| TOKENS.iter().find(|(start, _)| is_token(value, start)));
    if let Some((_, owner)) = owner {
        return Some(credential(name, &format!("a token of {owner}")));
    }
    is_secret(&upper).then(|| credential(name, "a credential, by its name"))
}

fn credential(name: &str, what: &str) -> Judgement {
    (
        Level::Note,
        "credential",
        format!("{name} holds {what}"),
        "The task can use it at every host that it reaches, and send it there.",
        "give the key of the model alone, and that only while the agent runs",
    )
}

fn is_token(value: &str, start: &str) -> bool {
    value.strip_prefix(start).is_some_and(|rest| {
        rest.len() >= 12
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    })
}

fn is_secret(name: &str) -> bool {
    const WORDS: [&str; 8] =
        ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS", "APIKEY", "PAT", "AUTH"];
    let parts: Vec<&str> = name.split(['_', '-', '.']).collect();
    let ends_with_key =
        matches!(parts.as_slice(), [.., "API" | "ACCESS" | "PRIVATE" | "SIGNING" | "SECRET", "KEY"]);
    // Numbers of tokens are no tokens.
    let is_count = parts.iter().any(|part| ["MAX", "LIMIT", "COUNT", "BUDGET", "TOKENS"].contains(part));
    !is_count && (ends_with_key || parts.iter().any(|part| WORDS.contains(part)))
}
