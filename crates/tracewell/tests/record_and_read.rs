//! Tests that the decoder returns the recorded events and objects, in both byte orders and both
//! widths, wrapped or not.

mod support;

use proptest::prelude::*;
use support::{EventLog, settings};
use tracewell::input::Input;
use tracewell::model::{ContextKind, LossCause, Trace as Read};
use tracewell_record::threadx::{
    Big32, Big64, Context, Little32, Little64, Object, Options, Target, Trace,
};
use tracewell_wire::threadx::{Event, context, ids, ids::class};

/// One call of the recorder.
#[derive(Clone, Debug)]
enum Call {
    Event { context: Who, id: u32, info: [u32; 4], core: u8 },
    Register { thread: u8, priority: u16 },
    Unregister { thread: u8 },
}

#[derive(Clone, Copy, Debug)]
enum Who {
    Thread { thread: u8, priority: u16, threshold: u16 },
    Interrupt { interrupted: u8 },
    Initialization,
}

fn address(thread: u8) -> u64 {
    0x2000_0000 + 0x100 * u64::from(thread)
}

const NAMES: [&[u8]; 4] = [b"alpha", b"beta", b"a name that is longer than the field", b""];

fn object(thread: u8, priority: u16) -> Object<'static> {
    let name = NAMES[usize::from(thread) % NAMES.len()];
    Object::thread(address(thread), name, priority, 0x3000_0000, 0x400)
}

fn context(who: Who, core: u8) -> Context {
    let context = match who {
        Who::Thread { thread, priority, threshold } => {
            Context::thread(address(thread), priority, threshold)
        }
        Who::Interrupt { interrupted } => Context::interrupt(address(interrupted)),
        Who::Initialization => Context::INITIALIZATION,
    };
    context.on_core(core)
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let priority = 0..1024_u16;
    let who = prop_oneof![
        4 => (0..6_u8, priority.clone(), 0..1024_u16)
            .prop_map(|(thread, priority, threshold)| Who::Thread { thread, priority, threshold }),
        2 => (0..6_u8).prop_map(|interrupted| Who::Interrupt { interrupted }),
        1 => Just(Who::Initialization),
    ];
    let call = prop_oneof![
        6 => (who, 1..=0xFFFF_u32, any::<[u32; 4]>(), 0..4_u8)
            .prop_map(|(context, id, info, core)| Call::Event { context, id, info, core }),
        1 => (0..6_u8, priority).prop_map(|(thread, priority)| Call::Register { thread, priority }),
        1 => (0..6_u8).prop_map(|thread| Call::Unregister { thread }),
    ];
    proptest::collection::vec(call, 0..120)
}

/// The last registration in a registry slot: the thread, its priority, and true if the thread is
/// alive.
type Slot = Option<(u8, u16, bool)>;

/// Makes the calls, and returns the image, the registrations of its slots, and every recorded
/// event.
fn record<T: Target>(
    calls: &[Call],
    registry: usize,
    slots: usize,
) -> (Vec<u8>, Vec<Slot>, Vec<Event>) {
    let mut memory = vec![0xA5; 96 + 64 * registry + 64 * slots];
    let mut stamp = 1000;
    let clock = move || {
        stamp += 7;
        stamp
    };
    let mut trace = Trace::<_, T>::for_target(clock);
    let options = Options { base_address: Some(0x1000_0000), ..Options::default() };
    let start = Context::INITIALIZATION;
    assert!(trace.enable(&mut memory, registry, &options, [object(0, 5)], start).is_ok());
    let running =
        |stamp| Event { context: context::INITIALIZATION, id_word: 6, stamp, ..Event::UNUSED };
    let mut events = vec![running(1007), running(1014)];
    let mut told = vec![None; registry];
    told[0] = Some((0, 5, true));
    for call in calls {
        match *call {
            Call::Event { context: who, id, info, core } => {
                let context = context(who, core);
                let info = info.map(u64::from);
                trace.insert(context, id, info, class::USER);
                events.push(expected(who, core, id, info, 1000 + 7 * (events.len() as u64 + 1)));
            }
            Call::Register { thread, priority } => {
                if let Some(slot) = trace.register(&object(thread, priority)) {
                    told[slot] = Some((thread, priority, true));
                }
            }
            Call::Unregister { thread } => {
                if let Some(slot) = trace.unregister(address(thread)) {
                    told[slot] = told[slot].map(|(thread, priority, _)| (thread, priority, false));
                }
            }
        }
    }
    (trace.disable().unwrap().to_vec(), told, events)
}

