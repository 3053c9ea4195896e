use std::process::ExitCode;

use closedbook_lab::{Control, Place};

use super::{failure, named};
use crate::exit::Failure;

#[derive(clap::Args)]
pub(crate) struct Down {
    /// Which one.
    #[arg(long)]
    name: Option<String>,
}

impl Down {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let (place, _) = Place::find(&named(self.name.as_deref())?).map_err(failure)?;
        Control::connect(&place).and_then(Control::stop).map_err(failure)?;
        Ok(ExitCode::SUCCESS)
    }
}
