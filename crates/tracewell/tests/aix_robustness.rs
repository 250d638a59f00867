//! Tests the AIX reader. The tests write entries and read them back. In a small container, each
//! truncation and each changed byte after the header affects at most the entry in which it occurs.
//! Files of several processors are merged.

mod support;

use proptest::prelude::*;
use support::{EventLog, in_pieces, settings};
use tracewell::analysis::scheduling::{Scheduling, Wanted};
use tracewell::format::aix::Header;
use tracewell::format::{self, Progress};
use tracewell::input::{Input, InputError};
use tracewell::model::{LossCause, Severity, Trace};
use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{
    Entry, Env, FileHeader, Frame, FrameHeader, HookId, HookType, HookWord, HookWord32, HookWord64,
    Texts, TimeConversion, ids,
};

/// Length in bytes of the header that these tests use.
const HEADER: usize = 102;

fn header(order: ByteOrder) -> FileHeader<'static> {
    FileHeader {
        order,
        env: Env::Bits64,
        per_cpu: false,
        circular: false,
        wall_clock_ns: 0,
        start_tick: 0,
        conversion: TimeConversion::NANOSECONDS,
        cpus: 2,
        cpus_traced: 2,
        channel: 0,
        texts: Texts {
            system: b"",
            node: b"",
            machine: b"",
            address: b"",
            command: b"",
            buffering: b"",
        },
    }
}

/// A frame to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Written {
    head: FrameHeader,
    entry: Vec<u8>,
}

impl Written {
    fn bytes(&self, order: ByteOrder) -> Vec<u8> {
        let mut bytes = vec![0xEE; Frame::size(self.entry.len())];
        Frame { head: self.head, entry: &self.entry }.write(order, &mut bytes).unwrap();
        bytes
    }
}

fn at(env: Env, cpu: u16, tick: u64) -> FrameHeader {
    FrameHeader { env, cpu, tick, tid: Some(7), pid: None }
}

fn plain(head: FrameHeader, hook: HookWord, words: [u64; 5]) -> Written {
    let mut entry = vec![0; 64];
    let length = Entry::write_plain(hook, &words, &mut entry).unwrap();
    entry.truncate(length);
    Written { head, entry }
}

fn generic(head: FrameHeader, hook: HookWord, word: u64, data: &[u8]) -> Written {
    let mut entry = vec![0; 5000];
    let length = Entry::write_generic(hook, word, data, &mut entry).unwrap();
    entry.truncate(length);
    Written { head, entry }
}

fn hook32(id: u16, hook_type: HookType, data: u16) -> HookWord {
    HookWord32::new(HookId::short(id), hook_type, data).into()
}

fn hook64(id: u16, sub_hook: u16, words: u16) -> HookWord {
    HookWord64::plain(HookId(id), sub_hook, words).into()
}

/// Returns one entry of each kind.
fn small() -> Vec<Written> {
    let (a, b) = (Env::Bits32, Env::Bits64);
    vec![
        plain(at(a, 0, 100), hook32(0x0A1, HookType::Trchkl, 1), [0x11, 0, 0, 0, 0]),
        plain(at(b, 1, 110), hook64(0x0A27, 2, 2), [0x21, 0x22, 0, 0, 0]),
        generic(at(a, 0, 120), hook32(0x0A3, HookType::Trcgen, 0), 0x31, b"bytes"),
        plain(at(a, 1, 130), hook32(0x0A4, HookType::Trchkt, 4), [0; 5]),
        plain(at(a, 0, 140), hook32(0x0A5, HookType::Trchkg, 5), [1, 2, 3, 4, 5]),
        generic(at(b, 1, 150), HookWord64::generic(HookId(0x0A60), 6).into(), 0x61, b"xyz"),
        plain(at(b, 0, 160), hook64(0x0A70, 7, 0), [0; 5]),
    ]
}

fn container(order: ByteOrder, frames: &[Written]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER];
    header(order).write(&mut bytes).unwrap();
    frames.iter().for_each(|frame| bytes.extend(frame.bytes(order)));
    bytes
}

/// The start offset of each frame, and the end of the last frame.
fn starts(frames: &[Written]) -> Vec<usize> {
    let mut starts = vec![HEADER];
    for frame in frames {
        starts.push(starts[starts.len() - 1] + Frame::size(frame.entry.len()));
    }
    starts
}

fn read_with(bytes: Vec<u8>, options: &[&str]) -> Result<(Trace, EventLog), InputError> {
    let mut kept = EventLog::default();
    let trace = Input::from_bytes("log", bytes, settings(options))?.read(&mut kept)?;
    Ok((trace, kept))
}

fn read(bytes: &[u8]) -> (Trace, EventLog) {
    read_with(bytes.to_vec(), &[]).unwrap()
}

/// Returns the recorded entry of each event, without the header of its frame.
fn entries(order: ByteOrder, kept: &EventLog) -> Vec<Vec<u8>> {
    let entry = |record: &[u8]| {
        let padded = [record, &[0; 8]].concat();
        Frame::read(order, &padded).unwrap().0.entry.to_vec()
    };
    kept.rows.iter().map(|row| entry(&row.record)).collect()
}

fn ids_of(kept: &EventLog) -> Vec<u32> {
    kept.rows.iter().map(|row| row.id >> 4).collect()
}

/// Returns one entry for each loss: the sequence number of the event after the loss, how many
/// events were lost, the cause and the offset.
fn losses(kept: &EventLog) -> Vec<(u64, Option<u64>, LossCause, u64)> {
    kept.losses.iter().map(|loss| (loss.before, loss.events, loss.cause, loss.offset)).collect()
}

