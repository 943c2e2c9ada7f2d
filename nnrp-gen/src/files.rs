//! Writing files so that nobody ever sees half of one.

use std::fs;
use std::io;
use std::path::Path;

/// Puts `text` into `path`, through a new file beside it. A file that holds the text already is left
/// alone, so that nothing is rebuilt for it.
///
/// # Errors
///
/// What the file system said; the old file is then as it was.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // The reason is in `written`; a file that is not there needs no removing.
        let _ = fs::remove_file(&beside);
    }
    written
}
