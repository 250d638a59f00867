//! Kills `tracewell template update` at different times. Afterwards, the template file must be the
//! old or the new file. If it is the new file, an undo file must exist that restores the old file.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tracewell::compressed::lzw::{compress, decompress};
use tracewell::template::Source;
use tracewell::template::update::{Applied, apply, read};

/// Minimum number of kills in each test.
const KILLS: u32 = 50;

/// Returns a file with many templates, so that writing it takes some time.
fn old() -> String {
    let mut text = String::from("# ours\n");
    for id in 0x100..0x600 {
        let _ = writeln!(text, "{id:03X} 1.0 L=SVC \"event {id}\" \\\n  \"unit=\" U1 \"dir=\" X1");
    }
    text
}

fn new() -> String {
    let mut text = String::from("* /etc/trcfmt\n- 100\n");
    for id in (0x200..0x300).rev() {
        let _ = writeln!(text, "+ {id:03X} 1.1 \"changed {id}\" X4");
    }
    text
}

fn applied(text: &str, update: &str, force: bool) -> Applied {
    let records = read(&Source::new("u.trc", update)).unwrap();
    apply(&Source::new("trcfmt", text), &records, force)
}

fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    command.args(["template", "update", "-t", "my.fmt", "u"]).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn stanzas(text: &str) -> Vec<String> {
    let mut stanzas: Vec<_> = text.replace("\\\n", "").lines().map(str::to_owned).collect();
    stanzas.sort();
    stanzas
}

/// Repeats the same update, and kills each repetition after a longer delay. Returns the number of
/// kills that left the old file in place.
fn killed(packed: bool) -> u32 {
    let (old, update) = (old(), new());
    let expected = applied(&old, &update, false);
    let bytes = if packed { compress(old.as_bytes()) } else { old.clone().into_bytes() };
    let folder = tempfile::tempdir().unwrap();
    let [path, undo] = ["my.fmt", "u.undo.trc"].map(|name| folder.path().join(name));
    std::fs::write(folder.path().join("u.trc"), &update).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    let start = Instant::now();
    assert!(program(folder.path()).status().unwrap().success());
    let whole = start.elapsed();
    let (mut changed, mut rounds) = (0, 0);
    // If every kill so far was too late, repeat the early kills.
    while rounds < KILLS || changed == rounds && rounds < 100 * KILLS {
        let kill = if rounds < KILLS { rounds } else { 0 };
        rounds += 1;
        std::fs::write(&path, &bytes).unwrap();
        let _ = std::fs::remove_file(&undo);
        let mut child = program(folder.path()).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(1.2) * kill / KILLS + Duration::from_micros(kill.into()));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = std::fs::read(&path).unwrap();
        if found == bytes {
            continue;
        }
        changed += 1;
        let text = if packed { decompress(&found).unwrap() } else { found };
        let text = String::from_utf8(text).unwrap();
        assert!(text == expected.text, "kill {kill}: neither the old file nor the new one");
        let undo = std::fs::read_to_string(&undo).unwrap();
        assert!(undo == expected.undo, "kill {kill}: the undo file is not complete");
        let back = applied(&text, &undo, true).text;
        assert!(stanzas(&back) == stanzas(&old), "kill {kill}: the undo file does not lead back");
    }
    rounds - changed
}

#[test]
fn a_plain_file_survives_kills() {
    let early = killed(false);
    assert!(early > 0, "no kill was early enough to hit the update");
}

#[test]
fn a_compressed_file_survives_kills() {
    let early = killed(true);
    assert!(early > 0, "no kill was early enough to hit the update");
}
