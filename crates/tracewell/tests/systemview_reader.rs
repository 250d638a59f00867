//! Compares the SystemView reader with three references: lists of packets from an independent
//! decoder, the events that simulated targets recorded, and a recorder whose losses were counted.

mod support;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use support::systemview::{
    Expected, args, events, is_packet, name, put, put_after, rows, truth, with_numbers,
};
use support::{EventLog, fixture, read, shared};
use tracewell::analysis::tracks::{Occupant, TrackBuilder, Tracks};
use tracewell::input::{Input, Settings};
use tracewell::model::{Loss, LossCause, Severity, Trace};
use tracewell_wire::systemview::{Form, Packet, SYNC, TextOrder, ids, text};

/// Returns the shared file of this name, or the copy among the fixtures.
fn find(name: &str) -> Option<PathBuf> {
    let copy = fixture("systemview").join(name);
    if copy.exists() {
        return Some(copy);
    }
    shared().map(|shared| shared.join("data/systemview/synthetic").join(name))
}

fn synthetic(name: &str) -> Option<(PathBuf, Vec<Expected>)> {
    let stem = name.split('.').next().unwrap();
    Some((find(name)?, truth(&find(&format!("{stem}.truth.tsv"))?)))
}

fn init(rows: &[Expected]) -> Option<(u64, u64)> {
    let init = rows.iter().find(|row| row.name == "INIT")?;
    Some((init.args["ram_base"].as_u64()?, init.args["id_shift"].as_u64()?))
}

/// Compares the events of a file with its expected list: times, cores, bytes and arguments.
fn compare(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    let mut list = path.as_os_str().to_owned();
    list.push(".events.tsv");
    let expected = events(Path::new(&list));
    let (trace, kept) = read(path, &[]);
    let init = init(&expected);
    // The reader merges several streams by time; the list contains one stream after the other.
    let mut packets: Vec<_> = expected.iter().filter(|row| is_packet(row)).collect();
    packets.sort_by_key(|row| (row.ticks, row.core));
    drop_copies(&mut packets);
    assert_eq!(kept.rows.len(), packets.len(), "{}", path.display());
    let series: HashMap<_, _> = expected
        .iter()
        .filter(|row| row.name == "EX_REGISTER_DATA")
        .map(|row| (row.args["data"].as_u64().unwrap(), row.args["type"].as_u64().unwrap_or(0)))
        .collect();
    for (row, expected) in kept.rows.iter().zip(packets) {
        let place = format!("{} at byte {}", path.display(), expected.offset);
        assert_eq!(row.record, bytes[expected.offset..][..expected.size], "{place}");
        assert_eq!((Some(row.ticks), row.cpu), (expected.ticks, expected.core), "{place}");
        assert_eq!(name(&trace, row.id), expected.name, "{place}");
        let mut wanted = expected.args.clone();
        let Some(found) = args(&trace, row, init) else {
            // For events of operating systems and modules, the parameters are compared as bytes.
            let mut payload = Vec::new();
            trace.recorded.as_ref().unwrap().append(&row.record, &mut payload);
            let rest: String = payload.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(wanted.get("rest").and_then(|r| r.as_str()).unwrap_or(""), rest, "{place}");
            continue;
        };
        if row.id == 23 && series.get(&wanted["data"].as_u64().unwrap()) == Some(&1) {
            let bits = (wanted["value"].as_f64().unwrap() as f32).to_bits().cast_signed();
            wanted["value"] = f64::from(bits).into();
        }
        if row.id == 26 {
            // The list contains all bits of the options, but the reader shows only the level, which
            // is in the lowest two.
            wanted["level"] = (wanted["level"].as_u64().unwrap() & 3).into();
        }
        wanted.as_object_mut().unwrap().remove("rest");
        if row.id == 21 {
            // The reader corrects the base and the size that Zephyr records for a single thread.
            let pair = |value: &serde_json::Value| {
                let mut pair = [value["base"].as_u64(), value["size"].as_u64()];
                pair.sort_unstable();
                pair
            };
            assert_eq!(pair(&found), pair(&wanted), "{place}");
            continue;
        }
        assert_eq!(found, wanted, "{place}");
    }
}

