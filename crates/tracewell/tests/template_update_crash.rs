//! Kills an update of a template file at each of its steps. The test starts itself as the process
//! that is killed, and then checks the files on the disk.

use std::path::{Path, PathBuf};
use std::process::Command;

use tracewell::compressed::lzw::{compress, decompress, is_compressed};
use tracewell::template::Source;
use tracewell::template::update::store::{self, TemplateFile};
use tracewell::template::update::{Applied, apply, read};

/// Environment variable: the number of steps after which the child dies. Without it, the test
/// `child` does nothing.
const STEP: &str = "TRACEWELL_TEST_DIES_AT_STEP";
const FOLDER: &str = "TRACEWELL_TEST_FOLDER";

/// Steps of a whole update: six for each of two files.
const STEPS: usize = 12;

const OLD: &str = "# ours\n0AA 1.0 \"a\"\n0AB 2.0 \"b\" \\\n  X2\n";
const UPDATE: &str = "* /etc/trcfmt\n+ 0AB 2.1 \"new\" X4\n- 0AA\n+ 0AD 1.0 \"d\"\n";

fn applied(text: &str, update: &str, force: bool) -> Applied {
    let records = read(&Source::new("u.trc", update)).unwrap();
    apply(&Source::new("trcfmt", text), &records, force)
}

fn files(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join("my.fmt"), folder.join("u.undo.trc"))
}

/// Writes the undo file, then the template file, and dies at a step.
fn update(folder: &Path, dies_at: usize) {
    let (path, undo) = files(folder);
    let file = TemplateFile::open(&path).unwrap();
    let text = String::from_utf8(file.text.clone()).unwrap();
    let applied = applied(&text, UPDATE, false);
    let mut done = 0;
    let mut step = |_: &Path, _| {
        done += 1;
        if done == dies_at {
            std::process::abort();
        }
    };
    store::replace(&undo, applied.undo.as_bytes(), &mut step).unwrap();
    file.replace(applied.text.as_bytes(), &mut step).unwrap();
}

/// This is not a test of its own: it is the process that dies.
#[test]
fn child() {
    let (Ok(step), Some(folder)) = (std::env::var(STEP), std::env::var_os(FOLDER)) else { return };
    update(Path::new(&folder), step.parse().unwrap());
}

/// Runs the child. Returns true if it survived.
fn lives(folder: &Path, dies_at: usize) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child", "--exact", "--test-threads=1"]);
    command.env(STEP, dies_at.to_string()).env(FOLDER, folder);
    command.output().unwrap().status.success()
}

/// Reads the template file as an update reads it.
fn text_of(path: &Path) -> String {
    String::from_utf8(TemplateFile::open(path).unwrap().text).unwrap()
}

/// Asserts that the file is either the old or the new one. If it is the new one, asserts that the
/// undo file restores the old content. Returns true if the new file exists.
fn judge(folder: &Path, what: &str) -> bool {
    let (path, undo) = files(folder);
    let found = text_of(&path);
    let expected = applied(OLD, UPDATE, false);
    if found == OLD {
        return false;
    }
    assert_eq!(found, expected.text, "{what}: neither the old file nor the new one");
    let undo = std::fs::read_to_string(undo).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(undo, expected.undo, "{what}: the undo file is not complete");
    // Undoing restores deleted templates at the end of the file, so compare the templates without
    // their order.
    let back = applied(&found, &undo, true).text;
    let lines = |text: &str| -> Vec<String> {
        let mut lines: Vec<_> = text.replace("\\\n", "").lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(lines(&back), lines(OLD), "{what}: the undo file does not restore the old file");
    true
}

/// Starts updates of a file with these bytes, and kills the updating process at each step in turn.
/// For each step, returns true if the new file existed afterwards.
fn deaths(old: &[u8]) -> Vec<bool> {
    let run = |dies_at| {
        let folder = tempfile::tempdir().unwrap();
        let (path, _) = files(folder.path());
        std::fs::write(&path, old).unwrap();
        assert!(!lives(folder.path(), dies_at), "the process was to die at step {dies_at}");
        let is_new = judge(folder.path(), &format!("step {dies_at}"));
        assert_eq!(is_compressed(&std::fs::read(&path).unwrap()), is_compressed(old));
        // Leftover files do not prevent a later update.
        if !is_new {
            assert!(lives(folder.path(), 0));
            assert!(judge(folder.path(), "a second update"));
        }
        is_new
    };
    (1..=STEPS).map(run).collect()
}

#[test]
fn an_update_that_dies_leaves_the_old_file_or_the_new_one_with_its_undo_file() {
    let new = deaths(OLD.as_bytes());
    // The process replaces the undo file first, and then the template file. The template file
    // changes at its rename, which is the last step but one.
    let expected: Vec<_> = (1..=STEPS).map(|step| step >= STEPS - 1).collect();
    assert_eq!(new, expected);
}

#[test]
fn a_compressed_file_stays_compressed_through_every_death() {
    let old = compress(OLD.as_bytes());
    assert_eq!(deaths(&old).iter().filter(|is_new| **is_new).count(), 2);
}

#[test]
fn a_step_beyond_the_last_kills_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = files(folder.path());
    std::fs::write(&path, compress(OLD.as_bytes())).unwrap();
    assert!(lives(folder.path(), STEPS + 1));
    assert!(judge(folder.path(), "no death"));
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(decompress(&bytes).unwrap(), applied(OLD, UPDATE, false).text.as_bytes());
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = files(folder.path());
    let real = folder.path().join("real.fmt");
    std::fs::write(&real, OLD).unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&real, &path).unwrap();
    update(folder.path(), 0);
    assert!(path.is_symlink());
    assert_eq!(text_of(&real), applied(OLD, UPDATE, false).text);
    let mode = std::fs::metadata(&real).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}
