//! Tests that the fast paths in `short_ways` have the same effect as `Scheduling::event`, which
//! handles every event. The same random events go to a twin of the analysis that takes no fast
//! path.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use tracewell_wire::ByteOrder;

use super::{Expected, JobChange, Mark, Moments, Position, Recorded, Scheduling, Wait, Wanted};
use crate::model::schema::Schema;
use crate::model::{
    Batch, Clock, Columns, Context, ContextId, ContextKind, Loss, LossCause, OnBehalf,
    PayloadLayout, Priority, Processor, Rate, Records, Running, Sink, Trace,
};

/// Values of arguments: 0, which is not a key, and the keys of the contexts and of some objects.
const KEYS: [u64; 9] = [0, 0x100, 0x200, 0x300, 0x400, 0x500, 0x600, 0x700, 0x800];

/// The kinds of the contexts. Their keys are in `KEYS`, from index 1.
const KINDS: [ContextKind; 6] = [
    ContextKind::Thread,
    ContextKind::Thread,
    ContextKind::Thread,
    ContextKind::Thread,
    ContextKind::Interrupt,
    ContextKind::System,
];

/// Number of arguments of an event.
const ARGUMENTS: usize = 4;

/// A consumer that lists moments as text.
#[derive(Clone, PartialEq, Debug, Default)]
struct Listed {
    moments: Vec<String>,
    /// The ticks of priority inversion for each pair of waiting task and running task. Both
    /// analyses charge the same total time, but in different portions.
    inverted: BTreeMap<(u32, u32), u64>,
}

impl Moments for Listed {
    /// The id.
    type Facts = u32;

    fn facts(_: &Schema, id: u32) -> u32 {
        id
    }

    fn event(&mut self, event: &Recorded<'_>, id: &u32, argument: impl Fn(usize) -> Option<u64>) {
        let Recorded { at, cpu, meaning, context, thread, subject, .. } = event;
        let participants = (cpu, meaning, context, thread, subject);
        let arguments = [0, 1, 2, 3, 4].map(argument);
        assert_eq!(*id, event.id);
        self.moments.push(format!("{at:?} {id} {participants:?} {arguments:?}"));
    }

    fn preempted(&mut self, task: ContextId) {
        self.moments.push(format!("preempted {task:?}"));
    }

    fn wait_began(&mut self, wait: &Wait) {
        self.moments.push(format!("began {wait:?}"));
    }

    fn wait_ended(&mut self, wait: &Wait, at: Position) {
        self.moments.push(format!("ended {wait:?} {at:?}"));
    }

    fn inverted(&mut self, task: ContextId, runs: ContextId, ticks: u64) {
        *self.inverted.entry((task.0, runs.0)).or_default() += ticks;
    }

    fn locked(&mut self, task: ContextId, key: u64, kind: Option<u32>, at: Position) {
        self.moments.push(format!("locked {task:?} {key} {kind:?} {at:?}"));
    }

    fn unlocked(&mut self, task: ContextId, key: u64, kind: Option<u32>, at: Position) {
        self.moments.push(format!("unlocked {task:?} {key} {kind:?} {at:?}"));
    }

    fn holder_unknown(&mut self, key: u64, kind: Option<u32>, at: Position) {
        self.moments.push(format!("unknown holder {key} {kind:?} {at:?}"));
    }

    fn deleted(&mut self, task: ContextId, at: Position) {
        self.moments.push(format!("deleted {task:?} {at:?}"));
    }

    fn job(&mut self, task: ContextId, change: JobChange, at: Position) {
        self.moments.push(format!("job {task:?} {change:?} {at:?}"));
    }

    fn runs(
        &mut self,
        cpu: u16,
        before: &Running<OnBehalf>,
        now: &Running<OnBehalf>,
        idle: bool,
        at: Position,
    ) {
        self.moments.push(format!("runs {cpu} {before:?} {now:?} {idle} {at:?}"));
    }

    fn gap(&mut self, from: Position, _: Option<&Loss>) {
        self.moments.push(format!("gap {from:?}"));
    }
}

/// A random event: index of its type, elapsed ticks, context, priority, core, arguments.
pub(in crate::analysis) type AnyEvent = (usize, u64, usize, u16, u16, [(u8, u8); ARGUMENTS]);

fn any_event() -> impl Strategy<Value = AnyEvent> {
    let ticks = prop_oneof![20 => 0..20_u64, 1 => Just(u64::MAX)];
    // Two threads record most of the events, so that waits end.
    let context = prop_oneof![8 => 0..2_usize, 4 => 0..KINDS.len()];
    let cpu = prop_oneof![100 => Just(0_u16), 1 => Just(1)];
    let priority = prop_oneof![8 => 5..7_u16, 1 => Just(u16::MAX)];
    let argument = (0..KEYS.len() as u8, 0..10_u8);
    (any::<usize>(), ticks, context, priority, cpu, prop::array::uniform4(argument))
}