const ORDERS: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];

#[test]
fn a_whole_container_is_read_without_a_word() {
    for order in ORDERS {
        let (trace, kept) = read(&container(order, &small()));
        let expected: Vec<_> = small().into_iter().map(|frame| frame.entry).collect();
        assert_eq!(entries(order, &kept), expected);
        assert_eq!((trace.diagnostics.worst(), kept.losses.len()), (None, 0));
        let ticks: Vec<_> = kept.rows.iter().map(|row| (row.ticks, row.cpu)).collect();
        assert_eq!(ticks, [(0, 0), (10, 1), (20, 0), (30, 1), (40, 0), (50, 1), (60, 0)]);
        let hook_data: Vec<_> =
            kept.rows.iter().map(|row| trace.payload.argument(&row.payload, 0)).collect();
        // The third event has no hook data, because a generic hook word of 32 bits contains a
        // length.
        let expected = [Some(1), Some(2), None, Some(4), Some(5), Some(6), Some(7)];
        assert_eq!(hook_data, expected);
    }
}

#[test]
fn a_container_cut_anywhere_keeps_its_whole_frames() {
    let frames = small();
    let (bytes, starts) = (container(ByteOrder::Big, &frames), starts(&frames));
    for end in 0..bytes.len() {
        let result = read_with(bytes[..end].to_vec(), &[]);
        if end < HEADER {
            assert!(result.is_err(), "{end}");
            continue;
        }
        let (_, kept) = result.unwrap();
        let whole = starts.iter().filter(|start| **start <= end).count() - 1;
        assert_eq!(kept.rows.len(), whole, "{end}");
        let cut = (whole as u64, Some(1), LossCause::Truncated, starts[whole] as u64);
        let expected = if starts[whole] == end { vec![] } else { vec![cut] };
        assert_eq!(losses(&kept), expected, "{end}");
    }
}

