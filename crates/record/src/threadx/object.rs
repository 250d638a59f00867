//! Kernel objects, in the form that the registry stores.
//!
//! `registry.rs` chooses the slot of an object.

use tracewell_wire::threadx::ids::object;

/// A kernel object. The registry stores the object's name, so that readers can show the name
/// instead of the address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object<'a> {
    /// Type code, see [`tracewell_wire::threadx::ids::object`]. FileX, NetX and USBX use codes
    /// above 8.
    pub kind: u8,
    /// Address of the control block. Events refer to the object by this address.
    pub pointer: u64,
    /// Name in any encoding; empty for none. Stored up to the first NUL; the last byte of the name
    /// field is reserved for the NUL.
    pub name: &'a [u8],
    /// First parameter; its meaning depends on the type.
    pub parameter1: u64,
    /// Second parameter; its meaning depends on the type.
    pub parameter2: u64,
    /// Priority of a thread, `0..=1023`. Not stored for other types.
    pub priority: u16,
}

/// The types that `enable` registers, in this order.
const ENABLE_ORDER: [u8; 8] = [
    object::THREAD,
    object::TIMER,
    object::EVENT_FLAGS,
    object::QUEUE,
    object::SEMAPHORE,
    object::MUTEX,
    object::BLOCK_POOL,
    object::BYTE_POOL,
];

impl<'a> Object<'a> {
    /// Creates an object of any type. `parameters` are the two values that the kernel registers
    /// when it creates such an object.
    pub const fn new(kind: u8, pointer: u64, name: &'a [u8], parameters: [u64; 2]) -> Self {
        let [parameter1, parameter2] = parameters;
        Self { kind, pointer, name, parameter1, parameter2, priority: 0 }
    }

    /// Creates a thread. `stack_start` is an address, `stack_size` a number of bytes.
    pub const fn thread(
        pointer: u64,
        name: &'a [u8],
        priority: u16,
        stack_start: u64,
        stack_size: u64,
    ) -> Self {
        let thread = Self::new(object::THREAD, pointer, name, [stack_start, stack_size]);
        Self { priority, ..thread }
    }

    /// Creates an application timer. Both times are in kernel ticks.
    pub const fn timer(pointer: u64, name: &'a [u8], initial: u64, reschedule: u64) -> Self {
        Self::new(object::TIMER, pointer, name, [initial, reschedule])
    }

    /// Creates a queue of `size` bytes, with messages of `message_words` words in the target's word
    /// size.
    pub const fn queue(pointer: u64, name: &'a [u8], size: u64, message_words: u64) -> Self {
        Self::new(object::QUEUE, pointer, name, [size, message_words])
    }

    /// Creates a semaphore with its initial count.
    pub const fn semaphore(pointer: u64, name: &'a [u8], initial_count: u64) -> Self {
        Self::new(object::SEMAPHORE, pointer, name, [initial_count, 0])
    }

    /// Creates a mutex, with or without priority inheritance.
    pub const fn mutex(pointer: u64, name: &'a [u8], inherits: bool) -> Self {
        Self::new(object::MUTEX, pointer, name, [inherits as u64, 0])
    }

    /// Creates an event flags group; its parameters are 0.
    pub const fn event_flags(pointer: u64, name: &'a [u8]) -> Self {
        Self::new(object::EVENT_FLAGS, pointer, name, [0, 0])
    }

    /// Creates a block pool. Both sizes are in bytes. (According to the documentation of TraceX,
    /// the first is a number of blocks, but the kernel stores the size of the pool.)
    pub const fn block_pool(pointer: u64, name: &'a [u8], size: u64, block_size: u64) -> Self {
        Self::new(object::BLOCK_POOL, pointer, name, [size, block_size])
    }

    /// Creates a byte pool of `size` bytes.
    pub const fn byte_pool(pointer: u64, name: &'a [u8], size: u64) -> Self {
        Self::new(object::BYTE_POOL, pointer, name, [size, 0])
    }

    /// Returns the object in the form that `enable` stores for objects that already exist.
    ///
    /// For such objects, the kernel reads the parameters from the control block. For four types,
    /// they differ from the parameters at creation. A timer's initial ticks, a semaphore's initial
    /// count and a block pool's block size become 0. A queue's size becomes its capacity in
    /// messages times the size of one word, and its message size becomes 0.
    pub(super) fn as_enable_stores_it(self, word_bytes: u64) -> Self {
        let (parameter1, parameter2) = match self.kind {
            object::TIMER => (0, self.parameter2),
            // Size in bytes = capacity in messages * words per message * bytes per word.
            object::QUEUE => {
                let message_bytes = self.parameter2.saturating_mul(word_bytes).max(1);
                ((self.parameter1 / message_bytes).saturating_mul(word_bytes), 0)
            }
            object::SEMAPHORE => (0, 0),
            object::BLOCK_POOL => (self.parameter1, 0),
            _ => (self.parameter1, self.parameter2),
        };
        Self { parameter1, parameter2, ..self }
    }

    /// Returns the part of the name that the kernel copies, up to the first NUL.
    pub(super) fn name_before_nul(&self) -> &'a [u8] {
        self.name.split(|&byte| byte == 0).next().unwrap_or_default()
    }
}

/// Returns the objects that `enable` registers, ordered by type. Objects of one type keep their
/// order. Omits types that the kernel does not define.
pub(super) fn in_enable_order<'a, I>(objects: I) -> impl Iterator<Item = Object<'a>>
where
    I: Iterator<Item = Object<'a>> + Clone,
{
    let of_kind = move |kind| objects.clone().filter(move |object| object.kind == kind);
    ENABLE_ORDER.into_iter().flat_map(of_kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late(object: Object<'_>) -> [u64; 2] {
        let late = object.as_enable_stores_it(4);
        [late.parameter1, late.parameter2]
    }

    #[test]
    fn existing_objects_lose_parameters_that_the_kernel_does_not_read() {
        assert_eq!(late(Object::timer(1, b"", 3, 5)), [0, 5]);
        assert_eq!(late(Object::queue(1, b"", 128, 4)), [8 * 4, 0]);
        assert_eq!(late(Object::queue(1, b"", 128, 0)), [128 * 4, 0], "no division by zero");
        assert_eq!(late(Object::semaphore(1, b"", 7)), [0, 0]);
        assert_eq!(late(Object::block_pool(1, b"", 480, 64)), [480, 0]);
        assert_eq!(late(Object::thread(1, b"", 2, 0x100, 0x200)), [0x100, 0x200]);
        assert_eq!(late(Object::mutex(1, b"", true)), [1, 0]);
        assert_eq!(late(Object::byte_pool(1, b"", 4096)), [4096, 0]);
    }

    #[test]
    fn enable_orders_by_type_and_keeps_the_order_within_a_type() {
        let kinds = [8, 7, 5, 4, 3, 6, 2, 1, 9, 21, 1];
        let objects = kinds.iter().zip(1..).map(|(&kind, at)| Object::new(kind, at, b"", [0; 2]));
        let mut order = [(0, 0); 9];
        let mut slots = order.iter_mut();
        for object in in_enable_order(objects) {
            *slots.next().unwrap() = (object.kind, object.pointer);
        }
        let expected = [(1, 8), (1, 11), (2, 7), (6, 6), (3, 5), (4, 4), (5, 3), (7, 2), (8, 1)];
        assert_eq!(order, expected);
    }
}
