//! Tests the analysis of state machines, messages, queues and timers, on small streams and on
//! captures. Results for captures are compared with independent results.

use std::collections::{BTreeMap, HashMap, VecDeque};

use tracewell::analysis::machines::{
    Figures, Happening, Level, Machines, Named, Sequence, Transition,
};
use tracewell::analysis::tracks::TrackBuilder;
use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Loss, Sink, SinkError, Trace};
use tracewell::report::Layout;
use tracewell::report::analyses::Section;
use tracewell::report::machines::{self, MachineFigures};
use tracewell::select::{Bound, CountsInRange, Covered, Ranged, Selection};
use tracewell_wire::rkh::Settings as Widths;

#[path = "support/rkh.rs"]
mod rkh;
mod support;

use rkh::Stream;
use support::{fixture, table};

fn analysed(mut input: Input) -> (Trace, Figures) {
    let mut machines = Machines::default();
    let trace = input.read(&mut machines).unwrap();
    let figures = machines.figures(&trace);
    (trace, figures)
}

fn capture(name: &str) -> (Trace, Figures) {
    analysed(Input::open(&fixture(&format!("rkh/{name}.bin")), Settings::default()).unwrap())
}

fn opened(stream: &Stream) -> Input {
    let settings = Settings { format: Some("rkh".to_owned()), ..Settings::default() };
    Input::from_bytes("stream", stream.bytes.clone(), settings).unwrap()
}

fn stream(stream: &Stream) -> (Trace, Figures) {
    analysed(opened(stream))
}

/// The frames of a capture: event, timestamp, arguments.
fn frames(name: &str) -> Vec<(String, u64, HashMap<String, String>)> {
    let rows = table(&fixture(&format!("rkh/{name}.frames.tsv")));
    let good = rows.into_iter().filter(|row| row["status"] == "ok");
    let frames = good.map(|row| {
        let words = row["args"].split(' ').filter_map(|word| word.split_once('='));
        let args = words.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        (row["event"].clone(), row["ts"].parse().unwrap_or(0), args)
    });
    frames.collect()
}

#[test]
fn states_and_transitions_are_those_of_the_records() {
    let (trace, figures) = capture("ahsm-a");
    let frames = frames("ahsm-a");
    let [machine] = &figures.machines[..] else { panic!("{:?}", figures.machines) };
    assert_eq!(machine.name.label(&trace), "my");
    let count = |event: &str, key: &str, value: &str| {
        let is = |(name, _, args): &&(String, u64, HashMap<String, String>)| {
            name == event && args.get(key).is_some_and(|found| found == value)
        };
        frames.iter().filter(is).count() as u64
    };
    assert_eq!(machine.states.len(), 9);
    for time in &machine.states {
        let state = time.state.label(&trace);
        assert_eq!(time.entered, count("SM_ENSTATE", "st", &state), "{state}");
        assert_eq!(time.left, count("SM_EXSTATE", "st", &state), "{state}");
    }
    let mut from: BTreeMap<String, u64> = BTreeMap::new();
    // Omit the transition into the first state. The stream contains the name of this state only
    // later, so the expected table has an address instead.
    let begins = |t: &&Transition| t.signal.is_some() || t.way.first() != Some(&t.from);
    for transition in machine.transitions.iter().filter(begins) {
        *from.entry(transition.from.label(&trace)).or_default() += transition.count;
    }
    for (state, found) in from {
        assert_eq!(found, count("SM_TRN", "sst", &state), "from {state}");
    }
    let internal = machine.transitions.iter().filter(|transition| transition.way.is_empty());
    let internal: u64 = internal.map(|transition| transition.count).sum();
    let zero = frames.iter().filter(|(name, _, args)| name == "SM_TRN" && args["tst"] == "?");
    assert_eq!(internal, zero.count() as u64);
    let outcomes: Vec<_> =
        machine.outcomes.iter().map(|o| (trace.schema.label(o.id), o.count)).collect();
    let of = |event: &str| frames.iter().filter(|(name, ..)| name == event).count() as u64;
    assert_eq!(
        outcomes,
        [
            ("SM EVT_PROC".to_owned(), of("SM_EVT_PROC")),
            ("SM EVT_NFOUND".to_owned(), of("SM_EVT_NFOUND"))
        ]
    );
}

