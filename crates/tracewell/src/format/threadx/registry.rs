//! Reads objects, threads and their names from the registry.
//!
//! The slot of a deleted object keeps the object's name, and the object's events still need this
//! name. So this module reads every slot that was ever used. The creations and deletions in the
//! trace determine to which object an address refers at a given time ([`Lifetimes`]).

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;
use tracewell_wire::threadx::{RegistrySlot, context, ids};

use super::image::Image;
use crate::model::{
    Context, ContextId, ContextKind, Diagnostics, Lifetime, Lifetimes, Object, ObjectId, Severity,
    SymbolTable, Trace,
};
use crate::text::shown;

/// Type code of threads.
const THREAD: u32 = ids::object::THREAD as u32;

/// The fields that are equal in all slots of the same object.
type Identity = (u64, u32, Vec<u8>, [u64; 2]);

/// The objects and threads in the dumps of one run.
#[derive(Debug, Default)]
pub(super) struct Registry {
    /// The objects of the previous dump, if another dump may follow.
    objects: HashMap<Identity, VecDeque<ObjectId>, RandomState>,
    /// The context of each thread, by address, name and stack.
    threads: HashMap<(u64, String, Vec<u64>), ContextId, RandomState>,
}

/// A slot of the event buffer at which an address changes its meaning: after this slot, the address
/// refers to a different thread, or to no known thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ThreadBinding {
    pub(super) slot: usize,
    pub(super) key: u64,
    pub(super) context: Option<ContextId>,
}

impl Registry {
    /// Reads the registry of an image. An object that is also in the previous dump is treated as
    /// the same object. `more` is true if another dump may follow.
    pub(super) fn read(
        &mut self,
        image: &Image,
        (bytes, offset, more): (&[u8], u64, bool),
        trace: &mut Trace,
    ) -> Vec<ObjectId> {
        let size = image.layout.registry_slot_size();
        let registry = bytes.get(image.registry..).unwrap_or_default();
        let slots = registry.chunks_exact(size).take(image.registry_slots);
        let whole = slots.len();
        let mut before = std::mem::take(&mut self.objects);
        let mut objects = Vec::new();
        for bytes in slots {
            let Some(slot) = RegistrySlot::read(image.layout, bytes) else { continue };
            if slot.object_type == ids::object::NOT_VALID {
                continue;
            }
            let identity = (more || !before.is_empty()).then(|| identity(&slot));
            // Several slots may be equal, but each must match a different object of the previous
            // dump.
            let known =
                identity.as_ref().and_then(|identity| before.get_mut(identity)?.pop_front());
            let object = object(&slot, bytes, trace);
            let id = match known {
                Some(id) => {
                    trace.objects.recorded_again(id, object.alive, object.record);
                    id
                }
                None => trace.objects.add_unnamed(object),
            };
            if let Some(identity) = identity.filter(|_| more) {
                self.objects.entry(identity).or_default().push_back(id);
            }
            objects.push(id);
        }
        if whole < image.registry_slots {
            let end = offset + (image.registry + whole * size) as u64;
            truncated(&mut trace.diagnostics, end, image.registry_slots, whole);
        }
        objects
    }

    /// Determines to which object each address refers at each time, from the creations and
    /// deletions in a dump. `ticks` is the time of the dump's first event. Returns, in order of
    /// time, the slots at which addresses begin to refer to other threads.
    pub(super) fn settle(
        &mut self,
        trace: &mut Trace,
        named: &[ObjectId],
        lifetimes: Lifetimes,
        ticks: u64,
    ) -> Vec<ThreadBinding> {
        for id in named {
            self.thread_of(trace, *id);
        }
        let digits = trace.payload.digits();
        let symbols = trace.symbols.clone();
        let unnamed = |key| unnamed(symbols.as_deref(), digits, "thread", key);
        let schema = trace.schema.clone();
        let bindings =
            lifetimes.settle(&schema, &mut trace.objects, named, (ticks, (THREAD, &unnamed)));
        let mut threads = Vec::new();
        for binding in bindings
            .into_iter()
            .filter(|binding| binding.kind == THREAD && !is_special(binding.key))
        {
            let context = binding.object.and_then(|id| self.thread_of(trace, id));
            match binding.place {
                None => trace.contexts.bind(binding.key, context),
                Some(slot) => threads.push(ThreadBinding { slot, key: binding.key, context }),
            }
        }
        // Before the first thread is created at an address, the address refers to no thread.
        for ThreadBinding { key, .. } in threads.iter().rev() {
            let before = trace.objects.at(*key, ticks, Some(THREAD)).map(|(id, _)| id);
            let context = before.and_then(|id| self.thread_of(trace, id));
            trace.contexts.bind(*key, context);
        }
        threads
    }

