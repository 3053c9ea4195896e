//! What is known of a start: flags, a file of variables, a harness's job.

use std::collections::BTreeMap;
use std::io::{self};
use std::path::Path;

use closedbook_audit::config::harbor::{self, JobAgent, Overlay};
use closedbook_audit::config::{self, Files, Launch, Origin, Report};

use super::{Config, names};
use crate::exit::Failure;
use crate::input;

/// More than any job or file of variables has.
const MOST: u64 = 2 << 20;

/// One start.
pub(super) struct Start<'c> {
    config: &'c Config,
    agent: String,
    job: Option<JobAgent>,
    env: BTreeMap<String, (String, Origin)>,
    home: String,
    workdir: String,
}

impl<'c> Start<'c> {
    /// Every start that the flags name.
    pub(super) fn all(config: &'c Config) -> Result<Vec<Self>, Failure> {
        let env = variables(config)?;
        let Some(job) = &config.job else {
            let agent = config.agent.clone().unwrap_or_default();
            return Ok(vec![Self::of(config, agent, None, env)?]);
        };
        let name = job.display().to_string();
        let bytes = bytes(job).map_err(|error| Failure::usage(format!("can't read {name}: {error}")))?;
        let agents =
            harbor::read(&name, &bytes).map_err(|malformed| Failure::usage(malformed.to_string()))?;
        let mut starts = Vec::new();
        for job in agents {
            let Some(agent) = job.agent.clone() else {
                if config.agent.is_some() {
                    continue;
                }
                return Err(unknown(&format!("{} ({})", job.called, job.field)));
            };
            if config.agent.as_ref().is_none_or(|wanted| *wanted == agent) {
                starts.push(Self::of(config, agent, Some(job), env.clone())?);
            }
        }
        if starts.is_empty() {
            let wanted = config.agent.as_deref().unwrap_or_default();
            return Err(Failure::usage(format!("{name} has no agent {wanted:?}")));
        }
        Ok(starts)
    }

    fn of(
        config: &'c Config,
        agent: String,
        job: Option<JobAgent>,
        env: BTreeMap<String, (String, Origin)>,
    ) -> Result<Self, Failure> {
        let is_here = config.root == Path::new("/");
        let home = config
            .home
            .clone()
            .or_else(|| env.get("HOME").map(|(home, _)| home.clone()))
            .or_else(|| std::env::var("HOME").ok().filter(|_| is_here))
            .ok_or_else(|| missing("--home", "the agent's home folder"))?;
        let workdir = match &config.workdir {
            Some(workdir) => workdir.clone(),
            None if is_here => std::env::current_dir()
                .map_err(|error| Failure::host(format!("can't tell the current folder: {error}")))?
                .to_string_lossy()
                .into_owned(),
            // A project's files can bring the web, so which project it is must not be guessed.
            None => return Err(missing("--workdir", "the folder that the agent is started in")),
        };
        for (flag, path) in [("--home", &home), ("--workdir", &workdir)] {
            if !path.starts_with('/') {
                return Err(Failure::usage(format!("{flag} {path:?} must be an absolute path")));
            }
        }
        Ok(Self { config, agent, job, env, home, workdir })
    }

    /// Where a job names it.
    pub(super) fn field(&self) -> Option<String> {
        self.job.as_ref().map(|job| job.field.clone())
    }

    pub(super) fn audit(&self, files: &dyn Files) -> Result<Report, Failure> {
        let launch = |files| Launch {
            argv: self.config.argv.as_ref().map(|argv| {
                let number =
                    |(at, word): (usize, &String)| (word.clone(), Origin::Argument { number: at + 1 });
                argv.iter().enumerate().map(number).collect()
            }),
            env: self.env.clone(),
            env_is_whole: self.config.clean_env,
            home: self.home.clone(),
            workdir: self.workdir.clone(),
            uid: self.config.uid,
            version: self.config.version.clone(),
            files,
        };
        let report = match &self.job {
            None => config::audit(&self.agent, &launch(files)),
            Some(job) => {
                let overlay = Overlay::new(files, &job.written, &self.home);
                let mut report = config::audit(&self.agent, &job.launch(launch(files), &overlay));
                if let Some(report) = &mut report {
                    report.remarks.extend(job.remarks.iter().cloned());
                }
                report
            }
        };
        report.ok_or_else(|| unknown(&self.agent))
    }
}

fn unknown(agent: &str) -> Failure {
    Failure::usage(format!("there is no auditor for the agent {agent}"))
        .remedy(format!("the agents that can be audited are {}", names()))
}

fn missing(flag: &str, what: &str) -> Failure {
    Failure::usage(format!("with --root, {flag} must be given")).remedy(format!("give {what} as it sees it"))
}

/// The variables of the flags, and below them those of the file.
fn variables(config: &Config) -> Result<BTreeMap<String, (String, Origin)>, Failure> {
    let mut env = BTreeMap::new();
    let mut add = |line: &str, whence: &str| {
        let Some((name, value)) = line.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(Failure::usage(format!("{whence}: {line:?} must be NAME=VALUE")));
        };
        let origin = Origin::Variable { name: name.to_owned() };
        env.insert(name.to_owned(), (value.to_owned(), origin));
        Ok(())
    };
    if let Some(path) = &config.env_file {
        let name = path.display().to_string();
        let bytes = bytes(path).map_err(|error| Failure::usage(format!("can't read {name}: {error}")))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            Failure::usage(format!("{name}: byte {} is no UTF-8", error.utf8_error().valid_up_to()))
        })?;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_start();
            if !line.is_empty() && !line.starts_with('#') {
                add(line, &format!("{name}, line {}", number + 1))?;
            }
        }
    }
    for line in &config.env {
        add(line, "--env")?;
    }
    Ok(env)
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = input::bytes(path, MOST)?;
    match bytes.len() as u64 {
        MOST.. => Err(io::Error::other(format!("it has {MOST} bytes or more"))),
        _ => Ok(bytes),
    }
}