#[test]
fn time_in_a_state_is_that_between_its_records() {
    for name in ["ahsm-a", "ahsm-b"] {
        let (trace, figures) = capture(name);
        let mut since: HashMap<String, u64> = HashMap::new();
        let mut stays: HashMap<String, Vec<u64>> = HashMap::new();
        let mask = if name == "ahsm-b" { 0xFFFF } else { u64::MAX };
        for (event, ts, args) in frames(name) {
            match event.as_str() {
                "SM_ENSTATE" => _ = since.insert(args["st"].clone(), ts),
                "SM_EXSTATE" => {
                    let Some(since) = since.remove(&args["st"]) else { continue };
                    stays
                        .entry(args["st"].clone())
                        .or_default()
                        .push(ts.wrapping_sub(since) & mask);
                }
                _ => {}
            }
        }
        for time in &figures.machines[0].states {
            let expected = stays.remove(&time.state.label(&trace)).unwrap_or_default();
            let range = time.stays;
            assert_eq!(range.count, expected.len() as u64);
            assert_eq!(range.min, expected.iter().min().copied().unwrap_or(0));
            assert_eq!(range.max, expected.iter().max().copied().unwrap_or(0));
        }
        assert!(stays.is_empty());
    }
}

#[test]
fn messages_wait_from_their_post_to_their_taking() {
    let (trace, figures) = capture("ahsm-a");
    let mut waiting: VecDeque<(String, u64)> = VecDeque::new();
    let mut waits: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (event, ts, args) in frames("ahsm-a") {
        match event.as_str() {
            "SMA_FIFO" => waiting.push_back((args["sig"].clone(), ts)),
            "SMA_GET" => {
                let at = waiting.iter().position(|(signal, _)| *signal == args["sig"]).unwrap();
                let (signal, posted) = waiting.remove(at).unwrap();
                waits.entry(signal).or_default().push(ts - posted);
            }
            _ => {}
        }
    }
    assert_eq!(figures.flows.len(), waits.len());
    for flow in &figures.flows {
        let expected = &waits[&flow.signal.label(&trace)];
        assert_eq!(flow.waiting.count, expected.len() as u64);
        assert_eq!(
            (Some(&flow.waiting.min), Some(&flow.waiting.max)),
            (expected.iter().min(), expected.iter().max())
        );
        assert!(flow.response.min > flow.waiting.min);
    }
    let first = &figures.messages[0];
    let times = [first.posted, first.taken, first.dispatched, first.done];
    // These are the times of the frames 89, 91, 92 and 100 of the capture, counted from its first
    // timestamp, 32121.
    assert_eq!(times, [792, 810, 819, 891].map(Some));
}

#[test]
fn queues_and_pools_have_the_recorded_levels() {
    let (trace, figures) = capture("ahsm-a");
    let frames = frames("ahsm-a");
    let queue =
        figures.levels.iter().find(|level| level.object.label(&trace) == "my->equeue").unwrap();
    let of_queue = |event: &&(String, u64, HashMap<String, String>)| event.0.starts_with("QUE_");
    let held: Vec<u64> = frames
        .iter()
        .filter(of_queue)
        .filter_map(|(_, _, args)| args.get("nelem")?.parse().ok())
        .collect();
    let least: Option<u64> = frames
        .iter()
        .filter(of_queue)
        .filter_map(|(_, _, args)| args.get("nmin")?.parse().ok())
        .min();
    // The first value is the size with which the queue was created.
    assert_eq!((queue.capacity, queue.most), (Some(held[0]), held[1..].iter().max().copied()));
    assert_eq!((queue.least_free, queue.least, queue.last), (least, Some(0), Some(0)));
    let puts = frames.iter().filter(|(name, ..)| name == "QUE_FIFO" || name == "QUE_LIFO").count();
    assert_eq!(queue.put, puts as u64);
    let pool =
        figures.levels.iter().find(|level| level.object.label(&trace) == "memPool1").unwrap();
    // The number of free blocks, out of eight, after each event.
    let used: Vec<u64> = frames
        .iter()
        .filter(|(name, _, args)| {
            name.starts_with("MP_") && args.get("mp").is_some_and(|mp| mp == "memPool1")
        })
        .filter_map(|(_, _, args)| Some(8 - args.get("nfree")?.parse::<u64>().ok()?))
        .collect();
    assert_eq!((pool.capacity, pool.most), (Some(8), used.iter().max().copied()));
    let samples: Vec<_> = pool.samples.iter().map(|(_, level)| *level).collect();
    let mut changes = used;
    changes.dedup();
    assert_eq!(samples, changes);
}

