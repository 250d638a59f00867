//! Tests what happens when recordings are saved to a full disk: the failure is reported, losses are
//! counted, and the program continues.
//!
//! The disk is a small tmpfs in a separate mount namespace, which `unshare` creates for a second
//! run of this program. If that is not permitted, the test prints a message and does nothing else.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use support::{EventLog, settings};
use tracewell::input::Input;
use tracewell_record::shark::{Areas, DiskWriter, SendError, Trace};
use tracewell_record::stream::{
    EventType, Family, Flusher, FullPolicy, Log, Stream, StreamOptions, Take,
};
use tracewell_wire::shark::Record;
use tracewell_wire::shark::ids::flag;

const VARIABLE: &str = "TRACEWELL_TEST_SMALL_DISK";
const TEST: Family = Family::new(1, "test");
static STEP: EventType<(u64, u64)> = EventType::new(TEST, "step", &["number", "square"]);

/// Runs a test of this file again, with `VARIABLE` set to the folder of a 1 MiB disk.
fn on_a_small_disk(test: &str, check: fn(&Path)) {
    if let Some(disk) = std::env::var_os(VARIABLE) {
        return check(Path::new(&disk));
    }
    let folder = tempfile::tempdir().unwrap();
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
        command.arg(folder.path());
        command
    };
    let mount = "mount -t tmpfs -o size=1m none \"$1\"";
    if !unshare(mount).output().is_ok_and(|output| output.status.success()) {
        let _ = writeln!(io::stderr(), "skipped: no tmpfs can be mounted here");
        return;
    }
    let mut again = unshare(&format!("{mount} && exec \"$2\" --exact {test} --nocapture"));
    let output = again.arg(std::env::current_exe().unwrap()).env(VARIABLE, folder.path()).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Fills the disk until `left` bytes are free.
fn fill(disk: &Path, left: usize) {
    fs::write(disk.join("filler"), vec![1; (1 << 20) - left]).unwrap();
}

fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let start = Instant::now();
    while !there() {
        assert!(start.elapsed() < Duration::from_secs(900), "waiting for {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_flusher_continues_when_the_disk_has_space_again() {
    on_a_small_disk("a_flusher_continues_when_the_disk_has_space_again", |disk| {
        const FULL: i32 = 28; // ENOSPC
        fill(disk, 200_000);
        let options = StreamOptions {
            policy: FullPolicy::Flush,
            packets: 4,
            packet_size: 16 * 1024,
            ..StreamOptions::default()
        };
        let stream = Arc::new(Stream::anonymous(&options).unwrap());
        stream.start();
        let path = disk.join("flushed.twl");
        let log = Log::new(fs::File::create(&path).unwrap(), Take::Out);
        let flusher = Flusher::start(Arc::clone(&stream), log).unwrap();
        let mut recorded = 0;
        let mut record = |count: u64| {
            (0..count)
                .for_each(|number| stream.record(&STEP, (recorded + number, number * number)));
            recorded += count;
        };
        wait_for("the disk to be full", || {
            record(100);
            stream.image().status().flush_error == FULL
        });
        // The stream becomes full. Events that do not fit are counted, and the program continues.
        record(10_000);
        assert!(stream.image().status().lost > 0);
        fs::remove_file(disk.join("filler")).unwrap();
        wait_for("room in the stream", || {
            let lost = stream.image().status().lost;
            record(1);
            stream.image().status().lost == lost
        });
        record(100);
        flusher.stop().unwrap();
        let status = stream.image().status();
        assert_eq!((status.flush_error, status.lost_log), (FULL, 0));

        let mut kept = EventLog::default();
        Input::open(&path, settings(&[])).unwrap().read(&mut kept).unwrap();
        let lost: u64 = kept.losses.iter().map(|loss| loss.events.unwrap()).sum();
        assert_eq!((kept.rows.len() as u64 + lost, lost), (recorded, status.lost));
    });
}

#[test]
fn a_disk_writer_leaves_nothing_half_done() {
    on_a_small_disk("a_disk_writer_leaves_nothing_half_done", |disk| {
        fill(disk, 20_000);
        let mut trace = Trace::<_, 1>::new({
            let mut ticks = 0;
            move || {
                ticks += 1;
                ticks
            }
        });
        let areas = Areas { normal: 16 * 5000, ..Areas::default() };
        trace.chunk_create(vec![0; 100_000].leak(), areas, flag::FREE | flag::STOP).unwrap();
        trace.chunk_select(0).unwrap();
        trace.enable().unwrap();
        (0..5000).for_each(|number| _ = trace.log(0x09, number, 0));
        let mut writer = DiskWriter::new(disk.join("trace.dat")).unwrap();
        let failed = trace.send_chunk(0, flag::FREE, &mut writer).unwrap_err();
        let SendError::Sender(error) = failed else { panic!("{failed}") };
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        // Neither the file nor its temporary file exists.
        assert_eq!(fs::read_dir(disk).unwrap().count(), 1);

        fs::remove_file(disk.join("filler")).unwrap();
        trace.send_chunk(0, flag::FREE, &mut writer).unwrap();
        let file = fs::read(disk.join("0trace.dat")).unwrap();
        let numbers = file.chunks(Record::SIZE).map(|slot| Record::read(slot).unwrap().par1);
        assert!(numbers.eq(0..5000));
    });
}
