//! What /proc tells of the proxy.

use std::fs;

use crate::Result;

/// A process, by its number in the pid namespace of this one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Process(u32);

/// Processor time, in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) user: f64,
    pub(crate) system: f64,
}

/// Length of the ticks in /proc/PID/stat: USER_HZ is 100 on every machine that this runs on (proc(5)).
const TICK: f64 = 0.01;

impl Process {
    /// The outer half of the sidecar that some process has started.
    pub(crate) fn proxy_of(ancestor: u32) -> Result<Self> {
        let mut todo = vec![ancestor];
        while let Some(pid) = todo.pop() {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            if words.starts_with(b"closedbook\0sidecar\0outer\0") {
                return Ok(Self(pid));
            }
            let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
            todo.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
        Err(format!("process {ancestor} has started no proxy").into())
    }

    /// Resident memory, in KiB.
    pub(crate) fn resident(self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }

    /// Processor time so far.
    pub(crate) fn spent(self) -> Result<Spent> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0))?;
        // The name in parentheses may hold blanks. Then: state is field 3, utime 14, stime 15.
        let (_, fields) = stat.rsplit_once(") ").ok_or("no stat")?;
        let mut times = fields.split(' ').skip(11).map(str::parse::<f64>);
        let mut next = || -> Result<f64> { Ok(times.next().ok_or("no times in stat")?? * TICK) };
        Ok(Spent { user: next()?, system: next()? })
    }
}

impl Spent {
    /// What was spent since then.
    pub(crate) fn since(self, before: Self) -> Self {
        Self { user: self.user - before.user, system: self.system - before.system }
    }
}
