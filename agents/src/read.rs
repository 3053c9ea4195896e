//! From what is written to a table in which every name refers to something.

use std::collections::{BTreeMap, BTreeSet};

use crate::fault::InvalidTable;
use crate::host::Needed;
use crate::raw;
use crate::row::{
    AuthMode, Condition, Disagreement, Effort, Login, Probe, ProbeFile, Provider, Quiet, Row, Standing,
    Usable,
};
use crate::source::Source;
use crate::switch::{Place, Tool};
use crate::table::Parts;
use crate::version::Version;

pub(crate) fn table(source: &str) -> Result<Parts, InvalidTable> {
    let raw: raw::Table = toml::from_str(source).map_err(|error| InvalidTable::syntax(source, &error))?;
    let raw::Table { schema, version, date, judge, sources, providers, agents } = raw;
    if schema != 1 {
        return Err(InvalidTable::one(format!(
            "schema {schema} is not known to this version, which reads schema 1"
        )));
    }
    let mut reader = Reader {
        sources: sources.keys().cloned().collect(),
        providers: providers.keys().cloned().collect(),
        faults: Vec::new(),
        field: String::new(),
    };
    reader.check(version > 0, "version", "a table's version is 1 or more");
    reader.date("date", &date);
    reader.provider("judge", &judge);
    let sources = sources.into_iter().map(|(name, raw)| (name.clone(), reader.source(&name, raw))).collect();
    let providers: BTreeMap<String, Provider> =
        providers.into_iter().map(|(name, raw)| (name.clone(), reader.of_provider(name, raw))).collect();
    let mut rows = BTreeMap::new();
    for (name, raw) in agents {
        reader.field = format!("agents.{name}");
        reader.check(is_name(&name), "", "an agent's name has lower-case letters, digits and inner hyphens");
        if let Some(row) = reader.agent(&name, raw) {
            rows.insert(name, row);
        }
    }
    match InvalidTable::from_faults(reader.faults) {
        Some(invalid) => Err(invalid),
        None => Ok(Parts { version, date, judge, sources, providers, rows }),
    }
}

struct Reader {
    sources: BTreeSet<String>,
    providers: BTreeSet<String>,
    faults: Vec<String>,
    /// Where we are.
    field: String,
}

impl Reader {
    fn agent(&mut self, name: &str, raw: raw::Agent) -> Option<Row> {
        self.sources_exist(&raw.sources);
        self.check(!raw.sources.is_empty(), "sources", "a row names the sources of its facts");
        let disagreements = raw
            .disagreements
            .iter()
            .map(|raw| {
                self.sources_exist(raw.says.keys());
                self.check(raw.says.len() > 1, "disagreements", "a disagreement has two sources or more");
                Disagreement { about: raw.about.clone(), says: raw.says.clone(), row: raw.row.clone() }
            })
            .collect();
        let (title, notes, sources) = (raw.title.clone(), raw.notes.clone(), raw.sources.clone());
        let standing = match raw.status {
            raw::Status::Refused => self.refused(raw)?,
            raw::Status::Supported => {
                self.check(raw.reason.is_none(), "reason", "only a refused row has a reason");
                self.check(raw.condition.is_none(), "condition", "only a conditional row has a condition");
                let usable = self.usable(raw)?;
                let switched = usable.tools.iter().all(|tool| !tool.switches.is_empty());
                self.check(switched, "tools", "a web tool without a switch: the row can't be `supported`");
                Standing::Supported(Box::new(usable))
            }
            raw::Status::Conditional => {
                self.check(raw.reason.is_none(), "reason", "only a refused row has a reason");
                let condition = raw
                    .condition
                    .as_ref()
                    .map(|raw| Condition { text: raw.text.clone(), check: raw.check.clone() });
                let condition = self.need("condition", condition);
                let usable = self.usable(raw);
                Standing::Conditional { condition: condition?, usable: Box::new(usable?) }
            }
        };
        Some(Row { name: name.to_owned(), title, standing, disagreements, notes, sources })
    }

    fn refused(&mut self, raw: raw::Agent) -> Option<Standing> {
        let bare = raw.auth.is_none() && raw.version.is_none() && raw.setup.is_empty() && raw.probe.is_none();
        self.check(
            bare,
            "status",
            "a refused row has a reason, and neither version nor hosts: nothing may use them",
        );
        self.check(raw.condition.is_none(), "condition", "only a conditional row has a condition");
        self.need("reason", raw.reason).map(|reason| Standing::Refused { reason })
    }

