//! Crates that use the derives as their users do: under lints, without std, renamed, through another crate, and with
//! a registry that changes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

#[test]
fn users_build() {
    let users = Users::new("users");
    users.builds("strict");
    users.builds("facade");
    users.builds("behind");
}

/// What clippy says of a user's code is not about ours.
#[test]
fn users_are_clean() {
    let users = Users::new("users-clippy");
    let output = users.cargo("clippy", "strict");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_registry_is_looked_at_again() {
    let users = Users::new("users-stale");
    let file = users.folder.join("stale/registry/chunk.toml");
    users.builds("stale");
    assert!(users.is_fresh("stale"));

    let text = fs::read_to_string(&file).unwrap();
    write(&file, &text.replace("u32", "u16"));
    let refused = users.cargo("check", "stale");
    assert!(!refused.status.success(), "an edit was not seen");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("bytes 2..4 belong to no field"), "{said}");

    write(&file, &text);
    users.builds("stale");
    fs::remove_file(&file).unwrap();
    let refused = users.cargo("check", "stale");
    assert!(!refused.status.success(), "a removal was not seen");
}

/// Writes a file so that its time is another one, on file systems with coarse times too.
fn write(file: &Path, text: &str) {
    std::thread::sleep(std::time::Duration::from_millis(1100));
    fs::write(file, text).unwrap();
}

/// A copy of the crates.
struct Users {
    folder: PathBuf,
}

impl Users {
    fn new(name: &str) -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = target().join(name);
        let _ = fs::remove_dir_all(&folder);
        copy(&here.join("users"), &folder, &here.join("../nnrp-core").canonicalize().unwrap());
        fs::copy(here.join("../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
        Self { folder }
    }

    fn cargo(&self, command: &str, package: &str) -> Output {
        Command::new(env!("CARGO"))
            .args([command, "--offline", "--package", package, "--target-dir"])
            .arg(target())
            .current_dir(&self.folder)
            .output()
            .unwrap()
    }

    #[track_caller]
    fn builds(&self, package: &str) {
        let output = self.cargo("check", package);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(!said.contains("warning"), "{said}");
    }

    fn is_fresh(&self, package: &str) -> bool {
        let output = self.cargo("check", package);
        output.status.success()
            && !String::from_utf8_lossy(&output.stderr).contains(&format!("Checking {package}"))
    }
}

fn copy(from: &Path, to: &Path, core: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to, core);
        } else {
            let text = fs::read_to_string(&path).unwrap();
            fs::write(to, text.replace("CORE", &core.display().to_string().replace('\\', "/"))).unwrap();
        }
    }
}

/// The folder that this test was built in.
fn target() -> PathBuf {
    env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}