/// Removes packets that a host copied from the stream of another core.
fn drop_copies(rows: &mut Vec<&Expected>) {
    let copied = [
        "OVERFLOW",
        "TASK_START_READY",
        "TASK_INFO",
        "TRACE_START",
        "TRACE_STOP",
        "SYSTIME_CYCLES",
        "SYSTIME_US",
        "SYSDESC",
        "STACK_INFO",
        "MODULEDESC",
        "INIT",
        "NUMMODULES",
    ];
    let mut kept: Vec<&Expected> = Vec::new();
    let mut matched = std::collections::HashSet::new();
    rows.retain(|row| {
        let same = kept.iter().enumerate().rev().take_while(|(_, k)| k.ticks == row.ticks).find(
            |(at, known)| {
                !matched.contains(at)
                    && copied.contains(&row.name.as_str())
                    && known.core != row.core
                    && (&known.name, &known.args) == (&row.name, &row.args)
            },
        );
        if let Some((at, _)) = same {
            matched.insert(at);
            return false;
        }
        kept.push(row);
        true
    });
}

#[test]
fn every_packet_of_real_captures_is_as_the_independent_decoder_lists_it() {
    let Some(shared) = shared() else { return };
    let mut files = 0;
    for folder in ["real", "recorder"] {
        for entry in std::fs::read_dir(shared.join("data/systemview").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "bin" || extension == "svdat")
            {
                compare(&path);
                files += 1;
            }
        }
    }
    assert_eq!(files, 12);
}

/// Compares the decoded events with the events that each core of a simulated target recorded.
fn compare_truth(name_of_file: &str, options: &[&str]) -> Option<(Trace, EventLog, Vec<Expected>)> {
    let (path, expected) = synthetic(name_of_file)?;
    let (trace, kept) = read(&path, options);
    let mut wanted: Vec<_> = expected.iter().filter(|row| is_packet(row)).collect();
    wanted.sort_by_key(|row| (row.ticks, row.core));
    drop_copies(&mut wanted);
    let in_order: Vec<_> = kept.rows.iter().collect();
    assert_eq!(in_order.len(), wanted.len(), "{name_of_file}");
    for (index, (row, wanted)) in in_order.iter().zip(wanted).enumerate() {
        let place = format!("{name_of_file}: event {index} {wanted:?}");
        assert_eq!((row.cpu, Some(row.ticks)), (wanted.core, wanted.ticks), "{place}");
        assert_eq!(name(&trace, row.id), wanted.name, "{place}");
        if let Some(found) = args(&trace, row, None) {
            assert_eq!(found, wanted.args, "{place}");
        }
    }
    Some((trace, kept, expected))
}

#[test]
fn events_of_simulated_targets_are_true() {
    for name in [
        "usual.svdat",
        "old.bin",
        "long.bin",
        "shift.svdat",
        "zero.bin",
        "restart.bin",
        "cores.svdat",
        "extension.svdat",
        "wrap.bin",
    ] {
        let Some((trace, kept, _)) = compare_truth(name, &[]) else { continue };
        assert!(kept.losses.is_empty(), "{name}");
        assert_eq!(
            trace.diagnostics.worst(),
            match name {
                "zero.bin" => Some(Severity::Warning),
                // Tracewell has no table for the events of this target's operating system.
                _ => Some(Severity::Note),
            },
            "{name}: {:?}",
            trace.diagnostics.iter().collect::<Vec<_>>()
        );
    }
}

#[test]
fn silence_of_several_turns_shows_in_the_time_of_the_system() {
    let (trace, ..) = compare_truth("wrap.bin", &[]).unwrap();
    let notes: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
    assert!(
        notes.iter().any(|note| note.contains("wrapped 2 times without a packet")),
        "{notes:?}"
    );
    assert!(trace.span > 2 << 32);
}