fn expected(who: Who, core: u8, id: u32, info: [u64; 4], stamp: u64) -> Event {
    let (context, priority_word) = match who {
        Who::Thread { thread, priority, threshold } => {
            let word = 0x8000_0000 | (u64::from(threshold) << 16) | u64::from(priority);
            (address(thread), word)
        }
        Who::Interrupt { interrupted } => (context::INTERRUPT, address(interrupted)),
        Who::Initialization => (context::INITIALIZATION, 0),
    };
    let id_word = (u64::from(core) << 24) | u64::from(id);
    Event { context, priority_word, id_word, stamp, info }
}

fn read(image: Vec<u8>) -> (Read, EventLog) {
    let mut kept = EventLog::default();
    let mut input = Input::from_bytes("image", image, settings(&["direction=up"])).unwrap();
    let trace = input.read(&mut kept).unwrap();
    (trace, kept)
}

fn check<T: Target>(calls: &[Call], registry: usize, slots: usize) {
    let (image, told, events) = record::<T>(calls, registry, slots);
    let (trace, kept) = read(image);
    let capacity = trace.fact("event_slots").unwrap() as usize;
    let oldest = events.len().saturating_sub(capacity);
    let layout = tracewell::format::threadx::layout(&trace);
    let found: Vec<_> =
        kept.rows.iter().map(|row| Event::read(layout, &row.record).unwrap()).collect();
    assert_eq!(found, events[oldest..]);
    let ticks: Vec<_> = kept.rows.iter().map(|row| row.ticks).collect();
    let stamps = events[oldest..].iter().map(|event| event.stamp - events[oldest].stamp);
    assert_eq!(ticks, stamps.collect::<Vec<_>>());
    assert!(kept.rows.iter().zip(&found).all(|(row, event)| row.cpu == u16::from(event.core())));
    let wrapped = kept.losses.iter().any(|loss| loss.cause == LossCause::Overwritten);
    // A ring that wrapped exactly to its start looks like a ring that has just become full. The
    // difference is visible only if the ring no longer begins with the two events that start every
    // recording.
    let begins = found.len() > 1 && found[..2].iter().all(|event| event.id() == ids::RUNNING);
    assert_eq!(wrapped, oldest > 0 && !(events.len().is_multiple_of(capacity) && begins));
    check_objects(&trace, &told);
}

fn check_objects(trace: &Read, told: &[Slot]) {
    let registered = trace.objects.iter().filter(|(_, object)| !object.record.is_empty());
    let found: Vec<_> = registered
        .map(|(_, o)| (o.key, o.priority, o.alive, o.name.clone(), o.parameters.clone()))
        .collect();
    let expected = told.iter().flatten().map(|(thread, priority, alive)| {
        let name = NAMES[usize::from(*thread) % NAMES.len()];
        let kept = name[..name.len().min(31)].to_vec();
        (address(*thread), Some(*priority), Some(*alive), kept, vec![0x3000_0000, 0x400])
    });
    assert_eq!(found, expected.collect::<Vec<_>>());
    let mut threads = trace.contexts.iter().filter(|(_, c)| c.kind == ContextKind::Thread);
    assert!(threads.all(|(_, context)| context.object.is_some()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn recorded_events_are_read_back(
        calls in calls(),
        registry in 1..40_usize,
        slots in 1..90_usize,
    ) {
        check::<Little32>(&calls, registry, slots);
        check::<Big32>(&calls, registry, slots);
        check::<Little64>(&calls, registry, slots);
        check::<Big64>(&calls, registry, slots);
    }
}
