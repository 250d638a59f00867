//! Tests collecting RKH streams over real transports: the saved bytes equal the sent bytes, the
//! view equals a report of the saved bytes, and missing bytes are counted.

#![cfg(unix)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use tracewell::input::{Input, Settings};
use tracewell::model::LossCause;
use tracewell::report::{Report, ReportOptions};
use tracewell_collect::{
    Collected, Datagrams, Notice, Options, Raw, Reader, Serial, Source, Stream, Until, View,
    collect,
};
use tracewell_wire::arrivals::{Arrival, ArrivalKind, Arrivals, HEADER};

/// A time limit that a working test never reaches, even on a slow machine.
const LONG: Duration = Duration::from_secs(900);

/// Returns the path of a capture in the test data of the decoders.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tracewell/tests/fixtures").join(name)
}

fn capture() -> Vec<u8> {
    fs::read(fixture("rkh/ahsm-a.bin")).unwrap()
}

/// A writer whose content a test can read at any time.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }

    fn wait_for(&self, bytes: usize) {
        let start = Instant::now();
        while self.0.lock().unwrap().len() < bytes {
            assert!(
                start.elapsed() < LONG,
                "{} of {bytes} bytes arrived",
                self.0.lock().unwrap().len()
            );
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The saved bytes, their arrivals, and the view.
#[derive(Clone, Default)]
struct Outputs {
    bytes: Shared,
    arrivals: Shared,
    lines: Shared,
}

impl Outputs {
    fn stream(&self, reader: Reader) -> Stream<'static> {
        let raw = Raw {
            bytes: Box::new(self.bytes.clone()),
            arrivals: Some(Box::new(self.arrivals.clone())),
        };
        let lines = self.lines.clone();
        let sink = move || Box::new(Report::new(lines.clone(), ReportOptions::default())) as _;
        let view =
            View { settings: Settings::default(), only_growing: false, sink: Box::new(sink) };
        Stream { reader, raw: Some(raw), view: Some(view) }
    }

    fn arrivals(&self) -> Vec<(u64, Arrival)> {
        Arrivals::new(&self.arrivals.bytes()).unwrap().collect()
    }

    /// Returns the arrivals in order, without those of kind [`ArrivalKind::Bytes`].
    fn marks(&self) -> Vec<ArrivalKind> {
        let marks = self.arrivals().into_iter().map(|(_, arrival)| arrival.kind);
        marks.filter(|kind| *kind != ArrivalKind::Bytes).collect()
    }

    /// Waits until the source is open: then the file of arrivals contains a first entry after its
    /// header.
    fn wait_until_opened(&self) {
        while self.arrivals.bytes().len() <= HEADER.len() {
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn shown(&self) -> String {
        String::from_utf8(self.lines.bytes()).unwrap()
    }
}

/// Returns the report of these bytes.
fn report(bytes: Vec<u8>) -> String {
    let mut report = Report::new(Vec::new(), ReportOptions::default());
    Input::from_bytes("kept", bytes, Settings::default()).unwrap().read(&mut report).unwrap();
    String::from_utf8(report.into_inner().unwrap()).unwrap()
}

/// Collects on another thread while `target` sends. The collection ends when `target` returns. If
/// `target` returns open connections, they stay open until the collection has ended.
fn collecting<C>(
    source: &Source,
    until: Until,
    target: impl FnOnce(Option<SocketAddr>, &Outputs) -> C,
) -> (Collected, Outputs) {
    let kept = Outputs::default();
    let reader = source.open().unwrap();
    let address = reader.local_addr();
    let stream = kept.stream(reader);
    let options = Options { until: Until { elapsed: Some(LONG), ..until }, ..Options::default() };
    let stopped = AtomicBool::new(false);
    let collected = thread::scope(|scope| {
        let stopped = &stopped;
        let running =
            scope.spawn(move || collect(vec![stream], options, stopped, &|_, _| {}).remove(0));
        let connections = target(address, &kept);
        stopped.store(true, Ordering::Relaxed);
        let collected = running.join().unwrap();
        drop(connections);
        collected
    });
    let report = &collected.report;
    assert_eq!(report.written, Some(kept.bytes.bytes().len() as u64));
    assert_eq!(report.received, report.written.unwrap() + report.dropped);
    let of_bytes = |(_, arrival): &(u64, Arrival)| arrival.kind == ArrivalKind::Bytes;
    let arrived = kept.arrivals();
    let saved: u64 = arrived.iter().filter(|a| of_bytes(a)).map(|(_, a)| u64::from(a.bytes)).sum();
    assert_eq!(report.written, Some(saved));
    assert!(arrived.is_sorted_by_key(|(_, arrival)| arrival.time_ns));
    (collected, kept)
}

/// Sends in small chunks, as a target does.
fn send(out: &mut impl Write, bytes: &[u8]) {
    for piece in bytes.chunks(400) {
        out.write_all(piece).unwrap();
        thread::sleep(Duration::from_millis(2));
    }
}

fn losses(collected: &Collected, cause: LossCause) -> (u64, u64) {
    let trace = collected.shown.as_ref().unwrap().trace.as_ref().unwrap();
    let count = trace.losses.iter().find(|(found, _)| *found == cause);
    count.map_or((0, 0), |(_, count)| (count.gaps, count.events))
}

#[test]
fn a_target_that_listens_is_connected_to_again_in_the_middle_of_a_frame() {
    let sent = capture();
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let source = Source::Tcp(target.local_addr().unwrap().to_string());
    let (collected, kept) = collecting(&source, Until::default(), |_, kept| {
        let (first, second) = sent.split_at(3001);
        send(&mut target.accept().unwrap().0, first);
        let (mut connection, _) = target.accept().unwrap();
        send(&mut connection, second);
        kept.bytes.wait_for(sent.len());
        connection
    });
    assert_eq!(kept.bytes.bytes(), sent);
    assert_eq!(kept.shown(), report(sent));
    assert_eq!(collected.report.connections, 2);
    assert_eq!(kept.marks()[..3], [ArrivalKind::Opened, ArrivalKind::Closed, ArrivalKind::Opened]);
    let second = kept.arrivals().into_iter().filter(|(_, a)| a.kind == ArrivalKind::Opened).nth(1);
    assert_eq!(second.unwrap().0, 3001);
    assert_eq!(collected.shown.unwrap().trace.unwrap().events, 392);
}

#[test]
fn a_systemview_target_is_shown_while_it_sends() {
    let sent = fs::read(fixture("systemview/recorder.bin")).unwrap();
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let source = Source::Tcp(target.local_addr().unwrap().to_string());
    let (collected, kept) = collecting(&source, Until::default(), |_, kept| {
        let (mut connection, _) = target.accept().unwrap();
        let mut received = 0;
        for piece in sent.chunks(1000) {
            send(&mut connection, piece);
            received += piece.len();
            kept.bytes.wait_for(received);
        }
        connection
    });
    assert_eq!(kept.bytes.bytes(), sent);
    let trace = collected.shown.unwrap().trace.unwrap();
    // The target counted this number of packets.
    assert_eq!((trace.format, trace.events), ("systemview", 1179));
    assert!(trace.losses.is_empty());
    assert!(kept.shown().contains("spindle"));
}

#[test]
fn a_target_that_starts_again_is_seen_and_loses_nothing() {
    let sent = capture();
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let source = Source::Tcp(target.local_addr().unwrap().to_string());
    let (collected, _) = collecting(&source, Until::default(), |_, kept| {
        for run in 1..=2 {
            send(&mut target.accept().unwrap().0, &sent);
            kept.bytes.wait_for(run * sent.len());
        }
    });
    let trace = collected.shown.unwrap().trace.unwrap();
    assert_eq!((trace.events, trace.fact("restarts")), (2 * 392, Some(1)));
    assert!(trace.losses.is_empty());
}

/// Returns a loopback address that no other process uses, with port 0. If a test closes a socket at
/// this address, no other process takes the port.
fn own_address() -> String {
    let [_, a, b, c] = std::process::id().to_be_bytes();
    // On other systems, the loopback interface has only one address.
    if cfg!(target_os = "linux") { format!("127.{a}.{b}.{c}:0") } else { "127.0.0.1:0".to_owned() }
}

#[test]
fn a_target_that_is_not_there_yet_is_waited_for() {
    let free = TcpListener::bind(own_address()).unwrap().local_addr().unwrap();
    let sent = capture();
    let until = Until { disconnected: true, ..Until::default() };
    let (collected, kept) = collecting(&Source::Tcp(free.to_string()), until, |_, kept| {
        thread::sleep(Duration::from_millis(300));
        send(&mut TcpListener::bind(free).unwrap().accept().unwrap().0, &sent);
        kept.bytes.wait_for(sent.len());
    });
    assert_eq!((collected.report.connections, kept.bytes.bytes()), (1, sent));
}

#[test]
fn targets_connect_one_after_the_other_and_a_silent_one_is_replaced() {
    let sent = capture();
    let source = Source::TcpListen("127.0.0.1:0".to_owned());
    let (collected, kept) = collecting(&source, Until::default(), |at, kept| {
        let at = at.unwrap();
        let pieces = [&sent[..2000], &sent[2000..4001], &sent[4001..]];
        send(&mut TcpStream::connect(at).unwrap(), pieces[0]);
        // This target crashed, and its connection remains open.
        let mut silent = TcpStream::connect(at).unwrap();
        send(&mut silent, pieces[1]);
        kept.bytes.wait_for(4001);
        send(&mut TcpStream::connect(at).unwrap(), pieces[2]);
        kept.bytes.wait_for(sent.len());
        drop(silent);
    });
    assert_eq!((kept.bytes.bytes(), kept.shown()), (sent.clone(), report(sent)));
    assert_eq!(collected.report.connections, 3);
}

#[test]
fn a_stream_in_datagrams_continues_after_a_loss_and_after_a_restart() {
    // If the test does not run for one second between two datagrams, the collector treats the
    // sender as silent. In that case, repeat the round.
    let clean = || Some(datagrams_with_others()).filter(|(_, kept)| kept.marks().len() == 3);
    let (collected, kept) = (0..20).find_map(|_| clean()).expect("one round without silence");
    let sent = capture();
    let mut expected = sent.clone();
    expected.drain(100 * LOST..100 * (LOST + 1));
    expected.extend_from_slice(&sent[..500]);
    assert_eq!((kept.bytes.bytes(), kept.shown()), (expected.clone(), report(expected)));
    let report = &collected.report;
    assert_eq!((report.connections, report.foreign, report.packets.is_none()), (2, Some(1), true));
    let (gaps, frames) = losses(&collected, LossCause::Missing);
    assert!(gaps == 1 && frames > 1, "{gaps} {frames}");
    // Every datagram has its own arrival time.
    let pieces = kept.arrivals().into_iter().filter(|(_, a)| a.bytes == 100).count();
    assert_eq!(pieces, sent.len() / 100 - 1);
}

/// Index of the datagram that does not arrive.
const LOST: usize = 5;

/// Sends the capture in datagrams, with one datagram from another sender. After that, sends the
/// start of the capture from another port.
fn datagrams_with_others() -> (Collected, Outputs) {
    let sent = capture();
    let source = Source::Udp("127.0.0.1:0".to_owned(), Datagrams::Any);
    collecting(&source, Until::default(), |at, kept| {
        let at = at.unwrap();
        let target = UdpSocket::bind("127.0.0.1:0").unwrap();
        for (index, piece) in sent.chunks(100).enumerate().filter(|(index, _)| *index != LOST) {
            target.send_to(piece, at).unwrap();
            thread::sleep(Duration::from_millis(1));
            if index == 20 {
                // Send from another port while the first sender is still active.
                UdpSocket::bind("127.0.0.1:0").unwrap().send_to(b"other", at).unwrap();
            }
        }
        kept.bytes.wait_for(sent.len() - 100);
        thread::sleep(Duration::from_millis(1100));
        let again = UdpSocket::bind("127.0.0.1:0").unwrap();
        again.send_to(&sent[..500], at).unwrap();
        kept.bytes.wait_for(sent.len() - 100 + 500);
    })
}

/// Creates a serial line, and a link at `path` to our end of it. Returns the target's end.
fn plug(path: &Path) -> File {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let _ = fs::remove_file(path);
    std::os::unix::fs::symlink(name, path).unwrap();
    master.into()
}

#[test]
fn a_serial_line_is_raw_and_an_unplugged_device_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ttyTEST");
    let source: Serial = format!("{}@250000,8N1", path.display()).parse().unwrap();
    // Send all byte values. If the line were not in raw mode, it would change or consume some of
    // them.
    let mut sent = capture();
    sent.extend(0..=255_u8);
    let mut line = plug(&path);
    let (collected, kept) = collecting(&Source::Serial(source), Until::default(), |_, kept| {
        // Bytes sent before the line is open are lost.
        kept.wait_until_opened();
        let speed = rustix::termios::tcgetattr(&line).unwrap().output_speed();
        assert_eq!(speed, 250_000);
        send(&mut line, &sent[..3001]);
        kept.bytes.wait_for(3001);
        fs::remove_file(&path).unwrap();
        line = plug(&path);
        let opened = 16 * 4;
        while kept.arrivals.bytes().len() < opened || kept.marks().len() < 3 {
            thread::sleep(Duration::from_millis(5));
        }
        send(&mut line, &sent[3001..]);
        kept.bytes.wait_for(sent.len());
    });
    assert_eq!((kept.bytes.bytes(), kept.shown()), (sent.clone(), report(sent)));
    assert_eq!(collected.report.connections, 2);
}

#[test]
fn a_device_that_is_not_a_serial_line_is_an_error_at_once() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let source: Serial = file.path().display().to_string().parse().unwrap();
    let reader = Source::Serial(source).open().unwrap();
    let streams = vec![Outputs::default().stream(reader)];
    let collected = collect(streams, Options::default(), &AtomicBool::new(false), &|_, _| {});
    let error = collected[0].unreadable.as_ref().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
}

/// Collects from a source that ends by itself.
fn collected(source: &Source, disconnected: bool) -> (Collected, Outputs) {
    let kept = Outputs::default();
    let streams = vec![kept.stream(source.open().unwrap())];
    let until = Until { elapsed: Some(LONG), disconnected, ..Until::default() };
    let options = Options { until, ..Options::default() };
    let begun = Instant::now();
    let collected = collect(streams, options, &AtomicBool::new(false), &|_, _| {}).remove(0);
    assert!(begun.elapsed() < LONG, "it did not end by itself");
    (collected, kept)
}

#[test]
fn a_device_that_can_never_be_opened_is_an_error_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let serial: Serial = folder.path().display().to_string().parse().unwrap();
    let error = collected(&Source::Serial(serial), false).0.unreadable.unwrap();
    assert_eq!(error.to_string(), "expected a serial line, found a folder");
}