#[test]
fn timers_run_from_their_start_to_their_expiry() {
    let (trace, figures) = capture("ahsm-a");
    let [timer] = &figures.timers[..] else { panic!("{:?}", figures.timers) };
    assert_eq!(timer.timer.label(&trace), "capTmr");
    assert_eq!(timer.signal.unwrap().label(&trace), "SIX");
    let frames = frames("ahsm-a");
    let count = |event: &str| frames.iter().filter(|(name, ..)| name == event).count() as u64;
    let found = (timer.starts, timer.stops, timer.expiries);
    assert_eq!(found, (count("TMR_START"), count("TMR_STOP"), count("TMR_TOUT")));
    assert_eq!((timer.delay, timer.period, timer.running), (Some(2), Some(3), Some(false)));
    let started = frames.iter().find(|(name, ..)| name == "TMR_START").unwrap().1;
    let expired = frames.iter().find(|(name, ..)| name == "TMR_TOUT").unwrap().1;
    assert_eq!((timer.first.count, timer.first.max), (1, expired - started));
}

const AO: [u8; 4] = [0x10, 0, 0, 0];
const STATE: [u8; 4] = [0x20, 0, 0, 0];
const OTHER: [u8; 4] = [0x30, 0, 0, 0];

fn record(stream: &mut Stream, id: u32, stamp: u32, parts: &[&[u8]]) {
    stream.record(id, stamp, &parts.concat());
}

#[test]
fn a_timer_with_a_period_continues_after_it_expires() {
    let (timer, signal) = ([0x40, 0, 0, 0], [1]);
    for (period, between, running) in [(0, 0, false), (7, 1, true)] {
        let mut s = Stream::new(Widths::default());
        record(&mut s, 129, 10, &[&timer, &AO, &[4, 0], &[period, 0]]);
        record(&mut s, 131, 14, &[&timer, &signal, &AO]);
        record(&mut s, 131, 21, &[&timer, &signal, &AO]);
        let (_, figures) = stream(&s);
        let [timer] = &figures.timers[..] else { panic!("{:?}", figures.timers) };
        assert_eq!((timer.starts, timer.expiries, timer.first.max), (1, 2, 4));
        assert_eq!((timer.running, timer.between.count), (Some(running), between));
    }
}

#[test]
fn messages_are_received_in_the_order_of_posting() {
    let mut s = Stream::new(Widths::default());
    for (id, stamp) in [(0x43, 10), (0x43, 20), (0x44, 30)] {
        record(&mut s, id, stamp, &[&AO, &[1, 0, 0, 1]]);
    }
    for stamp in [100, 200, 300] {
        record(&mut s, 0x42, stamp, &[&AO, &[1, 0, 0, 1]]);
    }
    let (_, figures) = stream(&s);
    let taken: Vec<_> = figures.messages.iter().map(|m| (m.posted, m.taken)).collect();
    // The third message was put at the front.
    let expected = [(0, 190), (10, 290), (20, 90)].map(|(p, t)| (Some(p), Some(t)));
    assert_eq!(taken, expected);
}

#[test]
fn nothing_continues_over_a_gap() {
    let mut s = Stream::new(Widths::default());
    record(&mut s, 0x43, 10, &[&AO, &[1, 0, 0, 1]]);
    record(&mut s, 0x64, 20, &[&AO, &STATE]);
    s.number(7);
    record(&mut s, 0x42, 30, &[&AO, &[1, 0, 0, 1]]);
    record(&mut s, 0x65, 40, &[&AO, &STATE]);
    let (_, figures) = stream(&s);
    let posted: Vec<_> = figures.messages.iter().map(|m| (m.posted, m.taken)).collect();
    assert_eq!(posted, [(Some(0), None), (None, Some(20))]);
    let state = figures.machines[0].states[0];
    assert_eq!((state.entered, state.left, state.stays.count), (1, 1, 0));
}

