//! Tests writing chunks to files: names, content, and disk failures.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use tracewell_record::shark::{Areas, DiskWriter, SendError, Trace};
use tracewell_wire::shark::Record;
use tracewell_wire::shark::ids::flag;

type Clock = fn() -> u64;

/// Returns a tracer whose only chunk has this number of records.
fn recorded(records: u16) -> Trace<'static, Clock, 1> {
    let areas = Areas { normal: 1600, ..Areas::default() };
    let clock: Clock = || 5;
    let mut trace = Trace::new(clock);
    trace.chunk_create(vec![0; 2000].leak(), areas, flag::FREE | flag::STOP).unwrap();
    trace.chunk_select(0).unwrap();
    trace.enable().unwrap();
    (0..records).for_each(|number| _ = trace.log(0x09, number, 0));
    trace
}

fn numbers(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks(16).map(|slot| Record::read(slot).unwrap().par1).collect()
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn each_chunk_gets_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut disk = DiskWriter::new(folder.path().join("trace.dat")).unwrap();
    for records in [3, 0] {
        recorded(records).send_chunk(0, flag::FREE, &mut disk).unwrap();
    }
    assert_eq!(files(folder.path()), ["0trace.dat", "1trace.dat"]);
    assert_eq!(numbers(&fs::read(folder.path().join("0trace.dat")).unwrap()), [0, 1, 2]);
    assert_eq!(fs::read(folder.path().join("1trace.dat")).unwrap(), []);
}

#[test]
fn a_chunk_that_cannot_be_written_keeps_its_records_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut disk = DiskWriter::new(folder.path().join("trace.dat")).unwrap();
    let mut trace = recorded(3);
    // A folder with the name of the file exists, so renaming fails after everything was written.
    fs::create_dir(disk.next_path()).unwrap();
    let refused = trace.send_chunk(0, flag::FREE, &mut disk);
    assert!(matches!(refused, Err(SendError::Sender(_))), "{refused:?}");
    assert_eq!(files(folder.path()), ["0trace.dat"]);
    assert_eq!(trace.get_chunk_flags(0), Ok(flag::STOP));
    fs::remove_dir(disk.next_path()).unwrap();
    trace.send_chunk(0, flag::FREE, &mut disk).unwrap();
    assert_eq!(numbers(&fs::read(folder.path().join("0trace.dat")).unwrap()), [0, 1, 2]);

    drop(folder);
    let gone = recorded(1).send_chunk(0, flag::FREE, &mut disk).unwrap_err();
    assert!(matches!(gone, SendError::Sender(error) if error.kind() == ErrorKind::NotFound));
}

/// Accepts at most 5 bytes per call, and `room` bytes in total.
struct SmallDisk {
    room: usize,
    written: Vec<u8>,
}

impl Write for SmallDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(5).min(self.room);
        if taken == 0 {
            return Err(ErrorKind::StorageFull.into());
        }
        self.room -= taken;
        self.written.extend(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn short_writes_are_continued_and_a_full_disk_is_an_error() {
    let mut trace = recorded(4);
    let dump = trace.begin_send(0).unwrap();
    let mut disk = SmallDisk { room: 64, written: Vec::new() };
    assert_eq!(DiskWriter::write(&dump, &mut disk).unwrap(), 4);
    assert_eq!(numbers(&disk.written), [0, 1, 2, 3]);
    for room in 0..64 {
        let mut disk = SmallDisk { room, written: Vec::new() };
        let error = DiskWriter::write(&dump, &mut disk).unwrap_err();
        assert_eq!((error.kind(), disk.written.len()), (ErrorKind::StorageFull, room));
    }
    trace.end_send(dump, None).unwrap();
}

#[test]
fn invalid_file_names_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let kind = |path: &Path| DiskWriter::new(path).map(|_| ()).map_err(|error| error.kind());
    let name = |length| folder.path().join("x".repeat(length));
    assert_eq!(kind(&name(226)), Ok(()));
    assert_eq!(kind(&name(227)), Err(ErrorKind::InvalidInput));
    assert_eq!(kind(Path::new("/")), Err(ErrorKind::InvalidInput));
    assert_eq!(kind(&folder.path().join("none/trace.dat")), Err(ErrorKind::NotFound));
    fs::write(name(1), "").unwrap();
    assert_eq!(kind(&name(1).join("trace.dat")), Err(ErrorKind::NotADirectory));
}