#[test]
fn a_counter_that_does_not_run_is_reported() {
    let (trace, ..) = compare_truth("zero.bin", &[]).unwrap();
    assert_eq!(trace.span, 0);
    let notes: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
    assert!(notes.iter().any(|note| note.contains("counter did not run")), "{notes:?}");
}

#[test]
fn a_counter_that_does_not_run_on_any_core_is_reported() {
    for (delta, is_reported) in [(0, true), (1, false)] {
        let stream = |delta: u32| {
            let mut bytes = vec![0; SYNC];
            put_after(0, &mut bytes, ids::TRACE_START, &[]);
            (0..9).for_each(|_| put_after(delta, &mut bytes, ids::IDLE, &[]));
            bytes
        };
        let first = stream(0);
        let settings = support::settings(&[&format!("parts={}", first.len())]);
        let bytes = [first, stream(delta)].concat();
        let (trace, _) = support::in_pieces("systemview", &settings, &bytes, bytes.len()).unwrap();
        let mut notes = trace.diagnostics.iter().map(|note| &note.message);
        assert_eq!(notes.any(|note| note.contains("counter did not run")), is_reported);
    }
}

#[test]
fn every_lost_event_is_counted_in_its_place() {
    let Some((_, kept, expected)) = compare_truth("loss.bin", &[]) else { return };
    let mut wanted = Vec::new();
    let (mut before, mut lost) = (0, 0);
    for row in &expected {
        match row.name.as_str() {
            "lost" => lost += 1,
            name => {
                if name == "OVERFLOW" {
                    wanted.push((before, Some(lost), LossCause::BufferFull));
                    lost = 0;
                }
                before += u64::from(is_packet(row));
            }
        }
    }
    let found =
        kept.losses.iter().map(|Loss { before, events, cause, .. }| (*before, *events, *cause));
    assert_eq!(found.collect::<Vec<_>>(), wanted);
    assert!(wanted.len() > 5);
}

#[test]
fn losses_of_the_real_recorder_add_up() {
    let Some(shared) = shared() else { return };
    for (name, lost) in [("loss.bin", 3257), ("single.bin", 2), ("plain.bin", 0)] {
        let path = shared.join("data/systemview/recorder").join(name);
        let (trace, _) = read(&path, &[]);
        let of_room = trace.losses.iter().find(|(cause, _)| *cause == LossCause::BufferFull);
        assert_eq!(of_room.map_or(0, |(_, count)| count.events), lost, "{name}");
    }
}

fn tracks(path: &Path) -> (Trace, Tracks) {
    let mut builder = TrackBuilder::default();
    let trace = Input::open(path, Settings::default()).unwrap().read(&mut builder).unwrap();
    let tracks = builder.finish(&trace);
    (trace, tracks)
}

