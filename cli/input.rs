//! What is read from files that the command line names.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of a file, or of standard input for `-`; `most` at the most, so that a device or an endless pipe does not fill
/// the memory. Whoever must know that there are more asks for one more than it takes.
pub(crate) fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        io::stdin().take(most).read_to_end(&mut bytes)?;
    } else {
        File::open(path)?.take(most).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The text of a file, or of standard input for `-`: all of it, or why not.
pub(crate) fn text(path: &Path, most: u64) -> Result<String, String> {
    let bytes = bytes(path, most.saturating_add(1)).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > most {
        return Err(format!("it has more than {most} bytes"));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("not UTF-8 text: byte {} can't be read", error.utf8_error().valid_up_to()))
}
