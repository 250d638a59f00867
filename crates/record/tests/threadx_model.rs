//! Applies random operations to the recorder and to a simple model of it. The decoded image must
//! match the model.
//!
//! The model never wraps: it stores every event since tracing was enabled, and drops the oldest
//! events only for the comparison. Its registry lists all slots in search order, then chooses one.

mod support;

use proptest::prelude::*;
use support::{Image, MAIN, Slot, enable, main_thread, size_for};
use tracewell_record::clock::Clock;
use tracewell_record::threadx::{
    Big32, Big64, Context, Info, Little32, Little64, Object, Target, Trace,
};
use tracewell_wire::threadx::ids::{self, class};
use tracewell_wire::threadx::{Event, Width};

#[derive(Clone, Debug)]
enum Operation {
    Insert {
        class: u32,
        id: u32,
        info: [u64; 4],
        core: u8,
    },
    /// Patches information 2 of the event that was recorded `ago` events earlier, if there is one.
    Patch {
        ago: usize,
        value: u64,
    },
    Filter(u32),
    Unfilter(u32),
    Register {
        kind: u8,
        pointer: u64,
    },
    Unregister {
        pointer: u64,
    },
    Restart,
}

fn operation() -> impl Strategy<Value = Operation> {
    let class = prop_oneof![Just(class::INTERNAL), Just(class::MUTEX), Just(class::USER)];
    // There are few addresses, so objects are registered repeatedly. Address 0 and type 0 are
    // allowed.
    let pointer = prop_oneof![0_u64..9, Just(0x1_0000_0003)];
    let insert = (class.clone(), any::<u32>(), any::<[u64; 4]>(), any::<u8>());
    prop_oneof![
        8 => insert.prop_map(|(class, id, info, core)| Operation::Insert { class, id, info, core }),
        3 => (0_usize..12, any::<u64>()).prop_map(|(ago, value)| Operation::Patch { ago, value }),
        1 => class.clone().prop_map(Operation::Filter),
        2 => class.prop_map(Operation::Unfilter),
        5 => (0_u8..9, pointer.clone())
            .prop_map(|(kind, pointer)| Operation::Register { kind, pointer }),
        4 => pointer.prop_map(|pointer| Operation::Unregister { pointer }),
        1 => Just(Operation::Restart),
    ]
}

/// Three consecutive readings return the same tick, so timestamps repeat.
struct SlowClock(u64);

impl Clock for SlowClock {
    fn ticks(&mut self) -> u64 {
        self.0 += 1;
        0xFFFF_FFF0 + self.0 / 3
    }
}

struct Model {
    width: Width,
    clock: SlowClock,
    enabled: u32,
    ring_slots: usize,
    events: Vec<Event>,
    registry: Vec<Slot>,
    count: usize,
    start: usize,
}

impl Model {
    fn new(width: Width, registry_slots: usize, ring_slots: usize) -> Self {
        let clock = SlowClock(0);
        let (events, registry) = (Vec::new(), Vec::new());
        let (count, start) = (registry_slots, 0);
        let mut model =
            Self { width, clock, enabled: 0, ring_slots, events, registry, count, start };
        model.restart(registry_slots);
        model
    }

    fn restart(&mut self, registry_slots: usize) {
        self.enabled = u32::MAX;
        self.events.clear();
        let unused = Slot {
            available: true,
            kind: 0,
            pointer: 0,
            parameters: [0; 2],
            priority: None,
            name: Vec::new(),
        };
        self.registry = vec![unused; registry_slots];
        (self.count, self.start) = (registry_slots, 0);
        for _ in 0..2 {
            self.insert(main_thread_words(), u64::from(ids::RUNNING), [0; 4], class::INTERNAL);
        }
    }

    fn cut(&self, value: u64) -> u64 {
        value & self.width.max()
    }

    fn insert(&mut self, words: [u64; 2], id_word: u64, info: [u64; 4], class: u32) {
        if self.enabled & class != 0 {
            let [context, priority_word] = words;
            let stamp = self.clock.ticks() & self.width.max();
            let info = info.map(|value| self.cut(value));
            self.events.push(Event { context, priority_word, id_word, stamp, info });
        }
    }

    fn patch(&mut self, index: usize, value: u64) {
        let stamp = self.events[index].stamp;
        let value = self.cut(value);
        let same_slot = self.events.iter_mut().skip(index).step_by(self.ring_slots);
        let newest = same_slot.last().expect("at least the event itself");
        if newest.stamp == stamp {
            newest.info[1] = value;
        }
    }

    fn choose(&self, pointer: u64) -> Option<usize> {
        let round = || (self.start..self.registry.len()).chain(0..self.start);
        let stops = |&at: &usize| [0, pointer].contains(&self.registry[at].pointer);
        let available = || round().filter(|&at| self.registry[at].available);
        let untyped = || available().find(|&at| self.registry[at].kind == 0);
        round().find(stops).or_else(untyped).or_else(|| available().next_back())
    }

    fn register(&mut self, kind: u8, pointer: u64) -> Option<usize> {
        let pointer = self.cut(pointer);
        let at = (self.count > 0).then(|| self.choose(pointer))??;
        self.count -= 1;
        self.start = (at + 1) % self.registry.len();
        let priority = (kind == 1).then_some(pointer as u16);
        let name = format!("object {pointer:x}").into_bytes();
        let parameters = [pointer + 1, pointer + 2];
        self.registry[at] = Slot { available: false, kind, pointer, parameters, priority, name };
        Some(at)
    }