#[test]
fn the_contexts_that_ran_are_true_to_the_tick() {
    for name in
        ["usual.svdat", "old.bin", "long.bin", "shift.svdat", "cores.svdat", "extension.svdat"]
    {
        let stem = name.split('.').next().unwrap();
        let (Some(path), Some(truth)) = (find(name), find(&format!("{stem}.run.tsv"))) else {
            continue;
        };
        let (trace, tracks) = tracks(&path);
        let mut wanted: HashMap<u16, Vec<(u64, u64, String)>> = HashMap::new();
        for row in rows(&truth) {
            let [core, from, to] = [0, 1, 2].map(|at| row[at].parse::<u64>().unwrap());
            let list = wanted.entry(core as u16).or_default();
            // The last row ends when the simulation ends, which can be after the end of the trace.
            let to = to.min(trace.span);
            match list.last_mut() {
                Some(last) if last.2 == row[3] => last.1 = to,
                _ if from < to => list.push((from, to, row[3].clone())),
                _ => {}
            }
        }
        for (core, row) in tracks.cores.iter().enumerate() {
            let mut found: Vec<(u64, u64, String)> = Vec::new();
            for span in row.spans(0..trace.span, trace.span) {
                let (from, to) = (span.from.ticks, span.end);
                let who = match span.state {
                    Occupant::Unknown => "unknown".to_owned(),
                    Occupant::Idle => "idle".to_owned(),
                    Occupant::Interrupt { number, .. } => format!("isr {}", number.unwrap()),
                    Occupant::Task { runs, .. } => {
                        trace.contexts.get(runs).unwrap().name.chars().take(32).collect()
                    }
                };
                match found.last_mut() {
                    Some(last) if last.2 == who => last.1 = to,
                    _ if from < to => found.push((from, to, who)),
                    _ => {}
                }
            }
            // The simulation ended before the last packet.
            let wanted = &wanted[&(core as u16)];
            let end = wanted.last().unwrap().1;
            // Until the scheduler first chooses a task, the trace shows only interrupts.
            let start =
                found.iter().rposition(|(_, _, who)| who == "unknown").map_or(0, |at| at + 1);
            let start = found[start].0;
            assert!(start < trace.span / 10, "{name}: known from {start}");
            let clipped = |list: &[(u64, u64, String)]| -> Vec<(u64, u64, String)> {
                let list = list.iter().filter(|(from, to, _)| *to > start && *from < end);
                list.map(|(from, to, who)| {
                    (*from.max(&start), *to.min(&end), who.chars().take(32).collect())
                })
                .collect()
            };
            let wanted = clipped(wanted);
            let found = clipped(&found);
            for (index, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
                assert_eq!(found, wanted, "{name}: core {core}, interval {index}");
            }
            assert_eq!(found.len(), wanted.len(), "{name}: core {core}");
        }
    }
}

#[test]
fn every_damage_is_reported_and_every_later_sync_is_found() {
    let (path, expected) = synthetic("damaged.bin").unwrap();
    let (trace, kept) = read(&path, &[]);
    let damages: Vec<u64> = expected
        .iter()
        .filter(|row| row.name == "damage")
        .map(|row| row.args["at"].as_u64().unwrap())
        .collect();
    let found: Vec<u64> = kept.losses.iter().map(|loss| loss.offset).collect();
    assert_eq!(found, damages);
    assert_eq!(trace.diagnostics.worst(), Some(Severity::Damage));
    // Only the damaged bytes are missing, and the reader adds no packet. Only the time of the
    // packet that was cut is different.
    let wanted: Vec<_> = expected.iter().filter(|row| is_packet(row)).collect();
    let names: Vec<_> = kept.rows.iter().map(|row| name(&trace, row.id)).collect();
    assert_eq!(names, wanted.iter().map(|row| row.name.clone()).collect::<Vec<_>>());
}

#[test]
fn a_sync_within_zeros_is_its_last_ten_and_unused_memory_is_no_loss() {
    let Some((trace, kept, _)) = compare_truth("quiet.bin", &[]) else { return };
    let losses: Vec<_> = kept.losses.iter().map(|l| (l.before, l.events, l.cause)).collect();
    assert_eq!(losses, [(0, None, LossCause::Overwritten)]);
    let notes: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
    assert!(
        notes[0].contains("at byte 0: the recording began earlier: skipped 4 bytes"),
        "{notes:?}"
    );
}

#[test]
fn a_post_mortem_ring_begins_at_its_first_sync() {
    let Some((path, expected)) = synthetic("postmortem.bin") else { return };
    let (trace, kept) = read(&path, &[]);
    let wanted: Vec<_> = expected.iter().filter(|row| is_packet(row)).collect();
    let wanted = &wanted[wanted.len() - kept.rows.len()..];
    let origin = wanted[0].ticks.unwrap();
    assert_eq!(wanted[0].name, "TRACE_START");
    for (row, wanted) in kept.rows.iter().zip(wanted) {
        assert_eq!(Some(row.ticks + origin), wanted.ticks);
        assert_eq!(name(&trace, row.id), wanted.name);
        if let Some(found) = args(&trace, row, None) {
            assert_eq!(found, wanted.args);
        }
    }
    assert!(kept.rows.len() > 300);
    assert_eq!(kept.losses[0].before, 0);
}