#[test]
fn a_machine_is_listed_as_a_queue_only_if_its_queue_has_no_events() {
    let (_, figures) = capture("shared-c");
    let machines: Vec<_> = figures.machines.iter().map(|machine| machine.name).collect();
    assert!(figures.levels.iter().any(|level| level.owner.is_some_and(|o| machines.contains(&o))));
    assert!(figures.levels.iter().all(|level| !machines.contains(&level.object)));
    let mut s = Stream::new(Widths::default());
    for (stamp, id) in (10..).zip([0x43, 0x43, 0x42]) {
        record(&mut s, id, stamp, &[&AO, &[1, 0, 0, 1]]);
    }
    let (_, figures) = stream(&s);
    let found: Vec<_> = figures.levels.iter().map(|l| (l.object.key, l.put, l.taken)).collect();
    assert_eq!(found, [(0x10, 2, 1)]);
}

#[test]
fn a_state_is_unknown_from_the_last_event_before_a_gap() {
    let mut s = Stream::new(Widths::default());
    record(&mut s, 0x63, 10, &[&AO, &STATE]);
    record(&mut s, 0x69, 20, &[&AO]);
    s.number(7);
    record(&mut s, 0x69, 30, &[&AO]);
    let settings = Settings { format: Some("rkh".to_owned()), ..Settings::default() };
    let mut builder = TrackBuilder::default();
    let trace = Input::from_bytes("stream", s.bytes, settings).unwrap().read(&mut builder).unwrap();
    let tracks = builder.finish(&trace);
    let changes = tracks.machines[0].row.changes().iter();
    let found: Vec<_> = changes.map(|change| (change.at.seq, change.state)).collect();
    assert_eq!(found, [(0, Some(0)), (1, None)]);
}

#[test]
fn a_sequence_shows_a_loss_before_the_next_event() {
    let mut s = Stream::new(Widths::default());
    record(&mut s, 0x43, 10, &[&AO, &[1, 0, 0, 1]]);
    record(&mut s, 0x43, 20, &[&AO, &[1, 0, 0, 1]]);
    s.number(7);
    record(&mut s, 0x43, 30, &[&AO, &[1, 0, 0, 1]]);
    let settings = Settings { format: Some("rkh".to_owned()), ..Settings::default() };
    let mut sequence = Sequence::new(10, Selection::default());
    Input::from_bytes("stream", s.bytes, settings).unwrap().read(&mut sequence).unwrap();
    let (happened, _) = sequence.finish();
    let found: Vec<_> = happened.iter().map(|step| (step.seq, step.ticks)).collect();
    assert_eq!(found, [(0, 0), (1, 10), (2, 10), (2, 20)]);
    assert_eq!(happened[2].what, Happening::Lost(Some(5)));
}

#[test]
fn a_transition_that_a_gap_interrupts_is_not_counted() {
    let transitions = |is_cut: bool| {
        let mut s = Stream::new(Widths::default());
        record(&mut s, 0x62, 10, &[&AO, &STATE, &OTHER]);
        if is_cut {
            s.number(7);
        }
        record(&mut s, 0x63, 20, &[&AO, &OTHER]);
        let (_, figures) = stream(&s);
        figures.machines[0].transitions.len()
    };
    assert_eq!((transitions(false), transitions(true)), (1, 0));
}

#[test]
fn the_tasks_of_a_kernel_are_no_machines() {
    let path = fixture("shark").join("b_cyclic.dat");
    let (_, figures) = analysed(Input::open(&path, Settings::default()).unwrap());
    let Figures { machines, flows, levels, timers, .. } = figures;
    let listed = (machines.len(), flows.len(), levels.len(), timers.len());
    assert_eq!(listed, (0, 0, 0, 0));
}

/// A sink that computes the figures of a range.
#[derive(Default)]
struct OfRange {
    machines: Machines,
    figures: Option<Figures>,
}

impl Sink for OfRange {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.machines.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.machines.loss(trace, loss)
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.figures = Some(std::mem::take(&mut self.machines).figures(trace));
        Ok(())
    }
}

impl CountsInRange for OfRange {
    fn begin(&mut self, _: &Trace, from: u64) {
        self.machines.begin(from);
    }

    fn end(&mut self, covered: Covered) {
        self.machines.end(covered.until);
    }
}