#[test]
fn a_line_in_use_is_refused_to_all_other_programs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ttyTEST");
    let source: Serial = path.display().to_string().parse().unwrap();
    let mut line = plug(&path);
    let again = Source::Serial(source.clone());
    let (first, kept) = collecting(&Source::Serial(source), Until::default(), |_, kept| {
        kept.wait_until_opened();
        let second = collected(&again, false).0;
        let error = second.unreadable.expect("it is refused").to_string();
        assert!(error.starts_with("the line is in use"), "{error}");
        send(&mut line, b"all of it");
        kept.bytes.wait_for(9);
    });
    assert_eq!((kept.bytes.bytes(), first.report.received), (b"all of it".to_vec(), 9));
}

#[test]
fn a_file_that_is_read_once_ends_at_its_end() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), capture()).unwrap();
    let (collected, kept) = collected(&Source::File(file.path().to_owned()), true);
    let received = capture().len() as u64;
    assert_eq!((collected.report.received, kept.bytes.bytes()), (received, capture()));
}

#[test]
fn a_growing_file_is_followed_through_truncation_and_replacement() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grows");
    let sent = capture();
    let (collected, kept) = collecting(&Source::File(path.clone()), Until::default(), |_, kept| {
        // At first, the file does not exist.
        thread::sleep(Duration::from_millis(50));
        send(&mut File::create(&path).unwrap(), &sent[..2000]);
        kept.bytes.wait_for(2000);
        send(&mut OpenOptions::new().append(true).open(&path).unwrap(), &sent[2000..]);
        kept.bytes.wait_for(sent.len());
        // Rewrite the file from its start, with fewer bytes.
        File::create(&path).unwrap().write_all(&sent[..1000]).unwrap();
        kept.bytes.wait_for(sent.len() + 1000);
        let other = folder.path().join("other");
        fs::write(&other, &sent[..3000]).unwrap();
        fs::rename(&other, &path).unwrap();
        kept.bytes.wait_for(sent.len() + 4000);
    });
    let parts = [&sent[..], &sent[..1000], &sent[..3000]];
    assert_eq!(kept.bytes.bytes(), parts.concat());
    assert_eq!(kept.shown(), parts.map(|part| report(part.to_vec())).concat());
    assert_eq!(kept.marks(), [ArrivalKind::Opened, ArrivalKind::Restarted, ArrivalKind::Restarted]);
    assert_eq!((collected.report.connections, collected.report.restarts), (1, 2));
}