#[test]
fn files_of_two_cores_are_joined_as_one_file_with_two_streams() {
    let Some((path, _)) = synthetic("cores.svdat") else { return };
    let bytes = std::fs::read(&path).unwrap();
    let (whole, expected) = read(&path, &[]);
    let head = bytes.split_inclusive(|byte| *byte == b'\n').take_while(|line| line[0] == b';');
    let head: usize = head.map(<[u8]>::len).sum();
    let offset: usize = String::from_utf8_lossy(&bytes[..head])
        .lines()
        .find_map(|line| line.strip_prefix("; Offset Core1 ")?.trim().parse().ok())
        .unwrap();
    let part = offset.to_string();
    let settings = support::settings(&[&format!("parts={part}")]);
    let (trace, kept) = support::in_pieces("systemview", &settings, &bytes[head..], 1000).unwrap();
    assert_eq!(kept.rows, expected.rows);
    assert_eq!((trace.cpus, trace.span), (2, whole.span));
}

#[test]
fn streams_that_do_not_begin_with_the_same_packet_are_reported() {
    let stream = |delta: u32| {
        let mut bytes = vec![0; SYNC];
        put_after(delta, &mut bytes, ids::TRACE_START, &[]);
        put(&mut bytes, ids::IDLE, &[]);
        bytes
    };
    let sync = [0; SYNC];
    let late = [&[0x55; 3][..], &stream(5)].concat();
    let damaged = [&sync[..], &[ids::TRACE_START as u8], &[0xFF; 6], &stream(5)].concat();
    let cut = [&sync[..], &[ids::TRACE_START as u8]].concat();
    let unused = [&sync[..], &stream(5)].concat();
    let at = stream(5).len();
    // Each complete stream has a start and one further event. The second start counts as a copy of
    // the first one, so it is no further event.
    for (first, second, warnings, events) in [
        (stream(5), stream(5), &[][..], 3),
        (stream(5), stream(6), &[at + sync.len()], 3),
        (stream(5), late.clone(), &[at + 3], 3),
        (late.clone(), stream(5), &[3], 3),
        (late.clone(), late.clone(), &[3, at + 6], 3),
        (stream(5), damaged, &[at + sync.len() + 7], 3),
        // Nothing is missing after unused memory.
        (stream(5), unused, &[], 3),
        // A stream without packets has no clock.
        (stream(5), cut, &[], 2),
        (stream(5), sync.to_vec(), &[], 2),
        (stream(5), vec![0x55; 3], &[], 2),
        (late.clone(), sync.to_vec(), &[], 2),
        (late, Vec::new(), &[], 2),
    ] {
        let settings = support::settings(&[&format!("parts={}", first.len())]);
        let bytes = [first, second].concat();
        let (trace, kept) =
            support::in_pieces("systemview", &settings, &bytes, bytes.len()).unwrap();
        let added = trace.diagnostics.iter().filter(|of| of.severity == Severity::Warning);
        let found: Vec<_> = added.map(ToString::to_string).collect();
        let expected = warnings.iter().map(|at| {
            format!(
                "warning: at byte {at}: the streams do not begin with the same packet: expected \
                 one clock, assumed that all streams began at the same time"
            )
        });
        assert_eq!(found, Vec::from_iter(expected));
        assert_eq!(kept.rows.len(), events, "{warnings:?}");
    }
    // A head can list a single stream.
    let bytes = [b"; Offset Core0 0\n", &[0x55; 3][..], &stream(5)].concat();
    let (trace, _) =
        support::in_pieces("systemview", &support::settings(&[]), &bytes, bytes.len()).unwrap();
    assert_eq!(trace.diagnostics.worst(), Some(Severity::Note));
}

