//! What a pod says for all its containers.

use super::{network, shared, told};
use crate::container::facts::{At, Flag, Namespace, Network, Spot, Unconfined, User};
use crate::container::finding::{Level, Remark};
use crate::container::view::{Reader, View};

pub(super) struct Pod {
    pub(super) network: At<Network>,
    pub(super) pid: At<Namespace>,
    pub(super) ipc: At<Namespace>,
    pub(super) user_namespace: At<Namespace>,
    pub(super) sysctls: Vec<At<(String, String)>>,
    pub(super) hosts: Vec<At<String>>,
    pub(super) dns: Vec<At<String>>,
    pub(super) runtime: Option<At<String>>,
    pub(super) user: Option<At<User>>,
    pub(super) remarks: Vec<Remark>,
    seccomp: Option<At<String>>,
    apparmor: Option<At<String>>,
}

impl Pod {
    pub(super) fn read(reader: &mut Reader<'_>, template: &View<'_>, spec: &View<'_>) -> Self {
        let context = reader.table(spec, "securityContext");
        let process = reader.flag(spec, "shareProcessNamespace");
        let among = match &process.value {
            Flag::Off | Flag::Unset => Namespace::Own,
            Flag::On => Namespace::Pod,
            Flag::Unknown(what) => Namespace::Unknown(what.clone()),
        };
        let host_pid = reader.flag(spec, "hostPID");
        let mut pid = shared(host_pid, among);
        if pid.value != Namespace::Host && pid.value != Namespace::Own {
            pid.spot = process.spot;
        }
        let mut pod = Pod {
            network: network(reader.flag(spec, "hostNetwork")),
            pid,
            // The pod's containers share one, by design of pods.
            ipc: shared(reader.flag(spec, "hostIPC"), Namespace::Own),
            user_namespace: At::new(Namespace::Own, spec.missing("hostUsers")),
            sysctls: Vec::new(),
            hosts: Vec::new(),
            dns: reader
                .table(spec, "dnsConfig")
                .map(|dns| reader.texts(&dns, "nameservers"))
                .unwrap_or_default(),
            runtime: reader.text(spec, "runtimeClassName"),
            user: None,
            remarks: Vec::new(),
            seccomp: None,
            apparmor: None,
        };
        for alias in reader.list(spec, "hostAliases") {
            let address = alias.get("ip").and_then(|ip| ip.scalar()).unwrap_or_default();
            let names = reader.texts(&alias, "hostnames");
            pod.hosts.extend(
                names.into_iter().map(|name| At::new(format!("{}:{address}", name.value), name.spot)),
            );
        }
        if let Some(context) = &context {
            pod.user = user(reader, context);
            pod.seccomp = profile(reader, context, "seccompProfile");
            pod.apparmor = profile(reader, context, "appArmorProfile");
            for sysctl in reader.list(context, "sysctls") {
                let name = reader.text(&sysctl, "name").map(|name| name.value).unwrap_or_default();
                let value = reader.text(&sysctl, "value").map(|value| value.value).unwrap_or_default();
                pod.sysctls.push(At::new((name, value), sysctl.spot()));
            }
        }
        pod.annotations(template);
        pod.token(reader, spec);
        pod.remarks.append(&mut reader.remarks);
        pod
    }

    /// What is not confined, a container's own word first.
    pub(super) fn unconfined(&self, context: Option<&View<'_>>, missing: Spot) -> Vec<At<Unconfined>> {
        let own = |key: &str| {
            let kind = context?.path(&[key, "type"])?;
            Some(At::new(kind.scalar()?, kind.spot()))
        };
        let mut found = Vec::new();
        match own("seccompProfile").or_else(|| self.seccomp.clone()) {
            None => found.push(At::new(Unconfined::SeccompUnset, missing)),
            Some(profile) => match profile.value.as_str() {
                "RuntimeDefault" => {}
                "Unconfined" => found.push(At::new(Unconfined::Seccomp, profile.spot)),
                other => {
                    found.push(At::new(Unconfined::Unknown(format!("seccomp profile {other}")), profile.spot))
                }
            },
        }
        if let Some(profile) = own("appArmorProfile").or_else(|| self.apparmor.clone())
            && profile.value.eq_ignore_ascii_case("unconfined")
        {
            found.push(At::new(Unconfined::AppArmor, profile.spot));
        }
        found
    }

    /// How AppArmor was told before it had a field.
    fn annotations(&mut self, template: &View<'_>) {
        const APPARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
        let Some(annotations) = template.path(&["metadata", "annotations"]) else { return };
        for (key, value) in annotations.fields().filter(|(key, _)| key.starts_with(APPARMOR)) {
            if value.scalar().as_deref() == Some("unconfined") {
                let name = key.strip_prefix(APPARMOR).unwrap_or_default();
                self.remarks.push(
                    Remark::new(
                        Level::Weakens,
                        "apparmor",
                        &value.spot(),
                        format!("{name} is not confined by AppArmor"),
                    )
                    .allows("Mounting and writing below /proc and /sys is left to the other fences.")
                    .remedy("leave the annotation out"),
                );
            }
        }
    }

    fn token(&mut self, reader: &mut Reader<'_>, spec: &View<'_>) {
        let mount = reader.flag(spec, "automountServiceAccountToken");
        if mount.value == Flag::Off {
            return;
        }
        let what = match mount.value {
            Flag::On => "the cluster's credentials are mounted",
            _ => "the cluster's credentials are mounted unless the service account says otherwise",
        };
        self.remarks.push(
            Remark::new(Level::Weakens, "service-account-token", &mount.spot, what)
                .allows(
                    "Whoever reaches the API server with them may start pods that no sidecar stands before.",
                )
                .remedy("automountServiceAccountToken: false"),
        );
    }
}

/// Of a security context.
pub(super) fn user(reader: &mut Reader<'_>, context: &View<'_>) -> Option<At<User>> {
    let number = reader.text(context, "runAsUser");
    let not_root = reader.flag(context, "runAsNonRoot");
    told(number, not_root, context.missing("runAsUser"))
}

fn profile(reader: &mut Reader<'_>, context: &View<'_>, key: &str) -> Option<At<String>> {
    let profile = reader.table(context, key)?;
    reader.text(&profile, "type")
}

/// Names and values; a value from elsewhere is none.
pub(super) fn environment(reader: &mut Reader<'_>, view: &View<'_>) -> Vec<At<(String, Option<String>)>> {
    let mut environment = Vec::new();
    for item in reader.list(view, "env") {
        if let Some(name) = reader.text(&item, "name") {
            let value = item.get("value").and_then(|value| value.scalar());
            environment.push(At::new((name.value, value), item.spot()));
        }
    }
    environment
}