    fn usable(&mut self, raw: raw::Agent) -> Option<Usable> {
        let version = raw.version.as_deref().map(Version::parse);
        self.check(version != Some(None), "version", "one exact version, such as 1.2.3");
        let version = self.need("version", version.flatten());
        let names = |version: &Version| raw.labels.values().any(|label| label == version.as_str());
        let labelled = raw.labels.is_empty() || version.as_ref().is_none_or(names);
        self.check(labelled, "labels", "one of the labels names the version");
        let auth = self.need("auth", raw.auth).unwrap_or_default();
        self.check(!auth.is_empty(), "auth", "a row has a way to log in: auth.api or auth.subscription");
        let auth = auth.into_iter().map(|(mode, raw)| (mode, self.login(mode, raw))).collect();
        let tools = raw.tools.into_iter().map(tool).collect::<Vec<_>>();
        let names: BTreeSet<&str> = tools.iter().map(|tool: &Tool| tool.name.as_str()).collect();
        self.check(names.len() == tools.len(), "tools", "a tool stands here twice");
        for switch in
            tools.iter().flat_map(|tool| &tool.switches).chain(raw.quiet.iter().map(|quiet| &quiet.switch))
        {
            if let Place::File { file, .. } = &switch.place {
                let known = file.starts_with("~/") || file.starts_with('/');
                self.check(known, "switches", "a switch's file is absolute or below ~/");
            }
        }
        let effort = raw.effort.map(|raw| {
            self.check(
                raw.levels.is_sorted() && !raw.levels.is_empty(),
                "effort.levels",
                "levels go from low to high",
            );
            Effort { how: raw.how, levels: raw.levels, note: raw.note }
        });
        let probe = raw.probe.map(|raw| {
            self.provider("probe.provider", &raw.provider);
            let has_prompt = raw.args.iter().any(|arg| arg.contains("{prompt}"));
            self.check(has_prompt, "probe.args", "{prompt} must stand in one of them");
            let files =
                raw.files.into_iter().map(|raw| ProbeFile { path: raw.path, text: raw.text }).collect();
            Probe { args: raw.args, provider: raw.provider, env: raw.env, files }
        });
        Some(Usable {
            program: self.need("program", raw.program.filter(|program| !program.contains('/')))?,
            package: self.need("package", raw.package)?,
            version: version?,
            preinstalled: self.need("preinstalled", raw.preinstalled)?,
            labels: raw.labels,
            auth,
            setup: self.needed("setup", raw.setup),
            optional: self.needed("optional", raw.optional),
            effort,
            tools,
            quiet: raw.quiet.into_iter().map(|raw| Quiet { does: raw.does, switch: raw.switch }).collect(),
            config: raw.config,
            transcripts: raw.transcripts,
            events: raw.events,
            probe,
        })
    }

    fn login(&mut self, mode: AuthMode, raw: raw::Auth) -> Login {
        let field = format!("auth.{mode}");
        self.check(!raw.providers.is_empty(), &field, "it names at least one provider");
        raw.providers.iter().for_each(|provider| self.provider(&field, provider));
        let with_hosts = raw.hosts.as_ref().is_some_and(|hosts| !hosts.is_empty());
        match mode {
            AuthMode::Api => {
                self.check(raw.hosts.is_none(), &field, "the hosts of an API are its provider's")
            }
            AuthMode::Subscription => self.check(with_hosts, &field, "a subscription names its hosts"),
        }
        let raw::Auth { providers, hosts, login, token, env, verified, note } = raw;
        self.check(
            verified || note.is_some(),
            &field,
            "what is not verified says in `note` what is not known",
        );
        Login { providers: providers.into_iter().collect(), hosts, login, token, env, verified, note }
    }

    fn needed(&mut self, field: &str, raw: Vec<raw::Needed>) -> Vec<Needed> {
        let hosts: BTreeSet<&str> = raw.iter().map(|needed| needed.host.as_str()).collect();
        self.check(hosts.len() == raw.len(), field, "a host stands here twice");
        raw.into_iter().map(|raw| Needed { host: raw.host, purpose: raw.purpose }).collect()
    }

    fn of_provider(&mut self, name: String, raw: raw::Provider) -> Provider {
        self.field = format!("providers.{name}");
        self.check(is_name(&name), "", "a provider's name has lower-case letters, digits and inner hyphens");
        self.check(!raw.hosts.is_empty(), "hosts", "a provider has a host");
        self.sources_exist(&raw.sources);
        let raw::Provider { title, key, hosts, notes, sources } = raw;
        Provider { name, title, key, hosts, notes, sources }
    }

    fn source(&mut self, name: &str, raw: raw::Source) -> Source {
        self.field = format!("sources.{name}");
        self.date("date", &raw.date);
        Source { title: raw.title, date: raw.date, link: raw.link }
    }

    fn provider(&mut self, field: &str, name: &str) {
        if !self.providers.contains(name) {
            self.fault(field, &format!("there is no provider {name:?}"));
        }
    }

    fn sources_exist<'a>(&mut self, names: impl IntoIterator<Item = &'a String>) {
        for name in names {
            if !self.sources.contains(name) {
                self.fault("sources", &format!("there is no source {name:?}"));
            }
        }
    }

    fn date(&mut self, field: &str, text: &str) {
        let digits =
            |part: &str, count| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
        let mut parts = text.split('-');
        let is_date = matches!((parts.next(), parts.next(), parts.next(), parts.next()),
            (Some(year), Some(month), Some(day), None) if digits(year, 4) && digits(month, 2) && digits(day, 2));
        self.check(is_date, field, "a date is written 2026-11-30");
    }

    fn need<T>(&mut self, field: &str, value: Option<T>) -> Option<T> {
        self.check(value.is_some(), field, "missing, or not what belongs there");
        value
    }

    fn check(&mut self, holds: bool, field: &str, fault: &str) {
        if !holds {
            self.fault(field, fault);
        }
    }

    fn fault(&mut self, field: &str, fault: &str) {
        let dot = if self.field.is_empty() || field.is_empty() { "" } else { "." };
        self.faults.push(format!("{}{dot}{field}: {fault}", self.field));
    }
}

fn tool(raw: raw::Tool) -> Tool {
    let raw::Tool { name, runs, does, switches, verified } = raw;
    Tool { name, runs, does, switches, verified }
}

/// Names end up in file names, flags and policies.
fn is_name(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=40).contains(&text.len())
        && text.chars().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests;
