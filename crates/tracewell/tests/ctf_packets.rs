//! Tests that packets are read in the right order and that losses are found. Some tests read
//! damaged and truncated streams with LTTng's index files. Others read copies of a target's memory.
//! The traces are in the shared data.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{settings, shared};
use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::input::Input;
use tracewell::model::{LossCause, Severity, Trace};
use tracewell::select::Selection;

/// A copy of the trace `lttng-ust/discard`. At least one of its streams has several packets.
struct Copy {
    folder: tempfile::TempDir,
    /// The stream file with the most packets, and the offsets of its packets.
    stream: PathBuf,
    offsets: Vec<usize>,
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if path.is_dir() {
            fs::create_dir(to.join(&name)).unwrap();
            copy(&path, &to.join(&name));
        } else {
            // The copies are writable even if the originals are not.
            fs::write(to.join(name), fs::read(path).unwrap()).unwrap();
        }
    }
}

fn index_of(stream: &Path) -> PathBuf {
    let name = format!("{}.idx", stream.file_name().unwrap().to_str().unwrap());
    stream.parent().unwrap().join("index").join(name)
}

fn offsets(stream: &Path) -> Vec<usize> {
    let Ok(index) = fs::read(index_of(stream)) else { return Vec::new() };
    let entries = index[16..].chunks_exact(72);
    entries.map(|entry| u64::from_be_bytes(entry[..8].try_into().unwrap()) as usize).collect()
}

fn streams(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
    folders.iter().flat_map(|folder| streams(folder)).chain(files).collect()
}

impl Copy {
    fn new() -> Option<Self> {
        let trace = shared()?.join("data/ctf/lttng-ust/discard/trace");
        let folder = tempfile::tempdir().unwrap();
        copy(&trace, folder.path());
        let stream = streams(folder.path()).into_iter().max_by_key(|path| offsets(path).len());
        let stream = stream.unwrap();
        let offsets = offsets(&stream);
        assert!(offsets.len() > 1, "{offsets:?}");
        Some(Self { folder, stream, offsets })
    }

    fn read(&self) -> Trace {
        Input::open(self.folder.path(), settings(&[])).unwrap().for_each(|_| ()).unwrap()
    }

    fn change(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(path).unwrap();
        change(&mut bytes);
        fs::write(path, bytes).unwrap();
    }
}

fn messages(trace: &Trace, severity: Severity) -> Vec<String> {
    let all = trace.diagnostics.iter().filter(|found| found.severity == severity);
    all.map(|found| found.message.clone()).collect()
}

#[test]
fn a_stream_that_ends_before_a_listed_packet_has_a_loss() {
    let Some(copy) = Copy::new() else { return };
    let whole = copy.read();
    assert_eq!(messages(&whole, Severity::Damage), [] as [String; 0]);
    let last = *copy.offsets.last().unwrap();
    copy.change(&copy.stream, |bytes| bytes.truncate(last));
    let cut = copy.read();
    assert!(cut.events < whole.events);
    let damage = messages(&cut, Severity::Damage);
    let expected = format!("at byte {last}: the index lists 1 packet after the end of the file");
    assert!(damage.len() == 1 && damage[0].ends_with(&expected), "{damage:?}");
    let truncated = cut.losses.iter().filter(|(cause, _)| *cause == LossCause::Truncated);
    assert_eq!(truncated.count(), 1);
    // Without the index, the reader cannot detect the truncation.
    fs::remove_file(index_of(&copy.stream)).unwrap();
    assert_eq!(messages(&copy.read(), Severity::Damage), [] as [String; 0]);
}

#[test]
fn reading_continues_at_the_next_listed_packet_after_damage() {
    let Some(copy) = Copy::new() else { return };
    let whole = copy.read();
    let [first, second, ..] = copy.offsets[..] else { panic!("{:?}", copy.offsets) };
    copy.change(&copy.stream, |bytes| {
        // Make bytes within the first packet look like the start of a packet.
        let start = bytes[first..first + 20].to_vec();
        bytes[first + 100..first + 120].copy_from_slice(&start);
        bytes[first] ^= 0xFF;
    });
    let damaged = copy.read();
    let damage = messages(&damaged, Severity::Damage);
    assert_eq!(damage.len(), 1, "{damage:?}");
    assert!(damaged.events < whole.events && damaged.events > 0, "{second}");
}

#[test]
fn an_index_that_disagrees_with_its_stream_is_ignored() {
    let Some(copy) = Copy::new() else { return };
    let whole = copy.read();
    let index = index_of(&copy.stream);
    // Change the least significant byte of the first packet's size.
    copy.change(&index, |bytes| bytes[16 + 15] ^= 8);
    let read = copy.read();
    assert_eq!(read.events, whole.events);
    let warnings = messages(&read, Severity::Warning);
    let is_about_size = |warning: &String| {
        warning.contains("expected a packet with a size in bits of")
            && warning.ends_with("the index of the file is ignored")
    };
    assert_eq!(warnings.iter().filter(|warning| is_about_size(warning)).count(), 1, "{warnings:?}");
    // The reader does not use a file that is not an index.
    fs::write(index, b"not an index").unwrap();
    assert_eq!(messages(&copy.read(), Severity::Warning), messages(&whole, Severity::Warning));
}

/// Returns the events of a trace as JSON lines.
fn lines(folder: &Path) -> String {
    let mut writer = EventWriter::new(Vec::new(), EventFormat::JsonLines, Selection::default());
    Input::open(folder, settings(&[])).unwrap().read(&mut writer).unwrap();
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

#[test]
fn a_copy_of_a_circular_memory_is_read_in_order_of_time() {
    let Some(shared) = shared() else { return };
    let circular = shared.join("data/ctf/zephyr/u64/circular");
    let folder = tempfile::tempdir().unwrap();
    let metadata = fs::read(circular.join("trace/metadata")).unwrap();
    fs::write(folder.path().join("metadata"), metadata).unwrap();
    let memory = fs::read(circular.join("ram.bin")).unwrap();
    fs::write(folder.path().join("channel0_0"), memory).unwrap();
    let (found, expected) = (lines(folder.path()), lines(&circular.join("trace")));
    assert!(expected.lines().count() > 1000);
    let differing = expected.lines().zip(found.lines()).find(|(one, other)| one != other);
    assert_eq!(differing, None);
    assert_eq!(found.len(), expected.len());
}

#[test]
fn all_events_before_the_padding_of_a_memory_are_read() {
    let Some(shared) = shared() else { return };
    assert_eq!(lines(&shared.join("data/ctf/zephyr/u8/ram/trace")).lines().count(), 2368);
}