#[test]
fn after_a_glitch_the_view_continues_and_the_lost_frames_are_counted() {
    let sent = capture();
    let flags: Vec<_> = (0..sent.len()).filter(|at| sent[*at] == 0x7E).collect();
    let inside = |frame: usize| flags[frame] + 3;
    // The transport inverts a byte of one frame and loses three bytes of another.
    let mut damaged = sent.clone();
    damaged[inside(100)] ^= 0x01;
    damaged.drain(inside(200)..inside(200) + 3);
    let source = Source::TcpListen("127.0.0.1:0".to_owned());
    let (collected, kept) = collecting(&source, Until::default(), |at, kept| {
        send(&mut TcpStream::connect(at.unwrap()).unwrap(), &damaged);
        kept.bytes.wait_for(damaged.len());
    });
    assert_eq!(kept.shown(), report(damaged));
    let lost = (losses(&collected, LossCause::Damaged), losses(&collected, LossCause::Missing));
    assert_eq!(lost, ((2, 0), (2, 2)));
    assert_eq!(collected.shown.unwrap().trace.unwrap().events, 390);
}

/// A file that accepts nothing until bytes are dropped. After that, it accepts a few bytes at
/// intervals.
struct Slow<'a> {
    out: Shared,
    dropping: &'a AtomicBool,
}

