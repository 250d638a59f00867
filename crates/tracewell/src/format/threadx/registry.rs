//! Objects, threads and their names from the registry.
//!
//! Slots whose object was deleted keep its data, so that older events can still be named: every
//! slot that was ever used counts.

use tracewell_wire::threadx::{RegistrySlot, context, ids};

use super::image::Image;
use crate::model::{
    Context, ContextId, ContextKind, Diagnostics, Lifetime, Object, ObjectId, Severity, Trace,
};
use crate::text::shown;

/// Reads the registry of an image into the trace, with a context for each thread.
pub(super) fn read(image: &Image, bytes: &[u8], offset: u64, trace: &mut Trace) {
    let size = image.layout.registry_slot_size();
    let registry = bytes.get(image.registry..).unwrap_or_default();
    let slots = registry.chunks_exact(size).take(image.registry_slots);
    let whole = slots.len();
    for bytes in slots {
        if let Some(slot) = RegistrySlot::read(image.layout, bytes)
            && slot.object_type != ids::object::NOT_VALID
        {
            add(image, &slot, bytes, trace);
        }
    }
    if whole < image.registry_slots {
        let end = offset + (image.registry + whole * size) as u64;
        truncated(&mut trace.diagnostics, end, image.registry_slots, whole);
    }
}

fn truncated(diagnostics: &mut Diagnostics, offset: u64, expected: usize, found: usize) {
    let message = format!(
        "the input ends inside the object registry: expected {expected} slots, found {found}"
    );
    diagnostics.add(Severity::Damage, offset, message);
}

fn add(image: &Image, slot: &RegistrySlot<'_>, record: &[u8], trace: &mut Trace) {
    let kind = u32::from(slot.object_type);
    let is_thread = slot.object_type == ids::object::THREAD;
    let object = Object {
        key: slot.pointer,
        kind,
        name: slot.name.to_vec(),
        label: label(slot, trace),
        parameters: vec![slot.parameter1, slot.parameter2],
        priority: if is_thread { slot.priority() } else { None },
        alive: Some(slot.available == 0),
        lifetime: Lifetime::default(),
        record: record.get(..image.layout.registry_slot_size()).unwrap_or_default().to_vec(),
    };
    let name = object.label.clone();
    let id = trace.objects.add(object);
    let special = [context::UNUSED, context::INTERRUPT, context::INITIALIZATION];
    if is_thread && !special.contains(&slot.pointer) {
        thread(trace, slot.pointer, name, id);
    }
}

fn label(slot: &RegistrySlot<'_>, trace: &Trace) -> String {
    if !slot.name.is_empty() {
        return shown(slot.name).into_owned();
    }
    let noun =
        trace.schema.object_kind(u32::from(slot.object_type)).map(|kind| kind.label.as_str());
    format!("{} {}", noun.unwrap_or("object"), key_text(trace, slot.pointer))
}

fn thread(trace: &mut Trace, key: u64, name: String, object: ObjectId) -> ContextId {
    let key_text = key_text(trace, key);
    let kind = ContextKind::Thread;
    trace.contexts.add(Context { key, key_text, kind, name, object: Some(object) })
}

/// The context of an event by its first word; one that the registry does not name is added, with
/// an object of its own if it is a thread.
#[cold]
pub(super) fn context(trace: &mut Trace, key: u64) -> ContextId {
    if let Some(known) = trace.contexts.find(key) {
        return known;
    }
    let (kind, name) = match key {
        context::INTERRUPT => (ContextKind::Interrupt, "Interrupt"),
        context::INITIALIZATION => (ContextKind::Initialization, "Initialization"),
        _ => return unregistered(trace, key),
    };
    let key_text = key_text(trace, key);
    trace.contexts.add(Context { key, key_text, kind, name: name.to_owned(), object: None })
}

fn unregistered(trace: &mut Trace, key: u64) -> ContextId {
    let label = format!("thread {}", key_text(trace, key));
    let object = trace.objects.add(Object {
        key,
        kind: u32::from(ids::object::THREAD),
        name: Vec::new(),
        label: label.clone(),
        parameters: Vec::new(),
        priority: None,
        alive: None,
        lifetime: Lifetime::default(),
        record: Vec::new(),
    });
    thread(trace, key, label, object)
}

fn key_text(trace: &Trace, key: u64) -> String {
    format!("0x{key:0digits$X}", digits = trace.payload.digits())
}