/// Returns the counts and the sums of figures. Those of consecutive ranges add up.
fn sums(parts: &[Figures]) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    let mut add = |place: String, numbers: &[u64]| {
        for (kind, number) in numbers.iter().enumerate().filter(|(_, number)| **number > 0) {
            *all.entry(format!("{place} {kind}")).or_default() += number;
        }
    };
    let key = |name: Option<Named>| name.map(|name| name.key);
    for part in parts {
        add("messages".to_owned(), &[part.messages.len() as u64 + part.more_messages]);
        for machine in &part.machines {
            let place = format!("machine {}", machine.name.key);
            add(place.clone(), &[machine.steps, machine.step.count, machine.step.sum()]);
            for state in &machine.states {
                let stays = [state.stays.count, state.stays.sum(), state.total];
                let numbers = [&[state.entered, state.left][..], &stays].concat();
                add(format!("{place} state {}", state.state.key), &numbers);
            }
            for transition in &machine.transitions {
                let Transition { from, signal, way, to, count } = transition;
                let way: Vec<_> = way.iter().map(|vertex| vertex.key).collect();
                let route = (from.key, key(*signal), way, key(*to));
                add(format!("{place} transition {route:?}"), &[*count]);
            }
            for outcome in &machine.outcomes {
                add(format!("{place} outcome {}", outcome.id), &[outcome.count]);
            }
            for row in &machine.unhandled {
                let why = (key(row.signal), key(row.state), row.id);
                add(format!("{place} unhandled {why:?}"), &[row.count]);
            }
        }
        for flow in &part.flows {
            let route = (key(flow.sender), flow.receiver.key, flow.signal.key);
            let ranges = [flow.waiting, flow.step, flow.response].map(|range| range.sum());
            let numbers = [&[flow.posted, flow.taken, flow.step.count][..], &ranges].concat();
            add(format!("flow {route:?}"), &numbers);
        }
        for level in &part.levels {
            let numbers = [level.put, level.taken, level.refused];
            add(format!("level {:?}", (level.object.kind, level.object.key)), &numbers);
        }
        for timer in &part.timers {
            let times = [timer.first.sum(), timer.between.sum()];
            let numbers = [&[timer.starts, timer.stops, timer.expiries][..], &times].concat();
            add(format!("timer {}", timer.timer.key), &numbers);
        }
    }
    all
}

/// Returns the figures of a trace in a range.
fn of_range(mut input: Input, selection: Selection) -> Figures {
    let mut sink = Ranged::new(OfRange::default(), selection);
    input.read(&mut sink).unwrap();
    sink.into_inner().figures.unwrap()
}

#[test]
fn the_messages_of_a_range_are_those_posted_in_it() {
    let mut s = Stream::new(Widths::default());
    let [first, second] = [[1, 0, 0, 1], [2, 0, 0, 1]];
    record(&mut s, 0x43, 10, &[&AO, &first]);
    record(&mut s, 0x43, 20, &[&AO, &second]);
    record(&mut s, 0x42, 30, &[&AO, &second]);
    record(&mut s, 0x42, 40, &[&AO, &first]);
    let selection = Selection { from: Some(Bound::Ticks(5)), ..Selection::default() };
    let figures = of_range(opened(&s), selection);
    let found: Vec<_> =
        figures.messages.iter().map(|m| (m.signal.argument, m.posted, m.taken)).collect();
    assert_eq!(found, [(2, Some(10), Some(20))]);
}

#[test]
fn the_sums_of_ranges_add_up_to_those_of_the_whole_capture() {
    // A gap ends a stay in a state without a duration, but an earlier range contains a part of it.
    for name in ["ahsm-a", "ahsm-b", "shared-c", "guard-false"] {
        let input = || Input::open(&fixture(&format!("rkh/{name}.bin")), Settings::default());
        let (trace, whole) = analysed(input().unwrap());
        let expected = sums(std::slice::from_ref(&whole));
        assert!(expected.len() > 20, "{name}: {expected:?}");
        for part in 1..12 {
            let tick = trace.span * part / 12;
            let first = Selection { to: Some(Bound::Ticks(tick)), ..Selection::default() };
            let second = Selection { from: Some(Bound::Ticks(tick + 1)), ..Selection::default() };
            let parts = [first, second].map(|part| of_range(input().unwrap(), part));
            assert_eq!(sums(&parts), expected, "{name} at {tick}");
            let [first, last] = parts;
            // The state at the end does not depend on the beginning of the range.
            let states = |figures: &Figures| -> Vec<_> {
                figures.machines.iter().map(|machine| machine.state).collect()
            };
            assert_eq!(states(&last), states(&whole), "{name} at {tick}");
            let running = |figures: &Figures| -> Vec<_> {
                figures.timers.iter().map(|timer| (timer.running, timer.period)).collect()
            };
            assert_eq!(running(&last), running(&whole), "{name} at {tick}");
            for level in &whole.levels {
                let same = |other: &&Level| other.object == level.object;
                let [first, last] = [&first, &last].map(|part| part.levels.iter().find(same));
                let most = first.and_then(|part| part.most).max(last.and_then(|part| part.most));
                assert!(most <= level.most, "{name} at {tick}");
                assert!(last.is_none_or(|last| last.last == level.last), "{name} at {tick}");
            }
        }
    }
}

