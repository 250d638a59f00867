//! Kernel objects as the registry stores them.
//!
//! Not here: which slot an object gets (`registry.rs`).

use tracewell_wire::threadx::ids::object;

/// An object with a control block: what the registry keeps to give an address a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object<'a> {
    /// Type code, see [`tracewell_wire::threadx::ids::object`]; FileX, NetX and USBX have theirs
    /// above 8.
    pub kind: u8,
    /// Address of the control block; events name the object by it.
    pub pointer: u64,
    /// Name, any encoding, empty for none. Kept up to the first NUL, and at most one byte less
    /// than the name field has.
    pub name: &'a [u8],
    /// First parameter, by type.
    pub parameter1: u64,
    /// Second parameter, by type.
    pub parameter2: u64,
    /// Priority of a thread, `0..=1023`; not stored for other types.
    pub priority: u16,
}

/// The types that enabling looks for, in its order.
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
    /// An object of any type, with the two parameters that its creation stores.
    pub const fn new(kind: u8, pointer: u64, name: &'a [u8], parameters: [u64; 2]) -> Self {
        let [parameter1, parameter2] = parameters;
        Self { kind, pointer, name, parameter1, parameter2, priority: 0 }
    }

    /// A thread; stack start is an address, its size in bytes.
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

    /// An application timer; both times in kernel ticks.
    pub const fn timer(pointer: u64, name: &'a [u8], initial: u64, reschedule: u64) -> Self {
        Self::new(object::TIMER, pointer, name, [initial, reschedule])
    }

    /// A queue; its size in bytes, the size of one message in words of the target.
    pub const fn queue(pointer: u64, name: &'a [u8], size: u64, message_words: u64) -> Self {
        Self::new(object::QUEUE, pointer, name, [size, message_words])
    }

    /// A semaphore.
    pub const fn semaphore(pointer: u64, name: &'a [u8], initial_count: u64) -> Self {
        Self::new(object::SEMAPHORE, pointer, name, [initial_count, 0])
    }

    /// A mutex, with or without priority inheritance.
    pub const fn mutex(pointer: u64, name: &'a [u8], inherits: bool) -> Self {
        Self::new(object::MUTEX, pointer, name, [inherits as u64, 0])
    }

    /// An event flags group.
    pub const fn event_flags(pointer: u64, name: &'a [u8]) -> Self {
        Self::new(object::EVENT_FLAGS, pointer, name, [0, 0])
    }

    /// A block pool; both sizes in bytes. (Documents of TraceX call the first a number of blocks;
    /// the kernel stores the pool's size.)
    pub const fn block_pool(pointer: u64, name: &'a [u8], size: u64, block_size: u64) -> Self {
        Self::new(object::BLOCK_POOL, pointer, name, [size, block_size])
    }

    /// A byte pool; its size in bytes.
    pub const fn byte_pool(pointer: u64, name: &'a [u8], size: u64) -> Self {
        Self::new(object::BYTE_POOL, pointer, name, [size, 0])
    }

    /// What enabling stores for an object that exists already.
    ///
    /// The kernel takes the parameters from what it finds in the control blocks then, which for
    /// four types is not what their creation stored: a timer's initial ticks are gone, a queue
    /// gives its capacity times the size of one word, a semaphore's initial count and a block
    /// pool's block size are not looked up.
    pub(super) fn as_enable_finds_it(self, word_bytes: u64) -> Self {
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

    /// The name as far as the kernel copies it: up to its NUL.
    pub(super) fn name_before_nul(&self) -> &'a [u8] {
        self.name.split(|&byte| byte == 0).next().unwrap_or_default()
    }
}

/// The objects that enabling registers, in its order: by type, and as they come within a type.
/// Types beyond the kernel's own are left out.
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
        let late = object.as_enable_finds_it(4);
        [late.parameter1, late.parameter2]
    }

    #[test]
    fn objects_found_by_enable_lose_what_the_kernel_does_not_look_up() {
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
    fn enable_goes_by_type_and_keeps_creation_order_within_one() {
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