/// Returns the events of a batch, and a number that determines what follows the batch.
pub(in crate::analysis) fn any_batch() -> impl Strategy<Value = (Vec<AnyEvent>, u8)> {
    (prop::collection::vec(any_event(), 1..80), 0..6_u8)
}

fn trace(schema: Arc<Schema>, rate: bool) -> Trace {
    let payload = PayloadLayout::Words { order: ByteOrder::Little, bytes: 4 };
    let clock = Clock::of_64_bits(Rate::new(1_000_000, 1).filter(|_| rate));
    let mut trace = Trace::new("test", schema, payload, clock);
    trace.processor = Processor::Switches;
    for (kind, key) in KINDS.into_iter().zip(&KEYS[1..]) {
        let (key, key_text, name) = (*key, key.to_string(), key.to_string());
        trace.contexts.add(Context { key, key_text, kind, name, object: None });
    }
    trace
}

/// Returns the schema of ThreadX or of S.Ha.R.K.
pub(in crate::analysis) fn schema(is_threadx: bool) -> Arc<Schema> {
    let (text, name) = match is_threadx {
        true => (include_str!("../../../schemas/threadx.toml"), "threadx.toml"),
        false => (include_str!("../../../schemas/shark.toml"), "shark.toml"),
    };
    Arc::new(Schema::parse(text, name).unwrap())
}

/// Returns the ids of the events of a schema. Common types of events occur several times.
fn ids(schema: &Schema) -> Vec<u32> {
    let all = schema.events().map(|event| event.id);
    let has_meaning = schema.events().filter(|event| event.means.is_some());
    let often = has_meaning.flat_map(|event| {
        let means = event.means.map(|means| format!("{:?}", means.meaning));
        let is_common = means.is_some_and(|means| {
            [
                "Lock",
                "Unlock",
                "Wait",
                "Schedule",
                "Ready",
                "Blocks",
                "InterruptEnter",
                "InterruptExit",
                "Activate",
                "Release",
                "Complete",
            ]
            .contains(&means.as_str())
        });
        vec![event.id; if is_common { 30 } else { 3 }]
    });
    all.chain(often).collect()
}

/// Returns the figures of random batches, and the consumer of their moments. The fast paths are
/// taken if `short_ways` is true.
pub(in crate::analysis) fn followed<M: Moments + Default>(
    schema: &Arc<Schema>,
    wanted: &Wanted,
    rate: bool,
    batches: &[(Vec<AnyEvent>, u8)],
    short_ways: bool,
) -> (String, M) {
    let mut trace = trace(schema.clone(), rate);
    let mut scheduling = Scheduling::with_moments(wanted.clone(), M::default());
    scheduling.takes_short_ways = short_ways;
    let ids = ids(schema);
    let (mut first, mut now) = (0, 100);
    for (events, end) in batches {
        let (mut columns, mut bytes) = (Columns::default(), Vec::new());
        for (id, ticks, context, priority, cpu, arguments) in events {
            now = if *ticks == u64::MAX { now - 3 } else { now + ticks };
            columns.id.push(ids[id % ids.len()]);
            columns.ticks.push(now);
            columns.context.push(ContextId(*context as u32));
            columns.priority.push(Priority::new(*priority));
            columns.cpu.push(*cpu);
            for (key, small) in arguments {
                // An argument is a key or a small number.
                let argument = if *small < 7 { KEYS[usize::from(*key)] } else { u64::from(*small) };
                bytes.extend_from_slice(&(argument as u32).to_le_bytes());
            }
        }
        let records = Records::fixed(&bytes, 0, 4 * ARGUMENTS, 0);
        let batch = Batch { first, columns: &columns, records };
        first += events.len() as u64;
        (trace.span, trace.events) = (now, first);
        assert!(scheduling.events(&trace, &batch).is_continue());
        match end {
            0 => {
                let loss =
                    Loss { before: first, events: None, cause: LossCause::BufferFull, offset: 0 };
                assert!(scheduling.loss(&trace, &loss).is_continue());
            }
            1 => scheduling.begin(&trace, now),
            _ => {}
        }
    }
    let (figures, moments) = scheduling.finish(&trace);
    (format!("{figures:#?}"), moments)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn short_ways_have_the_effect_of_the_long_way(
        is_threadx in any::<bool>(),
        rate in any::<bool>(),
        options in 0..6_u8,
        batches in prop::collection::vec(any_batch(), 1..4),
    ) {
        let schema = schema(is_threadx);
        let expected = Expected { period: Some(20_000), deadline: Some(30_000) };
        let wanted = Wanted {
            waits: true,
            jobs: true,
            distributions: options & 1 > 0,
            holes: options & 2 > 0,
            pairs: if options == 4 { vec![(Mark::Number(7), Mark::Number(8))] } else { Vec::new() },
            expected: (options == 5).then(|| ("256".to_owned(), expected)).into_iter().collect(),
            ..Wanted::default()
        };
        let short = followed::<Listed>(&schema, &wanted, rate, &batches, true);
        let long = followed::<Listed>(&schema, &wanted, rate, &batches, false);
        prop_assert_eq!(short, long);
    }
}
