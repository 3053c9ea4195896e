use std::fmt::Write as _;
use std::process::ExitCode;

use closedbook_lab::{Control, LabError, Place, World};
use serde_json::Value;

use super::{failure, named, print};
use crate::exit::Failure;

#[derive(clap::Args)]
pub(crate) struct Hosts {
    /// Which running lab; without one, the names that every lab knows.
    #[arg(long)]
    name: Option<String>,
    /// As a JSON array.
    #[arg(long)]
    json: bool,
}

impl Hosts {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let hosts = match Place::find(&named(self.name.as_deref())?) {
            Ok((place, _)) => {
                Control::connect(&place).and_then(|mut lab| lab.ask("hosts")).map_err(failure)?
            }
            Err(LabError::Absent(_)) if self.name.is_none() => serde_json::to_value(World::new().hosts())
                .map_err(|error| Failure::bug(format!("can't write the hosts: {error}")))?,
            Err(error) => return Err(failure(error)),
        };
        if self.json {
            print(&format!("{hosts}\n"));
            return Ok(ExitCode::SUCCESS);
        }
        let mut table = String::new();
        for host in hosts.as_array().map(Vec::as_slice).unwrap_or_default() {
            let field = |name| host.get(name).and_then(Value::as_str).unwrap_or("-");
            let [role, v4, v6, name] = ["role", "v4", "v6", "name"].map(field);
            // Writing to a String can't fail.
            let _ = writeln!(table, "{role:<12}{v4:<16}{v6:<22}{name}");
        }
        print(&table);
        Ok(ExitCode::SUCCESS)
    }
}
