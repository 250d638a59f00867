//! Which registry slot an object gets.
//!
//! ```text
//! start a round at the moving index; for each slot:
//!     pointer 0 or the object's own pointer -> take it, stop
//!     available -> remember it, if nothing is remembered or what is remembered has a type
//! nothing stopped the round -> take the remembered one, if any
//! the next round starts behind the slot taken, or at the slot that was freed last
//! ```
//!
//! A slot that was never used has no pointer and stops the round, so what is remembered has a type
//! unless somebody registered an object of type 0: in effect the *last* available slot of the round
//! is taken.
//!
//! The count of available slots falls on every registration, even when an object takes the slot
//! that it has already, and grows on every unregistration; at 0 nothing is registered. It may
//! therefore be lower than the number of available slots: objects missing in an image are normal.
//!
//! Source: `tx_trace_object_register.c`, `tx_trace_object_unregister.c`, public Eclipse ThreadX
//! repository.

use tracewell_wire::threadx::ids::object::THREAD;
use tracewell_wire::threadx::{Layout, RegistrySlot};

use super::Object;

/// Place and search state of the registry inside an image.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registry {
    layout: Layout,
    offset: usize,
    slots: usize,
    available: usize,
    search_start: usize,
}

impl Registry {
    /// Marks all slots never used: flag, type, reserved bytes and pointer. Parameters and names
    /// keep what was in memory.
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

    /// Puts an object into the slot that the rule gives it, and says which; `None` where it gives
    /// none.
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

    /// Marks the first slot with this pointer available and keeps everything else in it, so that
    /// older events can still be named. Which slot it was, or `None` where no slot has the pointer.
    pub(super) fn unregister(&mut self, memory: &mut [u8], pointer: u64) -> Option<usize> {
        let pointer = pointer & self.layout.width.max();
        let holds = |index: &usize| self.slot(memory, *index).is_some_and(|s| s.pointer == pointer);
        let index = (0..self.slots).find(holds)?;
        *self.bytes_mut(memory, index)?.first_mut()? = 1;
        // Counted even when the slot was available before, as the kernel does.
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
