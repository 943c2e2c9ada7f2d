//! Files: whole ones alone are read, and nobody ever sees half of one that is written.

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

/// The bytes of a file, which must be one: what is no file may never end.
///
/// # Errors
///
/// What it is instead, or what the file system said.
pub fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path).map_err(|error| match fs::read_link(path) {
        Ok(to) => io::Error::new(error.kind(), format!("a link to `{}`, which is not there", to.display())),
        Err(_) => error,
    })?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "a folder, and not a file"));
    }
    if !metadata.is_file() {
        return Err(io::Error::other("not a file"));
    }
    fs::read(path)
}