    /// Returns the context of a thread. Threads with the same address, name and stack count as the
    /// same thread.
    fn thread_of(&mut self, trace: &mut Trace, id: ObjectId) -> Option<ContextId> {
        let object = trace.objects.get(id)?;
        if object.kind != THREAD || is_special(object.key) {
            return None;
        }
        let (key, name) = (object.key, object.label.clone());
        let thread = (key, name.clone(), object.parameters.clone());
        if let Some(known) = self.threads.get(&thread) {
            return Some(*known);
        }
        let key_text = key_text(trace.payload.digits(), key);
        let kind = ContextKind::Thread;
        let context = Context { key, key_text, kind, name, object: Some(id) };
        let context = trace.contexts.replace(context);
        self.threads.insert(thread, context);
        Some(context)
    }

    /// Returns the context that the first word of an event names. If the registry does not contain
    /// this context, adds the context. For a thread, also adds an object.
    #[cold]
    pub(super) fn context(&mut self, trace: &mut Trace, key: u64) -> ContextId {
        if let Some(known) = trace.contexts.find(key) {
            return known;
        }
        let digits = trace.payload.digits();
        let (kind, name) = match key {
            context::INTERRUPT => (ContextKind::Interrupt, "Interrupt".to_owned()),
            context::INITIALIZATION => (ContextKind::Initialization, "Initialization".to_owned()),
            _ => (ContextKind::Thread, unnamed(trace.symbols.as_deref(), digits, "thread", key)),
        };
        let object = (kind == ContextKind::Thread).then(|| {
            trace.objects.add(Object {
                key,
                kind: THREAD,
                name: Vec::new(),
                label: name.clone(),
                parameters: Vec::new(),
                priority: None,
                alive: None,
                lifetime: Lifetime::default(),
                record: Vec::new(),
            })
        });
        let key_text = key_text(digits, key);
        let thread = (key, name.clone(), Vec::new());
        let id = trace.contexts.add(Context { key, key_text, kind, name, object });
        // A later dump can contain the same thread, which then keeps its context.
        if kind == ContextKind::Thread {
            self.threads.insert(thread, id);
        }
        id
    }
}

fn truncated(diagnostics: &mut Diagnostics, offset: u64, expected: usize, found: usize) {
    let message = format!(
        "the input ends inside the object registry: expected {expected} slots, found {found}"
    );
    diagnostics.add(Severity::Damage, offset, message);
}

fn is_special(key: u64) -> bool {
    [context::UNUSED, context::INTERRUPT, context::INITIALIZATION].contains(&key)
}

fn identity(slot: &RegistrySlot<'_>) -> Identity {
    let parameters = [slot.parameter1, slot.parameter2];
    (slot.pointer, u32::from(slot.object_type), slot.name.to_vec(), parameters)
}

fn object(slot: &RegistrySlot<'_>, record: &[u8], trace: &Trace) -> Object {
    let kind = u32::from(slot.object_type);
    Object {
        key: slot.pointer,
        kind,
        name: slot.name.to_vec(),
        label: label(slot, trace),
        parameters: vec![slot.parameter1, slot.parameter2],
        priority: if kind == THREAD { slot.priority() } else { None },
        alive: Some(slot.available == 0),
        lifetime: Lifetime::default(),
        record: record.to_vec(),
    }
}

fn label(slot: &RegistrySlot<'_>, trace: &Trace) -> String {
    if !slot.name.is_empty() {
        return shown(slot.name).into_owned();
    }
    let noun =
        trace.schema.object_kind(u32::from(slot.object_type)).map(|kind| kind.label.as_str());
    let noun = noun.unwrap_or("object");
    unnamed(trace.symbols.as_deref(), trace.payload.digits(), noun, slot.pointer)
}

/// Returns the name for an object without a recorded name: the object's symbol, or its kind and
/// address.
fn unnamed(symbols: Option<&SymbolTable>, digits: usize, noun: &str, key: u64) -> String {
    match symbols.and_then(|symbols| symbols.find_in(key, digits)) {
        Some(symbol) => symbol.to_string(),
        None => format!("{noun} {}", key_text(digits, key)),
    }
}

fn key_text(digits: usize, key: u64) -> String {
    format!("0x{key:0digits$X}")
}
