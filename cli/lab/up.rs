use std::process::ExitCode;

use closedbook_lab::Lab;
use nix::sys::signal::Signal;
use serde_json::json;

use super::signals::Held;
use super::{Shape, failure, named, print};
use crate::exit::Failure;

#[derive(clap::Args)]
pub(crate) struct Up {
    /// What to call it.
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    shape: Shape,
    /// Say where things are as one line of JSON.
    #[arg(long)]
    json: bool,
}

impl Up {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let name = named(self.name.as_deref())?;
        let held = Held::back()?;
        let lab = Lab::start(self.shape.plan(name.clone())).map_err(failure)?;
        let place = lab.place();
        if self.json {
            let line = json!({
                "name": name.to_string(), "ca": place.ca(), "witness": place.log(), "control": place.control(),
            });
            print(&format!("{line}\n"));
        } else {
            let (ca, log, control) = (place.ca(), place.log(), place.control());
            print(&format!(
                "ca       {}\nwitness  {}\ncontrol  {}\nready    closedbook lab exec --name {name} -- COMMAND\n",
                ca.display(),
                log.display(),
                control.display(),
            ));
        }
        // The lab's end is the only child's end there is.
        match held.next()? {
            Signal::SIGCHLD => lab.wait().map_err(failure)?,
            _ => drop(lab),
        }
        Ok(ExitCode::SUCCESS)
    }
}
