//! The inputs of the scaling table, one function each.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tracewell_wire::shark::{self, Record};
use tracewell_wire::threadx::{Event, PriorityWord, RegistrySlot, ids};

use super::{Series, on};
use crate::{rkh, templates, trace};

/// Number of events for each unit, such as a context or an object. A larger input has more units,
/// and so more events.
const EVENTS_PER_UNIT: u32 = 20;

/// `tx_queue_send` and `tx_semaphore_get`.
const QUEUE_SEND: u16 = 68;
const SEMAPHORE_GET: u16 = 83;
/// `tx_thread_create`, `tx_thread_delete`.
const THREAD_CREATE: u16 = 100;
const THREAD_DELETE: u16 = 101;

pub(super) static SERIES: [Series; 16] = [
    Series { name: "ThreadX events, `analyze`", units: 200_000, make: events },
    Series { name: "ThreadX contexts, `report`", units: 2_000, make: contexts },
    Series { name: "contexts without a registry, `analyze`", units: 2_000, make: unregistered },
    Series { name: "ThreadX objects, `report`", units: 2_000, make: objects },
    Series { name: "registry slots of one address, `report`", units: 2_000, make: one_address },
    Series { name: "lifetimes of one address, `report`", units: 2_000, make: lifetimes },
    Series { name: "ThreadX event ids, `report`", units: 5_000, make: event_ids },
    Series { name: "empty slots, `events`", units: 20_000, make: empty_slots },
    Series { name: "RKH restarts, `report`", units: 1_000, make: restarts },
    Series { name: "RKH restarts, `analyze`", units: 1_000, make: restarts_analyzed },
    Series { name: "RKH losses, `report`", units: 5_000, make: losses },
    Series { name: "S.Ha.R.K. lifetimes of one pid, `analyze`", units: 500, make: pids },
    Series { name: "rules that never match, `check`", units: 250, make: never },
    Series { name: "steps in any order, `check`", units: 250, make: any_order },
    Series { name: "templates, `template check`", units: 1_000, make: template_ids },
    Series { name: "templates of one id, `template check`", units: 1_000, make: one_template_id },
];

/// Returns the address of the control block that has the given number.
fn address(number: u32) -> u64 {
    0x8000_0000 + 256 * u64::from(number)
}

/// Returns an event of a thread, 10 ticks after the previous event.
fn event(number: u32, context: u64, id: u16, info1: u64) -> Event {
    Event {
        context,
        priority_word: PriorityWord::of_thread(5, 5),
        id_word: u64::from(id),
        stamp: u64::from(number * 10),
        info: [info1, 0, 0, 0],
    }
}

/// Writes a ThreadX dump. `registry` contains the type of the objects, the number of registry
/// slots, and a function that returns the address of the object in each slot.
fn dump(
    folder: &Path,
    arguments: &[&str],
    registry: (u8, u32, fn(u32) -> u64),
    events: impl ExactSizeIterator<Item = Event>,
) -> io::Result<Vec<OsString>> {
    let (object_type, slots, place) = registry;
    let names: Vec<String> = (0..slots).map(|number| format!("o{number}")).collect();
    let slots: Vec<_> = (0..)
        .zip(&names)
        .map(|(number, name)| RegistrySlot {
            available: 0,
            object_type,
            reserved1: 0,
            reserved2: 0,
            pointer: place(number),
            parameter1: 0,
            parameter2: 0,
            name: name.as_bytes(),
        })
        .collect();
    let file = folder.join("trace.trx");
    let mut out = BufWriter::new(File::create(&file)?);
    trace::write_dump(&mut out, trace::USUAL, &slots, events)?;
    out.flush()?;
    Ok(on(arguments, file))
}

fn events(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    let file = folder.join("trace.trx");
    let mut out = BufWriter::new(File::create(&file)?);
    trace::write(&mut out, trace::USUAL, u64::from(units))?;
    out.flush()?;
    Ok(on(&["analyze"], file))
}

/// Returns events that `units` threads record in turn.
fn of_threads(units: u32) -> impl ExactSizeIterator<Item = Event> {
    let ids = [ids::THREAD_RESUME, SEMAPHORE_GET, QUEUE_SEND];
    (0..units * EVENTS_PER_UNIT).map(move |number| {
        let thread = address(number.wrapping_mul(7919) % units);
        event(number, thread, ids[number as usize % ids.len()], thread)
    })
}

fn contexts(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    dump(folder, &["report"], (ids::object::THREAD, units, address), of_threads(units))
}

fn unregistered(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    dump(folder, &["analyze"], (ids::object::THREAD, 0, address), of_threads(units))
}

fn objects(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    let events = (0..units * EVENTS_PER_UNIT).map(|number| {
        let queue = address(number.wrapping_mul(7919) % units);
        event(number, 0x7000_0000, QUEUE_SEND, queue)
    });
    dump(folder, &["report"], (ids::object::QUEUE, units, address), events)
}

fn one_address(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    let events = (0..units * EVENTS_PER_UNIT)
        .map(|number| event(number, address(0), SEMAPHORE_GET, address(0)));
    dump(folder, &["report"], (ids::object::THREAD, units, |_| address(0)), events)
}

fn lifetimes(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    let events = (0..units * EVENTS_PER_UNIT).map(|number| match number % EVENTS_PER_UNIT {
        0 => event(number, 0x7000_0000, THREAD_CREATE, address(0)),
        1..18 => event(number, address(0), SEMAPHORE_GET, address(0)),
        _ => event(number, 0x7000_0000, THREAD_DELETE, address(0)),
    });
    dump(folder, &["report"], (ids::object::THREAD, units, |_| address(0)), events)
}