impl Write for Slow<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let start = Instant::now();
        while !self.dropping.load(Ordering::Relaxed) && start.elapsed() < LONG {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(2));
        self.out.write(bytes.get(..5000).unwrap_or(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn bytes_dropped_for_a_slow_file_are_counted_exactly_and_marked_at_their_position() {
    let kept = Outputs::default();
    let reader = Source::TcpListen("127.0.0.1:0".to_owned()).open().unwrap();
    let at = reader.local_addr().unwrap();
    let dropping = AtomicBool::new(false);
    let out = Slow { out: kept.bytes.clone(), dropping: &dropping };
    let raw = Raw { bytes: Box::new(out), arrivals: Some(Box::new(kept.arrivals.clone())) };
    let streams = vec![Stream { reader, raw: Some(raw), view: None }];
    let until = Until { disconnected: true, ..Until::default() };
    let options = Options { until, buffer: 1 << 16 };
    let tell = |_: &str, notice: &Notice<'_>| {
        dropping.fetch_or(matches!(notice, Notice::Dropping), Ordering::Relaxed);
    };
    // The value of each word is the word's index in the stream.
    let sent: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let collected = thread::scope(|scope| {
        let target = scope.spawn(|| TcpStream::connect(at).unwrap().write_all(&sent).unwrap());
        let collected = collect(streams, options, &AtomicBool::new(false), &tell).remove(0);
        target.join().unwrap();
        collected
    });
    let report = &collected.report;
    assert!(report.dropped > 0 && report.overflows > 0 && dropping.load(Ordering::Relaxed));
    assert_eq!(report.received, sent.len() as u64);
    assert_eq!(report.received, report.written.unwrap() + report.dropped);
    // The arrivals must describe every sent byte: it is either in the file or marked as dropped.
    let (bytes, mut at) = (kept.bytes.bytes(), 0);
    for (position, arrival) in kept.arrivals() {
        let length = arrival.bytes as usize;
        if arrival.kind == ArrivalKind::Bytes {
            let start = position as usize;
            assert_eq!(bytes[start..start + length], sent[at..at + length]);
        }
        at += length;
    }
    assert_eq!(at, sent.len());
}

#[test]
fn bytes_that_a_stalled_view_skips_are_saved_and_counted() {
    let kept = Outputs::default();
    let reader = Source::TcpListen("127.0.0.1:0".to_owned()).open().unwrap();
    let at = reader.local_addr().unwrap();
    let mut stream = kept.stream(reader);
    let (mut pipe, stuck) = io::pipe().unwrap();
    let sink =
        move || Box::new(Report::new(stuck.try_clone().unwrap(), ReportOptions::default())) as _;
    stream.view =
        Some(View { settings: Settings::default(), only_growing: false, sink: Box::new(sink) });
    let until = Until { disconnected: true, ..Until::default() };
    let options = Options { until, buffer: 1 << 16 };
    // 200 copies are 1.3 MB, far more than the buffer and the pipe can hold.
    let sent = capture().repeat(200);
    let (collected, shown) = thread::scope(|scope| {
        let target = scope.spawn(|| send_as_it_is_saved(at, &sent, &kept));
        let running = scope.spawn(|| {
            let stopped = AtomicBool::new(false);
            collect(vec![stream], options, &stopped, &|_, _| {}).remove(0)
        });
        let sending = target.join();
        // From this point on, the test reads the view.
        let mut shown = String::new();
        pipe.read_to_string(&mut shown).unwrap();
        sending.unwrap();
        (running.join().unwrap(), shown)
    });
    let report = &collected.report;
    assert_eq!((kept.bytes.bytes(), report.dropped), (sent, 0));
    assert!(report.left_out > 0 && report.is_lossy());
    let gaps = shown.matches("lost here: an unknown number of events, buffer full").count();
    assert!(gaps > 0, "the gap is shown at its position");
    assert_eq!(losses(&collected, LossCause::BufferFull).0, gaps as u64);
}

/// Sends each block of bytes after the previous blocks have been saved. Does not wait for the view.
fn send_as_it_is_saved(at: SocketAddr, bytes: &[u8], kept: &Outputs) {
    let mut target = TcpStream::connect(at).unwrap();
    let mut sent = 0;
    for piece in bytes.chunks(20_000) {
        target.write_all(piece).unwrap();
        sent += piece.len();
        kept.bytes.wait_for(sent);
    }
}

#[test]
fn several_sources_are_streams_of_their_own() {
    let sent = capture();
    let damaged = fs::read(fixture("rkh/ahsm-a-garbage.bin")).unwrap();
    let wide = fs::read(fixture("rkh/ahsm-b.bin")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grows");
    fs::write(&path, &wide).unwrap();
    let sources = [
        Source::TcpListen("127.0.0.1:0".to_owned()),
        Source::Udp("127.0.0.1:0".to_owned(), Datagrams::Any),
        Source::File(path),
    ];
    let kept = [(); 3].map(|()| Outputs::default());
    let readers = sources.map(|source| source.open().unwrap());
    let [tcp, udp, _] = [0, 1, 2].map(|index: usize| readers[index].local_addr());
    let streams = kept.iter().zip(readers).map(|(kept, reader)| kept.stream(reader)).collect();
    let stopped = AtomicBool::new(false);
    let collected = thread::scope(|scope| {
        let running = scope.spawn(|| collect(streams, Options::default(), &stopped, &|_, _| {}));
        let over_tcp = scope.spawn(|| send(&mut TcpStream::connect(tcp.unwrap()).unwrap(), &sent));
        let target = UdpSocket::bind("127.0.0.1:0").unwrap();
        for piece in damaged.chunks(333) {
            target.send_to(piece, udp.unwrap()).unwrap();
            thread::sleep(Duration::from_millis(1));
        }
        over_tcp.join().unwrap();
        let all = [&sent, &damaged, &wide];
        all.iter().zip(&kept).for_each(|(bytes, kept)| kept.bytes.wait_for(bytes.len()));
        stopped.store(true, Ordering::Relaxed);
        running.join().unwrap()
    });
    for ((sent, kept), collected) in [sent, damaged, wide].into_iter().zip(&kept).zip(collected) {
        assert_eq!(kept.shown(), report(sent.clone()), "{}", collected.report.source);
        assert_eq!(kept.bytes.bytes(), sent);
    }
}