#[test]
fn a_changed_byte_costs_its_own_frame_at_most() {
    for order in ORDERS {
        let frames = small();
        let (bytes, starts) = (container(order, &frames), starts(&frames));
        for place in HEADER..bytes.len() {
            for flip in [1, 2, 4, 8, 16, 32, 64, 128, 0xFF, 0x60] {
                let mut changed = bytes.clone();
                changed[place] ^= flip;
                let hit = starts.iter().filter(|start| **start <= place).count() - 1;
                let (_, kept) = read(&changed);
                let what = format!("byte {place} of frame {hit} ^ {flip:#x}: {kept:?}");
                let found = entries(order, &kept);
                let missing = frames.len() - found.len();
                assert!(missing <= 1, "{what}");
                assert_eq!(missing > 0, !kept.losses.is_empty(), "{what}");
                for (number, frame) in frames.iter().enumerate().filter(|(n, _)| *n != hit) {
                    let row = number - if number > hit { missing } else { 0 };
                    assert_eq!(found[row], frame.entry, "{what}");
                }
                if let Some(loss) = kept.losses.first() {
                    assert_eq!(
                        (loss.before, loss.offset),
                        (hit as u64, starts[hit] as u64),
                        "{what}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_header_with_any_byte_changed_is_read_or_refused() {
    let bytes = container(ByteOrder::Little, &small());
    for place in 0..HEADER {
        for value in 0..=255 {
            let mut changed = bytes.clone();
            changed[place] = value;
            match read_with(changed, &[]) {
                Err(error) => assert!(!error.to_string().is_empty()),
                Ok((trace, kept)) => assert_eq!(trace.events, kept.rows.len() as u64),
            }
        }
    }
}

/// Returns the container after `edit` has changed the bytes of this frame, and the starts of all
/// frames.
fn damaged(frame: usize, edit: impl Fn(&mut [u8])) -> (Vec<u8>, Vec<usize>) {
    let frames = small();
    let (mut bytes, starts) = (container(ByteOrder::Big, &frames), starts(&frames));
    edit(&mut bytes[starts[frame]..starts[frame + 1]]);
    (bytes, starts)
}

#[test]
fn reading_continues_after_a_damaged_frame() {
    let (bytes, starts) = damaged(2, |frame| frame[4] = 0);
    let (trace, kept) = read(&bytes);
    assert_eq!(ids_of(&kept), [0xA1, 0xA2, 0xA4, 0xA5, 0xA6, 0xA7]);
    assert_eq!(losses(&kept), [(2, None, LossCause::Damaged, starts[2] as u64)]);
    assert_eq!(trace.diagnostics.worst(), Some(Severity::Damage));
    let said = trace.diagnostics.iter().map(ToString::to_string).collect::<String>();
    assert!(said.contains("expected environment 32 or 64, found 0"), "{said}");
    assert!(said.contains(&starts[2].to_string()), "{said}");
}

/// The search for the next frame does not stop at bytes that only look like a frame.
#[test]
fn a_frame_within_a_damaged_frame_is_not_read() {
    let inner = plain(at(Env::Bits64, 1, 115), hook64(0x0AF0, 0, 0), [0; 5]).bytes(ByteOrder::Big);
    let data = [inner, vec![0xFF; 40]].concat();
    let hook = HookWord64::generic(HookId(0x0A60), 6).into();
    let frames =
        [small().remove(0), generic(at(Env::Bits64, 1, 110), hook, 1, &data), small().remove(6)];
    let (mut bytes, starts) = (container(ByteOrder::Big, &frames), starts(&frames));
    bytes[starts[1] + 4] = 0;
    let (_, kept) = read(&bytes);
    assert_eq!(ids_of(&kept), [0xA1, 0xA7]);
    assert_eq!(losses(&kept), [(1, None, LossCause::Damaged, starts[1] as u64)]);
}

#[test]
fn damage_does_not_fill_the_memory() {
    let bytes = [container(ByteOrder::Big, &small()), vec![0xFF; 3 << 19]].concat();
    let mut decoder = format::by_name("aix").unwrap().decoder(&settings(&[])).unwrap();
    let (mut trace, mut kept) = (decoder.trace(), EventLog::default());
    let input = format::Input { offset: 0, bytes: &bytes, last: false };
    let progress = decoder.decode(input, &mut trace, &mut kept).unwrap();
    let Progress::More { consumed, .. } = progress else { panic!("{progress:?}") };
    assert!(bytes.len() - consumed < 1 << 10, "{consumed} of {} bytes", bytes.len());
}

#[test]
fn timestamps_of_32_bits_wrap() {
    let ticks = [0xFFFF_FFF0, 0xFFFF_FFFC, 0xFFFF_FFF8, 0x10, 0x18];
    let frames = ticks.map(|tick| plain(at(Env::Bits64, 0, tick), hook64(0x0A70, 7, 0), [0; 5]));
    let (_, kept) = read(&container(ByteOrder::Big, &frames));
    let ticks: Vec<_> = kept.rows.iter().map(|row| row.ticks).collect();
    assert_eq!(ticks[3..], [0x20, 0x28]);
}

const ROUND: u64 = 1 << 32;

/// Reads a file with an entry for each processor and timestamp, and returns the ticks.
fn ticks_of(entries: &[(u16, u64)]) -> Vec<u64> {
    let entry = |(cpu, tick): &(u16, u64)| {
        plain(at(Env::Bits64, *cpu, *tick), hook64(0x0A70, 7, 0), [0; 5])
    };
    let frames: Vec<_> = entries.iter().map(entry).collect();
    let (_, kept) = read(&container(ByteOrder::Big, &frames));
    kept.rows.iter().map(|row| row.ticks).collect()
}

#[test]
fn a_timestamp_of_the_same_processor_wraps_unless_it_decreases_a_little() {
    const LITTLE: u64 = ROUND / 16;
    let late = 0xF000_0000;
    for (entries, expected) in [
        (&[(0, 0), (0, LITTLE + 5), (0, 5), (0, 6)][..], &[0, LITTLE + 5, 5, 6][..]),
        (&[(0, 0), (0, LITTLE + 6), (0, 5), (0, 6)], &[0, LITTLE + 6, ROUND + 5, ROUND + 6]),
        (
            &[(0, 0), (0, late), (0, 5), (0, late), (0, 6)],
            &[0, late, ROUND + 5, ROUND + late, 2 * ROUND + 6],
        ),
        // An entry that was delayed past a wrap is still in the previous round.
        (
            &[(0, 0), (0, late), (0, 5), (0, late + 6), (0, 6)],
            &[0, late, ROUND + 5, late + 6, ROUND + 6],
        ),
        // The processor was idle for more than half of a round.
        (&[(0, 0), (0, 0xC000_0010), (0, 0x5000_0000)], &[0, 0xC000_0010, ROUND + 0x5000_0000]),
        (&[(4095, 0), (4095, late), (4095, 5)], &[0, late, ROUND + 5]),
        (&[(4096, 0), (4096, late), (4096, 5)], &[0, late, 5]),
        // Timestamps of more than 32 bits do not wrap.
        (&[(0, 0), (0, late), (0, ROUND), (0, 5)], &[0, late, ROUND, ROUND + 5]),
    ] {
        assert_eq!(ticks_of(entries), expected, "{entries:?}");
    }
}

#[test]
fn a_timestamp_is_in_the_round_of_the_latest_entry_of_other_processors() {
    const HALF: u64 = ROUND / 2;
    let late = 0xF000_0000;
    for (entries, expected) in [
        (&[(0, 0), (0, HALF + 5), (1, 5), (0, HALF + 6)][..], &[0, HALF + 5, 5, HALF + 6][..]),
        (&[(0, 0), (0, HALF + 6), (1, 5), (0, 6)], &[0, HALF + 6, ROUND + 5, ROUND + 6]),
        // The first entry of a processor comes after the wrap of another processor.
        (
            &[(0, 0), (0, late), (0, 5), (1, 9), (0, 12), (1, late)],
            &[0, late, ROUND + 5, ROUND + 9, ROUND + 12, ROUND + late],
        ),
        // A processor is idle while the counter wraps twice.
        (
            &[(1, 0), (0, late), (0, 5), (0, late), (0, 6), (1, 20), (1, 30)],
            &[0, late, ROUND + 5, ROUND + late, 2 * ROUND + 6, 2 * ROUND + 20, 2 * ROUND + 30],
        ),
    ] {
        assert_eq!(ticks_of(entries), expected, "{entries:?}");
    }
}

/// Returns the key and the name of the last event's context.
fn last_context(frames: &[Written]) -> (u64, String) {
    let (trace, kept) = read(&container(ByteOrder::Big, frames));
    let context = trace.contexts.get(kept.rows.last().unwrap().context).unwrap();
    (context.key, context.name.clone())
}

#[test]
fn the_running_threads_of_a_limited_number_of_processors_are_known() {
    for (cpu, known) in [(0, true), (4095, true), (4096, false)] {
        let dispatch = hook32(0x106, HookType::Trchkg, 0);
        let without = FrameHeader { tid: None, ..at(Env::Bits32, cpu, 20) };
        let frames = [
            plain(at(Env::Bits32, cpu, 10), dispatch, [55, 60, 0, 0, 0]),
            plain(without, hook32(0x0A1, HookType::Trchk, 1), [0; 5]),
        ];
        let expected = if known { (55, "tid 55") } else { (u64::MAX, "unknown") };
        assert_eq!(last_context(&frames), (expected.0, expected.1.to_owned()), "{cpu}");
    }
}

#[test]
fn a_new_process_runs_the_program_of_its_parent() {
    let of = |tid, pid, tick| FrameHeader { tid: Some(tid), pid, ..at(Env::Bits32, 0, tick) };
    let frames = [
        generic(of(7, Some(60), 10), hook32(0x134, HookType::Trcgen, 0), 60, b"\0\0\0\0/bin/one\0"),
        plain(of(7, Some(60), 20), hook32(0x139, HookType::Trchkg, 0), [61, 9, 0, 0, 0]),
        plain(of(9, None, 30), hook32(0x0A1, HookType::Trchk, 1), [0; 5]),
    ];
    assert_eq!(last_context(&frames), (9, "one".to_owned()));
}

#[test]
fn a_new_process_runs_the_program_of_its_parent_if_only_a_hook_names_the_parent() {
    let of = |tid, pid, tick| FrameHeader { tid, pid, ..at(Env::Bits32, 0, tick) };
    let dispatch = |tid, pid, tick| {
        plain(of(None, None, tick), hook32(0x106, HookType::Trchkg, 0), [tid, pid, 0, 0, 0])
    };
    let exec = |head| generic(head, hook32(0x134, HookType::Trcgen, 0), 60, b"\0\0\0\0/bin/one\0");
    let fork = |head| plain(head, hook32(0x139, HookType::Trchkg, 0), [61, 9, 0, 0, 0]);
    let after = |tid| plain(of(tid, None, 50), hook32(0x0A1, HookType::Trchk, 1), [0; 5]);
    let expected = (9, "one".to_owned());
    let none = of(None, None, 20);
    let frames = [dispatch(7, 60, 10), exec(none), fork(none), dispatch(9, 61, 40), after(None)];
    assert_eq!(last_context(&frames), expected);
    // Only an earlier frame names the process of thread 7.
    let frames = [exec(of(Some(7), Some(60), 10)), fork(of(Some(7), None, 20)), after(Some(9))];
    assert_eq!(last_context(&frames), expected);
    // Only the dispatch names the process of thread 7.
    let frames = [dispatch(7, 60, 10), exec(none), fork(of(Some(7), None, 20)), after(Some(9))];
    assert_eq!(last_context(&frames), expected);
}

#[test]
fn a_thread_of_another_process_has_the_program_of_that_process() {
    let of = |tid, pid, tick| FrameHeader { tid: Some(tid), pid, ..at(Env::Bits32, 0, tick) };
    let exec = |tid, pid, path: &[u8], tick| {
        let path = [&[0; 4], path].concat();
        generic(of(tid, Some(pid), tick), hook32(0x134, HookType::Trcgen, 0), pid, &path)
    };
    let hook =
        |tid, pid, tick| plain(of(tid, pid, tick), hook32(0x0A1, HookType::Trchk, 1), [0; 5]);
    let mut frames = vec![
        exec(5, 7, b"/bin/alpha\0", 10),
        hook(5, Some(7), 20),
        exec(6, 9, b"/bin/beta\0", 30),
        // The id of the thread is reused.
        hook(5, Some(9), 40),
    ];
    assert_eq!(last_context(&frames), (5, "beta".to_owned()));
    frames.push(hook(5, Some(7), 50));
    assert_eq!(last_context(&frames), (5, "alpha".to_owned()));
    frames.push(hook(5, None, 60));
    assert_eq!(last_context(&frames), (5, "alpha".to_owned()));
}

/// Returns the number of contexts, without the unknown one.
fn contexts(frames: &[Written]) -> usize {
    read(&container(ByteOrder::Big, frames)).0.contexts.len()
}

#[test]
fn a_thread_keeps_its_context_when_its_process_becomes_known() {
    let hook = |pid, tick| {
        let head = FrameHeader { pid, ..at(Env::Bits32, 0, tick) };
        plain(head, hook32(0x0A1, HookType::Trchk, 1), [0; 5])
    };
    let frames = [hook(None, 10), hook(Some(60), 20), hook(None, 30), hook(Some(60), 40)];
    assert_eq!(contexts(&frames), 1);
    // A thread of another process is another thread, also if no program is known.
    let frames = [hook(None, 10), hook(Some(60), 20), hook(Some(61), 30)];
    assert_eq!(contexts(&frames), 2);
}

#[test]
fn consecutive_damaged_frames_are_one_loss() {
    let (mut bytes, starts) = damaged(2, |frame| frame.fill(0xFF));
    bytes[starts[3]..starts[4]].fill(0xFF);
    let (_, kept) = read(&bytes);
    assert_eq!(ids_of(&kept), [0xA1, 0xA2, 0xA5, 0xA6, 0xA7]);
    assert_eq!(losses(&kept), [(2, None, LossCause::Damaged, starts[2] as u64)]);
}

#[test]
fn an_invalid_entry_is_one_event() {
    // Type 3 does not exist.
    let (bytes, starts) = damaged(4, |frame| frame[33] = 0x53);
    let (_, kept) = read(&bytes);
    assert_eq!(ids_of(&kept), [0xA1, 0xA2, 0xA3, 0xA4, 0xA6, 0xA7]);
    assert_eq!(losses(&kept), [(4, Some(1), LossCause::Damaged, starts[4] as u64)]);
}

#[test]
fn a_length_that_swallows_the_next_frame_is_damage() {
    let next = Frame::size(small()[4].entry.len()) as u32;
    let (bytes, starts) = damaged(3, |frame| frame[..4].copy_from_slice(&(8 + next).to_be_bytes()));
    let (_, kept) = read(&bytes);
    assert_eq!(ids_of(&kept), [0xA1, 0xA2, 0xA3, 0xA5, 0xA6, 0xA7]);
    assert_eq!(losses(&kept), [(3, None, LossCause::Damaged, starts[3] as u64)]);
}

#[test]
fn a_length_beyond_the_file_is_damage_if_valid_frames_follow() {
    let (bytes, starts) = damaged(1, |frame| frame[2] = 0x80);
    let (_, kept) = read(&bytes);
    assert_eq!(ids_of(&kept), [0xA1, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7]);
    assert_eq!(losses(&kept), [(1, None, LossCause::Damaged, starts[1] as u64)]);
}

#[test]
fn damage_at_the_end_is_reported() {
    let (bytes, starts) = damaged(6, |frame| frame.fill(0));
    let (_, kept) = read(&bytes);
    assert_eq!(kept.rows.len(), 6);
    assert_eq!(losses(&kept), [(6, None, LossCause::Damaged, starts[6] as u64)]);
}

#[test]
fn a_gap_that_the_recorder_marks_is_at_its_position() {
    let mut frames = small();
    let wrap = HookWord32::new(ids::BUFFER_WRAP, HookType::Trchkg, 0).into();
    frames.insert(3, plain(at(Env::Bits32, 0, 125), wrap, [1, 42, 0, 0, 0]));
    let place = starts(&frames)[3] as u64;
    let bytes = container(ByteOrder::Big, &frames);
    for piece in [1, 100, bytes.len()] {
        let kept = arriving(&bytes, piece);
        assert_eq!(kept.rows.len(), 8);
        assert_eq!(losses(&kept), [(4, Some(42), LossCause::BufferFull, place)], "{piece}");
    }
}

#[test]
fn a_wrapped_buffer_without_a_count_is_no_loss() {
    let mut frames = small();
    let wrap = HookWord32::new(ids::BUFFER_WRAP, HookType::Trchkl, 0).into();
    frames.insert(3, plain(at(Env::Bits32, 0, 125), wrap, [1, 0, 0, 0, 0]));
    let (_, kept) = read(&container(ByteOrder::Big, &frames));
    assert_eq!((kept.rows.len(), losses(&kept)), (8, vec![]));
}

/// A dispatch names the thread and the process of the next entries of its processor.
#[test]
fn an_entry_without_a_thread_is_of_the_dispatched_process() {
    let head = |tick| FrameHeader { env: Env::Bits64, cpu: 0, tick, tid: None, pid: None };
    let path = [&30_u64.to_be_bytes()[..], b"/bin/pump\0"].concat();
    let exec = HookWord64::generic(ids::EXEC, path.len() as u16).into();
    let dispatch = HookWord64::plain(ids::DISPATCH, 0, 2).into();
    let frames = [
        generic(head(10), exec, 30, &path),
        plain(head(20), dispatch, [40, 30, 0, 0, 0]),
        plain(head(30), hook64(0x0A27, 0, 0), [0; 5]),
    ];
    let (trace, kept) = read(&container(ByteOrder::Big, &frames));
    let context = trace.contexts.get(kept.rows[2].context).unwrap();
    assert_eq!(context.name, "pump");
}

/// Reads bytes that arrive in pieces.
fn arriving(bytes: &[u8], piece: usize) -> EventLog {
    in_pieces("aix", &settings(&[]), bytes, piece).unwrap().1
}

#[test]
fn cutting_the_input_into_pieces_does_not_matter() {
    let mut inputs = vec![container(ByteOrder::Little, &small())];
    for frame in [0, 2, 5, 6] {
        inputs.push(damaged(frame, |frame| frame[4] = 0).0);
        inputs.push(damaged(frame, |frame| frame[3] ^= 0xFF).0);
        inputs.push(damaged(frame, |frame| frame.fill(0xA5)).0);
    }
    for bytes in inputs {
        let whole = arriving(&bytes, bytes.len());
        assert_eq!(whole, read(&bytes).1);
        for piece in 1..bytes.len() {
            assert_eq!(arriving(&bytes, piece), whole, "{piece}");
        }
    }
}

/// Returns a file of one processor. Each entry has a tick and a number from `events`.
fn file(cpu: u16, conversion: TimeConversion, events: &[(u64, u16)]) -> Vec<u8> {
    file_started_at(0, cpu, conversion, events)
}

fn file_started_at(
    start_tick: u64,
    cpu: u16,
    conversion: TimeConversion,
    events: &[(u64, u16)],
) -> Vec<u8> {
    let mut bytes = vec![0; HEADER];
    let head = FileHeader { conversion, start_tick, per_cpu: true, ..header(ByteOrder::Big) };
    head.write(&mut bytes).unwrap();
    for (tick, number) in events {
        let hook = hook32(0x0A1, HookType::Trchk, *number);
        bytes.extend(plain(at(Env::Bits32, cpu, *tick), hook, [0; 5]).bytes(ByteOrder::Big));
    }
    bytes
}

fn merged(files: &[Vec<u8>]) -> (Trace, Vec<u64>, EventLog) {
    let ends = files.iter().scan(0, |end, file| {
        *end += file.len();
        Some(end.to_string())
    });
    let parts: Vec<_> = ends.take(files.len() - 1).collect();
    let parts = format!("parts={}", parts.join(","));
    let options: &[&str] = if files.len() > 1 { &[&parts] } else { &[] };
    let (trace, kept) = read_with(files.concat(), options).unwrap();
    let number = |payload: &[u8]| trace.payload.argument(payload, 0).unwrap();
    let numbers = kept.rows.iter().map(|row| number(&row.payload)).collect();
    (trace, numbers, kept)
}

#[test]
fn files_of_several_processors_are_merged_by_time_processor_and_file() {
    let ns = TimeConversion::NANOSECONDS;
    let files = [
        file(1, ns, &[(10, 1), (20, 2), (20, 3), (50, 4)]),
        file(0, ns, &[(10, 5), (30, 6), (50, 7)]),
        file(1, ns, &[(10, 8), (49, 9), (50, 10)]),
    ];
    let (trace, numbers, _) = merged(&files);
    assert_eq!(numbers, [5, 1, 8, 2, 3, 6, 9, 7, 4, 10]);
    assert_eq!(trace.diagnostics.worst(), None);
}

#[test]
fn files_with_clocks_of_their_own_are_merged_by_nanoseconds() {
    let double = TimeConversion { multiplier: 2, divisor: 1 };
    let third = TimeConversion { multiplier: 1, divisor: 3 };
    let files = [
        file(0, double, &[(10, 1), (20, 2)]),
        file(1, third, &[(59, 3), (60, 4), (63, 5), (999, 6)]),
    ];
    // In nanoseconds, the timestamps are 20 and 40 in the first file, and 19, 20, 21 and 333 in the
    // second file.
    assert_eq!(merged(&files).1, [3, 1, 4, 5, 2, 6]);
}

/// Returns the ticks of the events, and the ticks in the copies of their frames.
fn ticks_and_copies(kept: &EventLog) -> (Vec<u64>, Vec<u64>) {
    let copy = |record: &[u8]| {
        Frame::read(ByteOrder::Big, &[record, &[0; 8]].concat()).unwrap().0.head.tick
    };
    kept.rows.iter().map(|row| (row.ticks, copy(&row.record))).unzip()
}

#[test]
fn timestamps_of_several_files_wrap_before_they_are_merged() {
    let ns = TimeConversion::NANOSECONDS;
    let files = [
        file(0, ns, &[(0xFFFF_FF00, 1), (0xFFFF_FFF0, 2), (0x100, 3), (0x200, 4)]),
        file(1, ns, &[(0xFFFF_FF40, 5), (0xFFFF_FFF8, 6), (0x110, 7), (0x210, 8)]),
    ];
    let (_, numbers, kept) = merged(&files);
    assert_eq!(numbers, [1, 5, 2, 6, 3, 7, 4, 8]);
    let (ticks, copies) = ticks_and_copies(&kept);
    assert_eq!(ticks, [0, 64, 240, 248, 512, 528, 768, 784]);
    // A copy of all frames in one file has the same ticks.
    assert_eq!(copies, ticks.iter().map(|tick| 0xFFFF_FF00 + tick).collect::<Vec<_>>());
}

#[test]
fn a_file_that_begins_after_a_wrap_is_merged_after_the_start() {
    let ns = TimeConversion::NANOSECONDS;
    let files = [
        file_started_at(0xFFFF_FF00, 0, ns, &[]),
        file(0, ns, &[(0xFFFF_FFF0, 1), (0x100, 2)]),
        file(1, ns, &[(0x20, 3), (0x110, 4)]),
    ];
    let (_, numbers, kept) = merged(&files);
    assert_eq!(numbers, [1, 3, 2, 4]);
    assert_eq!(ticks_and_copies(&kept).0, [0, 0x30, 0x110, 0x120]);
    // The tick at the start says nothing about files with another clock.
    let half = TimeConversion { multiplier: 2, divisor: 1 };
    let files = [
        file_started_at(0xFFFF_FF00, 0, ns, &[(0xFFFF_FF00, 1)]),
        file_started_at(0x7FFF_FF80, 1, half, &[(0x7FFF_FF80, 2), (0x7FFF_FF90, 3)]),
    ];
    let (_, numbers, kept) = merged(&files);
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(ticks_and_copies(&kept).0, [0, 0, 0x20]);
}

#[test]
fn the_ticks_of_several_files_are_those_of_the_first_file() {
    let conversion = |multiplier, divisor| TimeConversion { multiplier, divisor };
    let second = |ticks: u64| [0, 1, 2].map(|number| (ticks * number, number as u16));
    let files = [
        file(0, conversion(1000, 512), &second(512_000_000)),
        file(1, conversion(1000, 256), &second(256_000_000)),
        file(2, conversion(2000, 1024), &second(512_000_000)),
    ];
    let (trace, numbers, kept) = merged(&files);
    assert_eq!(numbers, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    let (ticks, copies) = ticks_and_copies(&kept);
    assert_eq!(ticks, [[0; 3], [512_000_000; 3], [1_024_000_000; 3]].as_flattened());
    assert_eq!(copies, ticks);
    assert_eq!(trace.clock.nanoseconds(ticks[8]), Some(2_000_000_000));
    assert_eq!(trace.diagnostics.worst(), None);
}

/// Returns the frame of a hook 00A with a conversion.
fn conversion_entry(cpu: u16, tick: u64, conversion: TimeConversion) -> Vec<u8> {
    let mut entry = vec![0; 64];
    let length = conversion.write_entry(Env::Bits64, &mut entry).unwrap();
    entry.truncate(length);
    Written { head: at(Env::Bits64, cpu, tick), entry }.bytes(ByteOrder::Big)
}

#[test]
fn files_without_a_conversion_in_the_header_are_merged_by_the_conversion_of_an_entry() {
    const UNKNOWN: TimeConversion = TimeConversion { multiplier: 0, divisor: 0 };
    let conversion = |multiplier, divisor| TimeConversion { multiplier, divisor };
    let found = conversion(1000, 512);
    let base = || file(0, UNKNOWN, &[]);
    let files = |first: Vec<u8>, second: Vec<u8>| {
        let a = file(0, UNKNOWN, &[(2000, 1), (3000, 2), (4000, 3)]);
        let b = file(1, UNKNOWN, &[(2500, 4), (3500, 5)]);
        [base(), [a, first].concat(), [b, second].concat()]
    };
    let own = |cpu, tick, conversion| conversion_entry(cpu, tick, conversion);
    // The base file, the first or the second file of a processor contains the entry.
    let with_base = {
        let [base, a, b] = files(Vec::new(), Vec::new());
        [[base, own(0, 1000, found)].concat(), a, b]
    };
    for (files, skipped) in [
        (with_base, 0),
        (files(own(0, 9000, found), Vec::new()), 5),
        (files(Vec::new(), own(1, 9000, found)), 5),
    ] {
        let (trace, mut numbers, _) = merged(&files);
        numbers.remove(skipped);
        assert_eq!(numbers, [1, 4, 2, 5, 3], "{skipped}");
        assert_eq!(trace.clock.rate.map(|rate| rate.ratio()), Some((512_000_000, 1)));
        assert_eq!(trace.diagnostics.worst(), None);
        let header = Header::of(&trace).unwrap();
        assert_eq!(header.numbers.conversion, found);
    }
    // Each file has an entry of its own: the second clock has half the rate of the first.
    let (trace, mut numbers, kept) =
        merged(&files(own(0, 9000, found), own(1, 9000, conversion(1000, 256))));
    assert_eq!((numbers.len(), trace.diagnostics.worst()), (7, None));
    numbers.truncate(5);
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert_eq!(ticks_and_copies(&kept).1[..5], [2000, 3000, 4000, 5000, 7000]);
    // No file contains a conversion.
    let (trace, numbers, _) = merged(&files(Vec::new(), Vec::new()));
    assert_eq!(numbers, [1, 4, 2, 5, 3]);
    assert_eq!((trace.clock.rate, trace.diagnostics.iter().count()), (None, 1));
    assert_eq!(trace.diagnostics.worst(), Some(Severity::Warning));
}

#[test]
fn a_warning_says_that_no_conversion_is_usable() {
    let warnings = |conversion, entries: &[TimeConversion]| {
        let mut bytes = file(0, conversion, &[(10, 1)]);
        entries.iter().for_each(|entry| bytes.extend(conversion_entry(0, 20, *entry)));
        let (trace, _) = read(&bytes);
        let said = trace.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>();
        (trace.clock.rate.is_some(), said)
    };
    let conversion = |multiplier, divisor| TimeConversion { multiplier, divisor };
    let (none, usable) = (conversion(0, 0), conversion(10, 3));
    assert_eq!(warnings(usable, &[]), (true, vec![]));
    assert_eq!(warnings(none, &[conversion(0, 7), usable]), (true, vec![]));
    let (known, said) = warnings(none, &[conversion(0, 7)]);
    assert!(!known && said.len() == 1 && said[0].contains("ticks × 0 / 7"), "{said:?}");
    let (known, said) = warnings(none, &[]);
    assert!(!known && said.len() == 1 && said[0].contains("ticks × 0 / 1"), "{said:?}");
}

#[test]
fn an_empty_file_among_several_is_no_damage() {
    let ns = TimeConversion::NANOSECONDS;
    let [a, b] = [file(0, ns, &[(10, 1), (30, 2)]), file(1, ns, &[(20, 3), (40, 4)])];
    let empty = Vec::new();
    for files in [[&empty, &a, &b], [&a, &empty, &b], [&a, &b, &empty]] {
        let (trace, numbers, kept) = merged(&files.map(Vec::clone));
        assert_eq!(numbers, [1, 3, 2, 4]);
        assert_eq!((trace.diagnostics.worst(), kept.losses.len()), (None, 0));
    }
}

#[test]
fn a_damaged_file_among_several_costs_its_own_events_only() {
    let ns = TimeConversion::NANOSECONDS;
    let [a, mut b] = [file(0, ns, &[(10, 1), (30, 2)]), file(1, ns, &[(20, 3), (40, 4), (50, 5)])];
    b[HEADER + 40 + 4] = 0;
    let (_, numbers, kept) = merged(&[a.clone(), b.clone()]);
    assert_eq!(numbers, [1, 3, 2, 5]);
    assert_eq!(kept.losses.len(), 1);
    assert_eq!(kept.losses[0].offset, (a.len() + HEADER + 40) as u64);
}

#[test]
fn a_file_without_a_valid_header_among_several_costs_its_own_events_only() {
    let ns = TimeConversion::NANOSECONDS;
    let files = || [file(0, ns, &[(10, 1), (30, 2)]), file(1, ns, &[(20, 3), (40, 4)])];
    let short = |files: &mut [Vec<u8>; 2], which: usize| files[which].truncate(50);
    let foreign = |files: &mut [Vec<u8>; 2], which: usize| files[which][0] = b'X';
    let in_order = |files: &[Vec<u8>; 2]| {
        let parts = format!("parts={}", files[0].len());
        let bytes = files.concat();
        in_pieces("aix", &settings(&[&parts]), &bytes, bytes.len())
    };
    for spoil in [&short as &dyn Fn(&mut _, _), &foreign] {
        for (which, expected) in [(0, 1), (1, 0)] {
            let mut files = files();
            spoil(&mut files, which);
            let (trace, kept) = in_order(&files).unwrap();
            let cpus: Vec<_> = kept.rows.iter().map(|row| row.cpu).collect();
            assert_eq!(cpus, [expected; 2]);
            let damage: Vec<_> = trace.diagnostics.iter().collect();
            assert_eq!((damage.len(), damage[0].severity), (1, Severity::Damage));
            let offset = if which == 0 { 0 } else { files[0].len() as u64 };
            assert_eq!(damage[0].offset, Some(offset));
        }
        let mut files = files();
        (0..2).for_each(|which| spoil(&mut files, which));
        assert_eq!(in_order(&files).unwrap_err().offset, 0);
    }
}

/// Returns a file in which threads 1 to 6 are dispatched in turn on three processors. The
/// timestamps alternate between 2^33 and 2^64 - 1.
fn longest_times() -> Vec<u8> {
    let dispatch = |number: u64| {
        let tick = if number.is_multiple_of(2) { 1 << 33 } else { u64::MAX };
        let (thread, cpu) = (1 + number % 6, (number / 2 % 3) as u16);
        let head = FrameHeader { tid: Some(thread), ..at(Env::Bits32, cpu, tick) };
        plain(head, hook32(0x106, HookType::Trchkg, 0), [thread, 60, 0, 0, 0])
    };
    container(ByteOrder::Big, &(0..24).map(dispatch).collect::<Vec<_>>())
}

#[test]
fn times_whose_sum_exceeds_the_largest_number_add_up_to_it() {
    for wanted in [Wanted::default(), Wanted { jobs: true, waits: true, ..Wanted::default() }] {
        let mut sink = Scheduling::new(wanted);
        let mut input = Input::from_bytes("log", longest_times(), settings(&[])).unwrap();
        let trace = input.read(&mut sink).unwrap();
        let figures = sink.figures(&trace);
        assert_eq!((trace.events, figures.events, figures.cores.len()), (24, 24, 3));
        assert_eq!(figures.charged_ticks, Some(u64::MAX));
    }
}

/// Any valid entry, with its words and data.
fn any_entry() -> impl Strategy<Value = (Written, Vec<u64>, Option<Vec<u8>>)> {
    let head = (any::<u16>(), 0..1_u64 << 40, any::<Option<u64>>(), any::<Option<u64>>());
    let data = prop_oneof![
        1 => Just(None),
        1 => prop::collection::vec(any::<u8>(), 0..100).prop_map(Some),
        1 => Just(Some(vec![0x5A; 4096])),
    ];
    let rest = (
        any::<bool>(),
        any::<bool>(),
        0..6_usize,
        any::<[u64; 5]>(),
        any::<u16>(),
        0x100..0xFFF_u16,
        data,
    );
    (head, rest).prop_map(
        |((cpu, tick, tid, pid), (wide, stamped, count, words, sub, id, data))| {
            let env = if wide { Env::Bits64 } else { Env::Bits32 };
            let head = FrameHeader { env, cpu, tick, tid, pid };
            let hook_type = HookType::for_words(count);
            let hook_type = if stamped { hook_type.stamped() } else { hook_type };
            let mask = if wide { u64::MAX } else { u64::from(u32::MAX) };
            let words = words.map(|word| word & mask);
            let hook = match wide {
                true => hook64(id << 4, sub, count as u16),
                false => hook32(id, hook_type, sub),
            };
            let count = if wide { count } else { hook_type.words() };
            match data {
                Some(data) => (generic(head, hook, words[0], &data), vec![words[0]], Some(data)),
                None => (plain(head, hook, words), words[..count].to_vec(), None),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn entries_are_read_as_they_were_written(
        written in prop::collection::vec(any_entry(), 0..12), big: bool, piece in 1..5000_usize
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let frames: Vec<_> = written.iter().map(|(frame, ..)| frame.clone()).collect();
        let bytes = container(order, &frames);
        let (trace, kept) = read(&bytes);
        prop_assert_eq!(&arriving(&bytes, piece), &kept);
        prop_assert_eq!(kept.rows.len(), written.len());
        for (row, (frame, words, data)) in kept.rows.iter().zip(&written) {
            let padded = [&row.record[..], &[0; 8]].concat();
            let read = Frame::read(order, &padded).unwrap().0;
            prop_assert_eq!((read.head, read.entry), (frame.head, &frame.entry[..]));
            prop_assert_eq!(row.cpu, frame.head.cpu);
            let value = |index| trace.payload.argument(&row.payload, index);
            let found: Vec<_> = (1..6).map_while(value).collect();
            prop_assert_eq!(&found, words);
            let bytes = value(6)
                .map(|slot| tracewell::model::values::bytes(&row.payload, slot).to_vec());
            prop_assert_eq!(&bytes, data);
        }
        let told = kept.losses.iter().all(|loss| loss.cause == LossCause::BufferFull);
        prop_assert!(told, "{:?}", kept.losses);
    }
}
