//! Makes random calls to the AIX recorder and to a slow model of it. A reader must find the same
//! entries in the buffers as in the model.

#[allow(unreachable_pub)]
mod aix_reference;
mod aix_support;

use aix_reference::{Item, Reference, Waiting};
use aix_support::{Event, drain};
use proptest::prelude::*;
use tracewell_record::aix::{
    Chunk, Context, DISCARDBUFS, EventList, LogFull, Machine, Mode, Options, Outcome, Trace,
};
use tracewell_record::clock::{Clock, Masked};
use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{Env, HookId, HookType, HookWord, HookWord32, HookWord64};

const EXCLUDED: HookId = HookId::short(0xEEE);

#[derive(Clone, Debug)]
enum Operation {
    Plain32 {
        hook_type: HookType,
        words: [u32; 5],
    },
    Plain64 {
        count: u16,
        words: [u64; 5],
    },
    Generic {
        env: Env,
        word: u64,
        data: Vec<u8>,
    },
    /// A hook word that is invalid for a plain entry.
    Refused,
    Excluded,
    On,
    Off,
    Drain,
    Stop,
    Discard,
}

fn operation() -> impl Strategy<Value = Operation> {
    let types = [HookType::Trchk, HookType::Trchklt, HookType::Trchkg, HookType::Trchkgt];
    let env = prop_oneof![Just(Env::Bits32), Just(Env::Bits64)];
    let data = prop_oneof![
        6 => prop::collection::vec(any::<u8>(), 0..90),
        1 => prop::collection::vec(any::<u8>(), 300..1400),
    ];
    prop_oneof![
        80 => (prop::sample::select(types.to_vec()), any::<[u32; 5]>())
            .prop_map(|(hook_type, words)| Operation::Plain32 { hook_type, words }),
        80 => (0_u16..=5, any::<[u64; 5]>())
            .prop_map(|(count, words)| Operation::Plain64 { count, words }),
        60 => (env, any::<u64>(), data)
            .prop_map(|(env, word, data)| Operation::Generic { env, word, data }),
        4 => Just(Operation::Refused),
        4 => Just(Operation::Excluded),
        8 => Just(Operation::On),
        4 => Just(Operation::Off),
        60 => Just(Operation::Drain),
        1 => Just(Operation::Stop),
        1 => Just(Operation::Discard),
    ]
}

/// Returns a clock that returns each tick three times, so that timestamps repeat.
fn slow_clock() -> impl Clock {
    let mut readings = 0;
    let clock = move || {
        readings += 1;
        tick_of(readings)
    };
    Masked { clock, mask: u64::MAX }
}

fn tick_of(reading: u64) -> u64 {
    0xFFFF_FFF0 + reading / 3
}

fn item_of(event: Event) -> Item {
    Item {
        tick: event.head.tick,
        cpu: event.head.cpu,
        env: event.head.env,
        id: event.id.to_string(),
        words: event.words,
        data: event.generic.then_some(event.data),
    }
}

fn items_of(order: ByteOrder, bytes: &[u8]) -> Vec<Item> {
    aix_support::events(order, bytes).into_iter().map(item_of).collect()
}

/// The recorder and its model.
struct Both<'m, C> {
    trace: Trace<'m, C>,
    reference: Reference,
    order: ByteOrder,
    readings: u64,
    calls: u16,
}

impl<C: Clock> Both<'_, C> {
    /// Counts a reading of the clock and returns its tick.
    fn tick(&mut self) -> u64 {
        self.readings += 1;
        tick_of(self.readings)
    }

    /// Applies a recording call to the model. Returns the outcome that the recorder must return.
    fn expected(&mut self, env: Env, words: &[u64], data: Option<&[u8]>, cpu: u16) -> Outcome {
        if !self.reference.on {
            return Outcome::Off;
        }
        let (words, data) = (words.to_vec(), data.map(<[u8]>::to_vec));
        let tick = self.tick();
        self.reference.put(Item { tick, cpu, env, id: "100".to_owned(), words, data })
    }

    fn switch(&mut self, context: Context, on: bool) {
        let switched = match on {
            true => self.trace.trcon(context, 0),
            false => self.trace.trcoff(context, 0),
        };
        assert_eq!(switched.is_err(), self.reference.stopped);
        if !self.reference.stopped && self.reference.on != on {
            let tick = self.tick();
            self.reference.switch(on, tick, context.cpu);
        }
    }

    fn stop(&mut self, context: Context, flags: u32) {
        self.trace.trcstop(context, flags).unwrap();
        if !self.reference.stopped {
            let tick = self.tick();
            self.reference.close(tick, context.cpu);
        }
        if flags == DISCARDBUFS {
            let discarded =
                self.reference.waiting.drain(..).map(|waiting| waiting.items.len() as u64);
            self.reference.counts.discarded += discarded.sum::<u64>();
        }
    }

    /// Drains one buffer, or all parts of a ring.
    fn drain(&mut self) {
        let expected = self.reference.waiting.first().cloned();
        if self.reference.mode == Mode::Circular {
            let mut events = Vec::new();
            drain(&mut self.trace, 0, &mut events);
            let items: Vec<_> = events.into_iter().map(item_of).collect();
            assert_eq!(items, expected.unwrap_or_default().items);
        } else {
            assert_eq!(self.trace.drained(0), expected.is_some());
        }
        if !self.reference.waiting.is_empty() {
            self.reference.waiting.remove(0);
        }
    }

    fn act(&mut self, operation: &Operation) {
        self.calls += 1;
        let context = Context { cpu: self.calls, tid: None, pid: Some(7) };
        let id = HookId::short(0x100);
        match operation {
            Operation::Plain32 { hook_type, words } => {
                let hook = HookWord32::new(id, *hook_type, 9);
                let found = self.trace.trchook(context, hook, *words);
                let words = &words.map(u64::from)[..hook_type.words()];
                assert_eq!(found, self.expected(Env::Bits32, words, None, context.cpu));
            }
            Operation::Plain64 { count, words } => {
                let hook = HookWord64::plain(id, 9, *count);
                let found = self.trace.trchook64(context, hook, *words);
                let words = &words[..usize::from(*count)];
                assert_eq!(found, self.expected(Env::Bits64, words, None, context.cpu));
            }
            Operation::Generic { env, word, data } => {
                let (hook, seen): (HookWord, _) = match env {
                    Env::Bits32 => (HookWord32(0x1000_0000).into(), word & 0xFFFF_FFFF),
                    Env::Bits64 => (HookWord64::generic(id, 9).into(), *word),
                };
                let found = self.trace.trcgen(context, 0, hook, *word, data);
                assert_eq!(found, self.expected(*env, &[seen], Some(data), context.cpu));
            }
            Operation::Refused => {
                let found = self.trace.trchook(context, HookWord32(0x1003_0000), [0; 5]);
                assert_eq!(matches!(found, Outcome::Refused(_)), self.reference.on);
                self.readings += u64::from(self.reference.on);
            }
            Operation::Excluded => {
                let hook = HookWord32::new(EXCLUDED, HookType::Trchk, 0);
                let found = self.trace.trchook(context, hook, [0; 5]);
                let expected = if self.reference.on { Outcome::Excluded } else { Outcome::Off };
                assert_eq!(found, expected);
            }
            Operation::On => self.switch(context, true),
            Operation::Off => self.switch(context, false),
            Operation::Drain => self.drain(),
            Operation::Stop => self.stop(context, 0),
            Operation::Discard => self.stop(context, DISCARDBUFS),
        }
    }

    fn compare(&self) {
        assert_eq!(self.trace.is_on(0), self.reference.on);
        assert_eq!(self.trace.counts(0).unwrap(), self.reference.counts);
        let found = self.trace.waiting(0).map(|Chunk { bytes, starts_over }| Waiting {
            items: items_of(self.order, bytes),
            starts_over,
        });
        let expected = self.reference.waiting.first();
        match self.reference.mode {
            // A ring is drained in parts. Join them.
            Mode::Circular => assert_eq!(found.is_some(), expected.is_some()),
            _ => assert_eq!(found.as_ref(), expected),
        }
    }
}

