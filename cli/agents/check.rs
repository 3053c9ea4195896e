//! `closedbook agents check`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;
use closedbook_agents::{Ask, Choice, Labels, Version, versions_in};
use serde_json::json;

use super::ask;
use crate::exit::Failure;
use crate::flags::agent::TableFlag;
use crate::input;
use crate::output::{print, print_json};

#[derive(Args)]
pub(super) struct Check {
    /// The agent's name
    #[arg(value_name = "NAME")]
    agent_name: String,
    /// The version to check, instead of asking a program
    #[arg(long = "agent-version", id = "agent_version", value_name = "VERSION", conflicts_with_all = ["program", "image", "inspect"])]
    version: Option<String>,
    /// The program to ask for its version [default: the agent's program, from PATH]
    #[arg(long, value_name = "PATH", conflicts_with_all = ["image", "inspect"])]
    program: Option<PathBuf>,
    /// Check the labels of this image, which the engine here holds
    #[arg(long, value_name = "IMAGE", conflicts_with = "inspect")]
    image: Option<String>,
    /// Check the labels in this output of `docker image inspect`; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    inspect: Option<PathBuf>,
    #[command(flatten)]
    table: TableFlag,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// More than an engine says of an image.
const MOST: u64 = 4 << 20;

/// What was looked at, and what it says.
struct Finding {
    what: String,
    found: Option<String>,
    /// Why it is not what the table speaks of.
    fault: Option<String>,
}

impl Check {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let table = self.table.load()?;
        let row = super::show::row(&table, &self.agent_name)?;
        // The version is the same with every provider and login, so any will do.
        let login = row.usable().and_then(|usable| usable.auth.iter().next());
        let provider = login.and_then(|(_, login)| login.providers.first());
        let ask = Ask {
            agent: &self.agent_name,
            provider: provider.map(String::as_str),
            auth: login.map(|(auth, _)| *auth),
            version: None,
        };
        let choice = table.choose(&ask).map_err(|refused| Failure::refused(refused.to_string()))?;
        let finding = match (&self.version, &self.image, &self.inspect) {
            (Some(version), ..) => {
                compare(&choice, "--agent-version".to_owned(), std::slice::from_ref(version))
            }
            (None, Some(image), _) => labels(&choice, &format!("image {image}"), &inspect(image)?)?,
            (None, None, Some(file)) => labels(&choice, &named(file), &read(file)?)?,
            (None, None, None) => self.ask(&choice)?,
        };
        self.report(&choice, &finding)
    }

    /// Asks a program.
    fn ask(&self, choice: &Choice<'_>) -> Result<Finding, Failure> {
        let program = match &self.program {
            Some(program) => program.clone().into_os_string(),
            None => OsString::from(&choice.usable().program),
        };
        let shown = program.to_string_lossy().into_owned();
        let answer = ask::version(&program)?.ok_or_else(|| {
            Failure::refused(format!("{shown} is not installed here, so its version can't be checked"))
                .remedy("name it with --program PATH, or give --agent-version VERSION, --image IMAGE or --inspect FILE")
        })?;
        let said = answer.said();
        let found: Vec<String> = versions_in(&said).iter().map(Version::to_string).collect();
        if answer.code != Some(0) || found.is_empty() {
            let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
            let line = crate::output::harmless(line).into_owned();
            return Err(Failure::refused(format!("{shown} --version does not say a version, but: {line}")));
        }
        Ok(compare(choice, format!("{shown} --version"), &found))
    }

    fn report(&self, choice: &Choice<'_>, finding: &Finding) -> Result<ExitCode, Failure> {
        let (name, pinned) = (&choice.row().name, &choice.usable().version);
        let Finding { what, found, fault } = finding;
        if self.json {
            print_json(&json!({
                "schema": 1, "agent": name, "pinned": pinned, "checked": what, "found": found,
                "matches": fault.is_none(), "fault": fault,
            }))?;
        } else if fault.is_none() {
            print(&format!("{name} {pinned}: {what} matches\n"))?;
        }
        match fault {
            None => Ok(ExitCode::SUCCESS),
            Some(fault) => Err(Failure::refused(fault.clone())),
        }
    }
}

fn compare(choice: &Choice<'_>, what: String, found: &[String]) -> Finding {
    let (name, pinned) = (&choice.row().name, &choice.usable().version);
    let matches = found.iter().any(|found| found == pinned.as_str());
    let fault = (!matches).then(|| {
        let found: Vec<_> = found.iter().map(|found| crate::output::harmless(found).into_owned()).collect();
        format!(
            "{what} says {}, and the agent table knows {name} {pinned}: another version may have other tools and obey other switches",
            found.join(", ")
        )
    });
    Finding { what, found: found.first().cloned(), fault }
}

fn labels(choice: &Choice<'_>, what: &str, text: &str) -> Result<Finding, Failure> {
    let unusable = |fault: closedbook_agents::LabelFault| Failure::usage(format!("{what}: {fault}"));
    let labels = Labels::from_inspect(text).map_err(unusable)?;
    let usable = choice.usable();
    let names_version = |(_, value): &(&String, &String)| *value == usable.version.as_str();
    let version = usable.labels.iter().find(names_version).and_then(|(label, _)| labels.get(label));
    let fault = labels.check(choice).err().map(|fault| format!("{what}: {fault}"));
    Ok(Finding { what: format!("{what}, by its labels,"), found: version.map(str::to_owned), fault })
}

fn inspect(image: &str) -> Result<String, Failure> {
    let output = Command::new("docker")
        .args(["image", "inspect", "--", image])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            Failure::host(format!("can't run docker: {error}")).remedy("give --inspect FILE instead")
        })?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::refused(format!("docker image inspect {image}: {}", why.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn read(file: &Path) -> Result<String, Failure> {
    input::text(file, MOST).map_err(|why| Failure::usage(format!("can't read {}: {why}", file.display())))
}

fn named(file: &Path) -> String {
    match file.as_os_str() == "-" {
        true => "the image on standard input".to_owned(),
        false => format!("the image in {}", file.display()),
    }
}