/// RKH 3.4 evaluates guards before it records the beginning of a step.
#[test]
fn a_message_whose_guard_was_false_is_one_message_that_is_never_taken() {
    let mut ids = Ids::default();
    let path = fixture("rkh/guard-false.bin");
    let trace = Input::open(&path, Settings::default()).unwrap().read(&mut ids).unwrap();
    let of = |label: &str| {
        let is = |id: &&u32| trace.schema.event(**id).label == label;
        ids.0.iter().filter(is).count() as u64
    };
    assert!(of("SM GRD_FALSE") > 3);
    let (trace, figures) = capture("guard-false");
    let taken: u64 = figures.flows.iter().map(|flow| flow.taken).sum();
    assert_eq!((taken, of("SMA GET")), (of("SM DCH"), of("SM DCH")));
    for flow in &figures.flows {
        assert_eq!((flow.taken, flow.step.count), (flow.posted, flow.posted), "{flow:?}");
    }
    let not_taken = figures.machines.iter().flat_map(|machine| &machine.unhandled);
    let events: Vec<_> = not_taken.map(|row| (trace.schema.label(row.id), row.count)).collect();
    assert!(events.iter().all(|(event, _)| event == "SM EVT_NFOUND"), "{events:?}");
    assert_eq!(events.iter().map(|(_, count)| count).sum::<u64>(), of("SM EVT_NFOUND"));
}

/// The ids of all events.
#[derive(Default)]
struct Ids(Vec<u32>);

impl Sink for Ids {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.0.extend(batch.events().map(|event| event.id));
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, _: &Loss) -> Flow {
        Flow::Continue(())
    }
}

#[test]
fn transitions_that_never_repeat_do_not_fill_memory() {
    let mut s = Stream::new(Widths::default());
    // The limit applies to the transitions of both machines together.
    for number in 0..20_000_u32 {
        let machine = (0x10 + number % 2).to_le_bytes();
        let [from, to] = [number, number + 1].map(|state| (0x100 + state % 150).to_le_bytes());
        let signal = (number / 150) as u8;
        record(&mut s, 0x71, number, &[&machine, &[signal], &from]);
        record(&mut s, 0x62, number, &[&machine, &from, &to]);
        record(&mut s, 0x63, number, &[&machine, &to]);
    }
    let (trace, figures) = stream(&s);
    let rows: usize = figures.machines.iter().map(|machine| machine.transitions.len()).sum();
    assert_eq!((rows, figures.more_transitions), (1 << 14, 20_000 - (1 << 14)));
    let text = machines::text(&trace, &figures, &Section::ALL, Layout::default());
    assert!(text.contains("\nand 3616 more transitions: too many different ones\n"));
    assert_eq!(MachineFigures::new(&trace, &figures).more_transitions, Some(3616));
}

#[test]
fn a_machine_that_records_only_its_end_state_stays_there_until_the_next_one() {
    let mut s = Stream::new(Widths::default());
    for (stamp, state) in [(10, STATE), (20, STATE), (35, OTHER), (65, STATE)] {
        record(&mut s, 0x63, stamp, &[&AO, &state]);
        record(&mut s, 0x69, stamp, &[&AO]);
    }
    let (trace, figures) = stream(&s);
    let times: Vec<_> =
        figures.machines[0].states.iter().map(|t| (t.entered, t.stays.count, t.total)).collect();
    assert_eq!(times, [(2, 1, 25), (1, 1, 30)]);
    assert_eq!(figures.machines[0].state.unwrap().label(&trace), "0x00000020");
}