#[test]
fn core_numbers_in_ids_can_be_specified_by_an_option() {
    let Some((path, _)) = synthetic("extension.svdat") else { return };
    let bytes = std::fs::read(&path).unwrap();
    let (_, expected) = read(&path, &[]);
    let start = bytes.iter().position(|byte| *byte == 0).unwrap();
    let settings = support::settings(&["cores=in-ids"]);
    let raw = &bytes[start..];
    let (trace, kept) = support::in_pieces("systemview", &settings, raw, raw.len()).unwrap();
    assert_eq!(kept.rows, expected.rows);
    assert_eq!(trace.cpus, 2);
}

#[test]
fn systems_and_modules_give_events_their_names() {
    let (trace, kept) = read(&fixture("systemview/recorder.bin"), &[]);
    let names = |id: u32| {
        let event = trace.schema.event(id);
        let args: Vec<_> = event.args.iter().map(|argument| argument.name.as_str()).collect();
        format!("{}({})", event.label, args.join(" "))
    };
    assert_eq!(
        names(161),
        "xQueueGenericSend(queue item_to_queue ticks_to_wait copy_position values)"
    );
    assert_eq!(names(512), "Link(up values)");
    assert_eq!(names(515), "Write(block count values)");
    let found = kept.rows.iter().find(|row| row.id == 512).unwrap();
    assert!(trace.payload.argument(&found.payload, 0).is_some());
    let tasks: Vec<_> = trace.contexts.iter().map(|(_, context)| context.name.as_str()).collect();
    for task in ["feed", "log", "spindle", "Tmr Svc", "SysTick"] {
        assert!(tasks.contains(&task), "{task} in {tasks:?}");
    }
    let texts: Vec<_> = trace.texts.iter().map(|(name, text)| format!("{name}={text}")).collect();
    assert_eq!(
        texts,
        ["application=mill", "device=MPS2-AN385", "core=Cortex-M3", "system=FreeRTOS"]
    );
}

#[test]
fn the_order_of_long_texts_is_found_and_kept() {
    let Some((path, _)) = synthetic("old.bin") else { return };
    let (_, kept) = read(&path, &[]);
    let form = Form { texts: TextOrder::LowFirst, core_in_id: false };
    let long = kept.rows.iter().filter(|row| row.id == 26 && row.record.len() > 260);
    assert!(long.clone().count() >= 3);
    assert!(long.clone().all(|row| Packet::read(&row.record, form).is_ok()));
}

/// The first long text shows the order of the bytes of all long texts. If both orders are possible,
/// it is the order of the shorter text. A later long text changes nothing.
#[test]
fn the_first_long_text_can_be_the_name_of_a_task() {
    const FOLLOWING: usize = 6000;
    let name = "n".repeat(300);
    for order in [TextOrder::LowFirst, TextOrder::HighFirst] {
        let mut bytes = vec![0; SYNC];
        let mut packet = |id: u32, payload: &[u8]| put(&mut bytes, id, payload);
        packet(ids::TRACE_START, &[]);
        let mut task = |number: u8, name: &str| {
            let mut long = vec![0; 320];
            let length = text::write(name.as_bytes(), order, &mut long).unwrap();
            packet(ids::TASK_INFO, &[&[number, 2], &long[..length]].concat());
        };
        task(1, &name);
        // Of this name, the other order has only the first letter. The next letters are a packet.
        task(2, &"a".repeat(256));
        packet(ids::TASK_START_EXEC, &[1]);
        // With the other order, the first name ends within these packets.
        (0..FOLLOWING).for_each(|_| packet(ids::IDLE, &[]));
        let settings = Settings { format: Some("systemview".to_owned()), ..Settings::default() };
        let mut log = EventLog::default();
        let trace = Input::from_bytes("recording", bytes, settings).unwrap().read(&mut log);
        let context = trace.unwrap().contexts.get(log.rows[3].context).unwrap().name.clone();
        assert_eq!((log.rows.len(), context), (4 + FOLLOWING, name.clone()), "{order:?}");
    }
}

