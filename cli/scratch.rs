//! A folder of its own, with a home and a work directory in it that hold nothing.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use nix::unistd::mkdtemp;

use crate::exit::Failure;

/// A folder that goes with this value.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// A new one, for its owner alone.
    pub(crate) fn new() -> Result<Self, Failure> {
        let wanted = std::env::temp_dir().join("closedbook-XXXXXX");
        let made = mkdtemp(&wanted).map_err(io::Error::from).and_then(fs::canonicalize);
        let scratch = Self(made.map_err(|error| cannot("make a folder in", &std::env::temp_dir(), &error))?);
        for folder in [scratch.home(), scratch.work()] {
            DirBuilder::new()
                .mode(0o700)
                .create(&folder)
                .map_err(|error| cannot("make the folder", &folder, &error))?;
        }
        Ok(scratch)
    }

    /// The home folder.
    pub(crate) fn home(&self) -> PathBuf {
        self.0.join("home")
    }

    /// The working directory: empty.
    pub(crate) fn work(&self) -> PathBuf {
        self.0.join("work")
    }

    /// A file besides.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file below the home folder, whose path is told from there: `~/.x/y`.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<(), Failure> {
        let below = path.strip_prefix("~/").filter(|below| Path::new(below).components().all(is_plain));
        let below = below
            .ok_or_else(|| Failure::refused(format!("{path}: a probe writes below the home folder alone")))?;
        let file = self.home().join(below);
        file.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&file, text))
            .map_err(|error| cannot("write", &file, &error))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What can't be removed lies in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn is_plain(part: std::path::Component<'_>) -> bool {
    matches!(part, std::path::Component::Normal(_))
}

pub(crate) fn cannot(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::host(format!("can't {what} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stay_below_the_home_folder() {
        let scratch = Scratch::new().unwrap();
        scratch.write("~/.a/b/c.json", "{}").unwrap();
        assert_eq!(fs::read_to_string(scratch.home().join(".a/b/c.json")).unwrap(), "{}");
        for path in ["/etc/x", "~/../x", "~/a/../../x", "x", "~//etc/x"] {
            assert!(scratch.write(path, "").is_err(), "{path}");
        }
        let folder = scratch.home();
        drop(scratch);
        assert!(!folder.exists());
    }
}