    fn unregister(&mut self, pointer: u64) -> Option<usize> {
        let pointer = self.cut(pointer);
        let at = self.registry.iter().position(|slot| slot.pointer == pointer)?;
        self.registry[at].available = true;
        self.count += 1;
        self.start = at;
        Some(at)
    }

    fn newest_events(&self) -> &[Event] {
        &self.events[self.events.len().saturating_sub(self.ring_slots)..]
    }
}

fn main_thread_words() -> [u64; 2] {
    [MAIN, 0x8008_0008]
}

/// Performs each operation on the recorder and the model, and compares the two after each
/// operation.
fn recorder_agrees_with_model<T: Target>(
    registry_slots: usize,
    ring_slots: usize,
    operations: &[Operation],
) {
    let mut memory = vec![0; size_for::<T>(registry_slots, ring_slots)];
    let mut model = Model::new(T::WIDTH, registry_slots, ring_slots);
    let mut trace = Trace::<_, T>::for_target(SlowClock(0));
    enable(&mut trace, &mut memory, registry_slots);
    // The recorder's entry for each event of the model. `enable` returns no entries for the two
    // RUNNING events.
    let mut entries = vec![None, None];
    for operation in operations {
        match *operation {
            Operation::Insert { class, id, info, core } => {
                let context = main_thread().on_core(core);
                let id_word = u64::from(id) | u64::from(core) << 24;
                model.insert(main_thread_words(), id_word, info, class);
                entries.extend(trace.insert(context, id, info, class).map(Some));
                assert_eq!(entries.len(), model.events.len());
            }
            Operation::Patch { ago, value } => {
                let index = entries.len().checked_sub(ago + 1);
                if let Some((index, entry)) = index.and_then(|at| Some((at, entries[at]?))) {
                    model.patch(index, value);
                    trace.patch(entry, Info::Two, value);
                }
            }
            Operation::Filter(classes) => {
                model.enabled &= !classes;
                trace.event_filter(classes);
            }
            Operation::Unfilter(classes) => {
                model.enabled |= classes;
                trace.event_unfilter(classes);
            }
            Operation::Register { kind, pointer } => {
                let seen = pointer & T::WIDTH.max();
                let name = format!("object {seen:x}");
                let object = Object::new(kind, pointer, name.as_bytes(), [seen + 1, seen + 2]);
                let object = Object { priority: seen as u16, ..object };
                assert_eq!(trace.register(&object), model.register(kind, pointer));
            }
            Operation::Unregister { pointer } => {
                assert_eq!(trace.unregister(pointer), model.unregister(pointer));
            }
            Operation::Restart => {
                let memory = trace.disable().unwrap();
                memory.fill(0);
                enable(&mut trace, memory, registry_slots);
                model.restart(registry_slots);
                entries = vec![None, None];
            }
        }
        let image = Image::read(trace.image());
        assert_eq!(image.events(), model.newest_events());
        assert_eq!(image.slots(), model.registry);
        assert_eq!(image.current(), model.events.len() % ring_slots);
    }
}

proptest! {
    #[test]
    fn the_image_holds_the_events_and_objects_of_the_model(
        registry_slots in 0_usize..7,
        ring_slots in 1_usize..9,
        operations in prop::collection::vec(operation(), 0..80),
    ) {
        recorder_agrees_with_model::<Little32>(registry_slots, ring_slots, &operations);
        recorder_agrees_with_model::<Big32>(registry_slots, ring_slots, &operations);
        recorder_agrees_with_model::<Little64>(registry_slots, ring_slots, &operations);
        recorder_agrees_with_model::<Big64>(registry_slots, ring_slots, &operations);
    }

    #[test]
    fn any_size_of_memory_gives_an_image_that_fits_or_is_refused(
        size in 0_usize..700,
        registry_slots in 0_usize..6,
        events in 0_u64..20,
    ) {
        let mut memory = vec![0xEE; size];
        let mut trace = Trace::<_, Little32>::for_target(SlowClock(0));
        let options = Default::default();
        let enabled =
            trace.enable(&mut memory, registry_slots, &options, [], Context::INITIALIZATION);
        let fits = size >= size_for::<Little32>(registry_slots, 1);
        prop_assert_eq!(enabled.is_ok(), fits);
        if fits {
            for count in 0..events {
                trace.user_event(main_thread(), 4096, [count; 4]).unwrap();
            }
            let slots = (size - size_for::<Little32>(registry_slots, 0)) / 32;
            let image = Image::read(trace.image());
            prop_assert_eq!(image.event_slots().len(), slots);
            prop_assert_eq!(image.events().len(), slots.min(events as usize + 2));
        }
    }
}

#[test]
fn a_ring_of_four_before_at_and_after_its_first_wrap() {
    for events in [1, 2, 3, 4, 5, 6, 7] {
        let insert = |id| Operation::Insert { class: class::USER, id, info: [7; 4], core: 0 };
        let operations: Vec<_> = (4096..4096 + events).map(insert).collect();
        recorder_agrees_with_model::<Big32>(1, 4, &operations);
    }
}