fn agrees_with_the_reference(
    machine: Machine<'_>,
    memory: usize,
    options: Options<'_>,
    calls: &[Operation],
) {
    let mut memory = vec![0xEE; memory];
    let mut trace = Trace::new(slow_clock(), machine);
    let front = Reference::front(options.mode);
    let parts = if options.mode == Mode::Alternate { 2 } else { 1 };
    let capacity = memory.len() / parts / 8 * 8 - front;
    let context = Context { cpu: 0, tid: None, pid: Some(7) };
    if trace.trcstart(context, &mut memory, options).is_err() {
        return;
    }
    let header = trace.header(0).unwrap();
    let mut reference = Reference::new(options.mode, machine.env, capacity, header.length());
    reference.log_size = options.log_size.map(|size| size as usize);
    reference.log_full = options.log_full;
    let order = machine.order;
    let mut both = Both { trace, reference, order, readings: 0, calls: 0 };
    both.start(options);
    both.compare();
    for operation in calls {
        both.act(operation);
        both.compare();
    }
    both.stop(context, 0);
    while !both.reference.waiting.is_empty() {
        both.compare();
        both.drain();
    }
    assert!(both.trace.finish(0).is_ok());
}

impl<C> Both<'_, C> {
    /// Adds the first entries to the model: the heading, the time conversion, and TRACE ON unless
    /// the start is deferred.
    fn start(&mut self, options: Options<'_>) {
        self.readings = 1;
        let (tick, env) = (tick_of(1), self.reference.env);
        let texts = [b"\0\0\0\0\0", mode_text(options.mode), b"\0"].concat();
        let number = |number: u64| number.to_be_bytes();
        let conversion = [number(1), number(1), number(2)].concat();
        for (id, word, data) in [("003", 0, texts), ("00A", 0x25C, conversion)] {
            let (id, words, data) = (id.to_owned(), vec![word], Some(data));
            self.reference.put(Item { tick, cpu: 0, env, id, words, data });
        }
        if !options.deferred {
            self.reference.switch(true, tick, 0);
        }
    }
}

fn mode_text(mode: Mode) -> &'static [u8] {
    match mode {
        Mode::Alternate => b"alternate",
        Mode::Circular => b"circular",
        Mode::Single => b"single",
    }
}

fn options() -> impl Strategy<Value = Options<'static>> {
    let mode = prop_oneof![Just(Mode::Alternate), Just(Mode::Circular), Just(Mode::Single)];
    let log_size = prop::option::of(1000_u64..6000);
    let log_full = prop_oneof![Just(LogFull::Wrap), Just(LogFull::Stop)];
    (mode, log_size, log_full, any::<bool>()).prop_map(|(mode, log_size, log_full, deferred)| {
        let events = EventList::Except(&[EXCLUDED]);
        Options { mode, log_size, log_full, deferred, events, ..Options::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_buffers_hold_the_records_of_the_reference(
        little: bool,
        narrow: bool,
        memory in 400_usize..3000,
        options in options(),
        calls in prop::collection::vec(operation(), 0..150),
    ) {
        let order = if little { ByteOrder::Little } else { ByteOrder::Big };
        let env = if narrow { Env::Bits32 } else { Env::Bits64 };
        let machine = Machine { order, env, ..Machine::default() };
        agrees_with_the_reference(machine, memory, options, &calls);
    }
}
