//! The registry: chooses a slot for each object.
//!
//! ```text
//! for each slot, from the search index on, wrapping at the last slot:
//!     pointer 0 or the object's own pointer -> use this slot, stop
//!     available -> remember this slot, if no slot is remembered or the remembered slot has a type
//! if the search did not stop -> use the remembered slot, if any
//! the next search starts after the slot used, or at the slot that was freed last
//! ```
//!
//! A slot that was never used has pointer 0 and ends the search. So every remembered slot has held
//! an object, and its type is normally not 0. Each later available slot therefore replaces the
//! remembered slot, and the search chooses the *last* available slot. Only an object of type 0
//! changes this.
//!
//! Every registration decrements the count of available slots, even if an object gets the slot that
//! it already has. Every unregistration increments it. While the count is 0, registering an object
//! has no effect. The count can be lower than the actual number of available slots, so an image can
//! lack some objects even without an error.
//!
//! Source: `tx_trace_object_register.c`, `tx_trace_object_unregister.c`, public Eclipse ThreadX
//! repository.

use tracewell_wire::threadx::ids::object::THREAD;
use tracewell_wire::threadx::{Layout, RegistrySlot};

use super::Object;

/// Offset and search state of the registry in an image.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registry {
    layout: Layout,
    offset: usize,
    slots: usize,
    available: usize,
    search_start: usize,
}

impl Registry {
    /// Sets the flag, type, reserved bytes and pointer of every slot to the values of a slot that
    /// was never used. Parameters and names keep the bytes that were in memory.
    pub(super) fn initialise(
        memory: &mut [u8],
        layout: Layout,
        offset: usize,
        slots: usize,
    ) -> Self {
        let registry = Self { layout, offset, slots, available: slots, search_start: 0 };
        for index in 0..slots {
            let _ = registry.clear(memory, index);
        }
        registry
    }

    fn clear(&self, memory: &mut [u8], index: usize) -> Option<()> {
        let slot = self.bytes_mut(memory, index)?;
        *slot.first_chunk_mut()? = [1, 0, 0, 0];
        self.layout.put_word(slot, self.layout.width.bytes(), 0)
    }

    /// Writes an object into the slot that the search selects. Returns the slot's index, or `None`
    /// if there is no slot for it.
    pub(super) fn register(&mut self, memory: &mut [u8], object: &Object<'_>) -> Option<usize> {
        if self.available == 0 {
            return None;
        }
        let index = self.choose(memory, object.pointer)?;
        self.available -= 1;
        self.search_start = if index + 1 < self.slots { index + 1 } else { 0 };
        self.fill(memory, index, object)?;
        Some(index)
    }

    fn choose(&self, memory: &[u8], pointer: u64) -> Option<usize> {
        // A target with 32-bit words stores only the low half.
        let pointer = pointer & self.layout.width.max();
        let mut remembered: Option<(usize, u8)> = None;
        for index in (self.search_start..self.slots).chain(0..self.search_start) {
            let slot = self.slot(memory, index)?;
            if slot.pointer == 0 || slot.pointer == pointer {
                return Some(index);
            }
            if slot.available != 0 && remembered.is_none_or(|(_, kind)| kind != 0) {
                remembered = Some((index, slot.object_type));
            }
        }
        remembered.map(|(index, _)| index)
    }

    fn fill(&self, memory: &mut [u8], index: usize, object: &Object<'_>) -> Option<()> {
        let [reserved1, reserved2] = match object.kind {
            THREAD => RegistrySlot::priority_bytes(object.priority),
            _ => [0, 0],
        };
        let slot = RegistrySlot {
            available: 0,
            object_type: object.kind,
            reserved1,
            reserved2,
            pointer: object.pointer,
            parameter1: object.parameter1,
            parameter2: object.parameter2,
            name: object.name_before_nul(),
        };
        slot.write(self.layout, self.bytes_mut(memory, index)?)
    }

    /// Marks the first slot with this pointer as available, and returns its index, or `None` if no
    /// slot has the pointer. The slot keeps its content, so that older events still have a name.
    pub(super) fn unregister(&mut self, memory: &mut [u8], pointer: u64) -> Option<usize> {
        let pointer = pointer & self.layout.width.max();
        let holds = |index: &usize| self.slot(memory, *index).is_some_and(|s| s.pointer == pointer);
        let index = (0..self.slots).find(holds)?;
        *self.bytes_mut(memory, index)?.first_mut()? = 1;
        // Like the kernel, count the slot even if it was already available.
        self.available = self.available.saturating_add(1);
        self.search_start = index;
        Some(index)
    }

    fn start_of(&self, index: usize) -> usize {
        self.offset + index * self.layout.registry_slot_size()
    }

    fn slot<'a>(&self, memory: &'a [u8], index: usize) -> Option<RegistrySlot<'a>> {
        RegistrySlot::read(self.layout, memory.get(self.start_of(index)..)?)
    }

    fn bytes_mut<'a>(&self, memory: &'a mut [u8], index: usize) -> Option<&'a mut [u8]> {
        memory.get_mut(self.start_of(index)..)
    }
}