#[test]
fn a_restarted_program_continues_with_its_machines() {
    let once = std::fs::read(fixture("rkh/ahsm-a.bin")).unwrap();
    let twice = [&once[..], &once].concat();
    let settings = Settings { format: Some("rkh".to_owned()), ..Settings::default() };
    let (trace, figures) = analysed(Input::from_bytes("stream", twice, settings).unwrap());
    assert_eq!(trace.fact("restarts"), Some(1));
    let (_, single) = capture("ahsm-a");
    let [machine] = &figures.machines[..] else { panic!("{:?}", figures.machines) };
    assert_eq!(machine.steps, 2 * single.machines[0].steps);
    assert_eq!(machine.states.len(), single.machines[0].states.len());
    assert_eq!(figures.levels.len(), single.levels.len());
    assert_eq!(figures.flows.len(), single.flows.len());
    assert_eq!(machine.name.label(&trace), "my");
}

#[test]
fn objects_of_another_program_at_the_same_addresses_are_different() {
    let mut s = Stream::new(Widths::default());
    for (machine, states) in [("motor", ["off", "on"]), ("valve", ["open", "shut"])] {
        rkh::configure(&mut s);
        s.number(0);
        // At this point, the stream does not contain the names yet.
        record(&mut s, 0x69, 1, &[&AO]);
        let symbol = |name: &str| [name.as_bytes(), &[0]].concat();
        s.record(0xAE, 2, &[&AO[..], &symbol(machine)].concat());
        for (state, name) in [STATE, OTHER].into_iter().zip(states) {
            let owner = [AO, state].concat();
            s.record(0xAF, 2, &[&owner[..], &symbol(name)].concat());
        }
        record(&mut s, 0x64, 10, &[&AO, &STATE]);
        record(&mut s, 0x65, 25, &[&AO, &STATE]);
        record(&mut s, 0x64, 25, &[&AO, &OTHER]);
    }
    let (trace, figures) = stream(&s);
    let found: Vec<_> = figures
        .machines
        .iter()
        .map(|machine| {
            let states = machine.states.iter();
            let states = states.map(|time| (time.state.label(&trace), time.stays.count));
            (machine.name.label(&trace), states.collect::<Vec<_>>())
        })
        .collect();
    let state = |name: &str, stays| (name.to_owned(), stays);
    let expected = [
        ("motor".to_owned(), vec![state("off", 1), state("on", 0)]),
        ("valve".to_owned(), vec![state("open", 1), state("shut", 0)]),
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_text_names_queues_and_timers_after_whom_they_serve() {
    let (trace, figures) = capture("shared-c");
    let text = machines::text(&trace, &figures, &Section::ALL, Layout::default());
    for line in [
        "state machine server, in server_busy at the end; 50 steps begun, 51 ended (51 SM EVT_PROC)",
        "server_idle    REQ    server_busy       16",
        "server_busy    REQ    (internal)        16",
        "PAUSE      client_waiting  SM EVT_NFOUND      2",
        "server's queue      8   50     50        0     0      0     1          7",
        "cli0's timer TOUT_REQ    cli0  TOUT_REQ         4      0         4  once         5640.000",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    let json = serde_json::to_value(MachineFigures::new(&trace, &figures)).unwrap();
    assert_eq!(json["machines"].as_array().map(Vec::len), Some(5));
    assert_eq!(json["flows"][0]["sender"], "l_isr_tick");
    assert_eq!(json["levels"][0]["least_free"], 12);
}

/// A ThreadX trace contains enough data about queues and pools to fill the same table.
#[test]
fn queues_of_other_systems_are_in_the_same_table() {
    let settings = Settings::default();
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scheduling.trx");
    let (trace, figures) = analysed(Input::open(&path, settings).unwrap());
    let [queue] = &figures.levels[..] else { panic!("{:?}", figures.levels) };
    assert_eq!((queue.object.label(&trace).as_str(), queue.put, queue.taken), ("samples", 29, 29));
    assert_eq!(figures.timers[0].period, Some(5));
    assert!(figures.machines.is_empty() && figures.flows.is_empty());
}

#[test]
fn a_queue_has_its_registered_capacity() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let input = Input::open(&path.join("scheduling.trx"), Settings::default()).unwrap();
    let (trace, figures) = analysed(input);
    let [queue] = figures.levels.as_slice() else { panic!("{:?}", figures.levels) };
    // The queue has 64 bytes, and a message has 4 words.
    assert_eq!((queue.object.label(&trace).as_str(), queue.capacity), ("samples", Some(4)));
}