fn event_ids(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    let events = (0..units).map(|number| {
        event(number, address(0), ids::USER_EVENT_START + (number % 60_000) as u16, 0)
    });
    dump(folder, &["report"], (ids::object::THREAD, 1, address), events)
}

fn empty_slots(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    let events = (0..units).map(|number| match number % 2 {
        0 => event(number, address(0), SEMAPHORE_GET, 0),
        _ => Event { context: 0, priority_word: 0, id_word: 0, stamp: 0, info: [0; 4] },
    });
    dump(folder, &["events"], (ids::object::THREAD, 1, address), events)
}

/// `RKH_TE_SMA_GET` and `RKH_TE_FWK_OBJ`.
const SMA_GET: u8 = 0x22;
const FWK_OBJ: u8 = 0xA6;

/// An RKH stream. Each added frame gets the next sequence number and timestamp.
struct Frames {
    out: Vec<u8>,
    number: u8,
    stamp: u32,
}

impl Frames {
    fn new() -> Self {
        Self { out: vec![0x7E], number: 0, stamp: 1000 }
    }

    /// Adds a boot: the configuration record, which restarts the sequence numbers.
    fn boot(&mut self) {
        rkh::add(&mut self.out, &rkh::configuration());
        self.number = 0;
    }

    fn frame(&mut self, id: u8, arguments: &[&[u8]]) {
        let mut frame = vec![id, self.number];
        self.number = self.number.wrapping_add(1);
        self.stamp += 10;
        frame.extend(self.stamp.to_le_bytes());
        arguments.iter().for_each(|bytes| frame.extend(*bytes));
        rkh::add(&mut self.out, &frame);
    }

    fn get(&mut self, object: u32) {
        self.frame(SMA_GET, &[&object.to_le_bytes(), &[1], &[2]]);
    }

    fn save(self, folder: &Path, arguments: &[&str]) -> io::Result<Vec<OsString>> {
        let file = folder.join("trace.rkh");
        std::fs::write(&file, self.out)?;
        Ok(on(arguments, file))
    }
}

/// Simulates a target that boots repeatedly, each time with another object at the same address.
fn boots(units: u32) -> Frames {
    const OBJECT: u32 = 0x2000_1000;
    let mut frames = Frames::new();
    for boot in 0..units {
        frames.boot();
        let name = format!("o{boot}\0");
        frames.frame(FWK_OBJ, &[&OBJECT.to_le_bytes(), name.as_bytes()]);
        (0..EVENTS_PER_UNIT).for_each(|_| frames.get(OBJECT));
    }
    frames
}

fn restarts(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    boots(units).save(folder, &["report"])
}

fn restarts_analyzed(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    boots(units).save(folder, &["analyze"])
}

fn losses(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    let mut frames = Frames::new();
    frames.boot();
    for _ in 0..units {
        frames.get(0x2000_1000);
        frames.get(0x2000_1000);
        frames.number = frames.number.wrapping_add(3);
    }
    frames.save(folder, &["report"])
}

fn pids(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    const TASK: u16 = shark::ids::context::FIRST + 8;
    let mut bytes = Vec::new();
    let mut tsc = 1 << 33;
    let mut record = |code: u8, par1: u16, par2: u32| {
        tsc += 1000;
        bytes.extend(Record { code_word: u16::from(code), par1, tsc, par2 }.to_bytes());
    };
    record(shark::ids::TRACE_START, shark::ids::context::FIRST, 866_500);
    for pid in 0..units {
        record(shark::ids::TASK_CREATE, TASK, 1000 + pid);
        record(shark::ids::TASK_ACTIVATE, TASK, 0);
        for _ in 0..EVENTS_PER_UNIT / 2 {
            record(shark::ids::TASK_SCHEDULE, TASK, u32::from(TASK));
            record(shark::ids::CONTEXT_SWITCH, TASK, 0);
        }
        record(shark::ids::TASK_END, TASK, 0);
    }
    let file = folder.join("trace.dat");
    std::fs::write(&file, bytes)?;
    Ok(on(&["analyze"], file))
}

/// Writes a rules file, and a trace that contains [`EVENTS_PER_UNIT`] user events for each unit.
fn check(folder: &Path, rules: String, units: u32) -> io::Result<Vec<OsString>> {
    let path = folder.join("expected.rules");
    std::fs::write(&path, rules)?;
    let mut arguments = event_ids(folder, units * EVENTS_PER_UNIT)?;
    let trace = arguments.pop().map(PathBuf::from).unwrap_or_default();
    Ok(vec!["check".into(), path.into_os_string(), trace.into_os_string()])
}

fn never(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    let rules =
        (0..units).map(|number| format!("never \"user event {}\"\n", 65_535 - number)).collect();
    check(folder, rules, units)
}

fn any_order(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    let first = u32::from(ids::USER_EVENT_START);
    let steps: String =
        (0..units).rev().map(|number| format!("  \"user event {}\"\n", first + number)).collect();
    check(folder, format!("any order {{\n{steps}}}\n"), units)
}

fn template_ids(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    let file = folder.join("many.fmt");
    std::fs::write(&file, templates::many(units))?;
    Ok(on(&["template", "check"], file))
}

fn one_template_id(folder: &Path, units: u32) -> io::Result<Vec<OsString>> {
    let file = folder.join("same.fmt");
    let stanza = |number| format!("1000 1.0 L=SVC \"service {number}\" D4\n");
    std::fs::write(&file, (0..units).map(stanza).collect::<String>())?;
    Ok(on(&["template", "check"], file))
}
