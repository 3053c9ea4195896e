//! `closedbook log`: the decision log, for people.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use crate::exit::Failure;
use crate::instance::{Notice, Target};
use crate::output::{is_colourful, print_line};

mod line;

/// Show the decision log of a running closedbook, or of a file.
///
/// A running closedbook remembers the last 1000 records; the whole log is in the file that `run --log` names.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// A decision log; `-` reads standard input. Without it, a running closedbook is asked.
    #[arg(value_name = "FILE", conflicts_with_all = ["follow", "last", "instance", "pid", "control"])]
    file: Option<PathBuf>,

    /// Go on with what comes.
    #[arg(long, short)]
    follow: bool,

    /// So many of the last records.
    #[arg(long, value_name = "COUNT", default_value_t = 1000, hide_default_value = true)]
    last: usize,

    /// Print the records as they are: JSON Lines.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: Target,
}

impl Log {
    /// Does it.
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match &self.file {
            Some(file) => self.of_file(file)?,
            None => self.of_instance()?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn of_instance(&self) -> Result<(), Failure> {
        let mut client = self.target.connect()?;
        let following: closedbook_sidecar::control::report::Following =
            client.call("log.follow", json!({ "last": self.last, "follow": self.follow }))?;
        let mut past = 0;
        while self.follow || past < following.past {
            match client.notice()? {
                Some(Notice::Record(record)) => {
                    past += 1;
                    if !self.show(&record)? {
                        return Ok(());
                    }
                }
                Some(Notice::Missed(records)) => {
                    eprintln!("closedbook: {records} records came too fast to be shown");
                }
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn of_file(&self, path: &Path) -> Result<(), Failure> {
        let unreadable = |error: io::Error| Failure::usage(format!("can't read {}: {error}", path.display()));
        let lines: Box<dyn BufRead> = match path.as_os_str() == "-" {
            true => Box::new(io::stdin().lock()),
            false => Box::new(BufReader::new(File::open(path).map_err(unreadable)?)),
        };
        for (number, line) in (1..).zip(lines.lines()) {
            let line = line.map_err(unreadable)?;
            let record: Value = serde_json::from_str(&line).map_err(|error| {
                Failure::usage(format!("{} line {number} is no record: {error}", path.display()))
            })?;
            if !self.show(&record)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// `false` when nobody reads any more.
    fn show(&self, record: &Value) -> Result<bool, Failure> {
        match self.json {
            true => print_line(&record.to_string()),
            false => print_line(&line::line(record, is_colourful())),
        }
    }
}