/// A recording can begin in the middle, so events can precede their description.
#[test]
fn events_before_their_description_keep_their_values() {
    let mut bytes = vec![0; SYNC];
    let mut packet = |id: u32, payload: &[u8]| put(&mut bytes, id, payload);
    let description = b"M=module,0 step count=%u";
    let length = description.len() as u8;
    packet(ids::TRACE_START, &[]);
    packet(ids::FIRST_MODULE, &[11, 7]);
    packet(ids::MODULEDESC, &[&[0, 0x80, 4, length], &description[..]].concat());
    packet(ids::FIRST_MODULE, &[12]);
    let settings = Settings { format: Some("systemview".to_owned()), ..Settings::default() };
    let mut found = Vec::new();
    let mut input = Input::from_bytes("recording", bytes, settings).unwrap();
    input.for_each(|event| found.push(event.args().to_string())).unwrap();
    assert_eq!([&*found[1], &*found[3]], ["11, 7", "count=12"]);
}

/// The type of a series says how to read its samples. The reader stores the types of the first
/// 65536 series, and reads samples of any other series as floating-point numbers.
#[test]
fn the_types_of_many_series_are_stored() {
    const UNSIGNED: u32 = 0;
    let last = 1 << 16;
    let mut bytes = vec![0; SYNC];
    let mut packet = |id: u32, payload: &[u8]| put(&mut bytes, id, payload);
    packet(ids::TRACE_START, &[]);
    for series in 0..=last {
        let mut payload = with_numbers(Vec::new(), &[ids::extended::REGISTER_DATA, series]);
        // The series has an empty name.
        payload.push(0);
        packet(ids::EXTENDED, &with_numbers(payload, &[UNSIGNED]));
    }
    for series in [last - 1, last] {
        packet(ids::DATA_SAMPLE, &with_numbers(Vec::new(), &[series, 1.0_f32.to_bits()]));
    }
    let settings = Settings { format: Some("systemview".to_owned()), ..Settings::default() };
    let mut found = Vec::new();
    let mut input = Input::from_bytes("recording", bytes, settings).unwrap();
    input
        .for_each(|event| {
            if event.row.id == ids::DATA_SAMPLE {
                found.push(f64::from_bits(event.argument(1).unwrap()));
            }
        })
        .unwrap();
    assert_eq!(found, [f64::from(1.0_f32.to_bits()), 1.0]);
}

/// The time of the target's system is less precise than its counter. The reader accepts a
/// difference of an eighth of a turn, and adds whole turns.
#[test]
fn the_time_of_the_system_shows_a_turn_if_it_differs_by_at_most_an_eighth() {
    const TURN: u64 = 1 << 32;
    // Returns the ticks between two times of the system. These times are `ahead` microseconds
    // further apart than the ticks of the packets.
    let ticks = |ahead: u64| {
        let mut bytes = vec![0; SYNC];
        let mut packet = |id: u32, payload: &[u8]| put(&mut bytes, id, payload);
        packet(ids::TRACE_START, &[]);
        for us in [0, ahead + 1] {
            packet(ids::SYSTIME_US, &with_numbers(Vec::new(), &[us as u32, (us >> 32) as u32]));
        }
        let format = Some("systemview".to_owned());
        let settings = Settings { format, ..support::settings(&["rate=1MHz"]) };
        let mut log = EventLog::default();
        Input::from_bytes("recording", bytes, settings).unwrap().read(&mut log).unwrap();
        let [_, first, last] = &log.rows[..] else { panic!("{log:?}") };
        last.ticks - first.ticks - 1
    };
    for (ahead, missing) in [
        (TURN / 8, 0),
        (TURN - TURN / 8 - 1, 0),
        (TURN - TURN / 8, TURN),
        (TURN, TURN),
        (TURN + TURN / 8, TURN),
        (TURN + TURN / 8 + 1, 0),
        (2 * TURN, 2 * TURN),
    ] {
        assert_eq!(ticks(ahead), missing, "{ahead}");
    }
}
