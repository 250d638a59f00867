//! Definitions: names of tasks, objects and events, and the rate of the clock.
//!
//! A definition consists of entries of 32 bytes, one for each 20 bytes of its name. The recorder
//! keeps all entries in a table before the slots of its ring. If the recorder sends over a line,
//! packets of core 255 repeat these entries. The payload of such a packet consists of entries. The
//! header field `first` is the table index of the first entry in the payload.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 1 | kind; 0 for an unused entry |
//! | 1 | 1 | part: 0 for the first 20 bytes of the name, 1 for the next 20, … |
//! | 2 | 1 | flags: bit 0: deleted; bit 1: larger priorities are more urgent (kind 1); bit 2: idle task (kind 2) |
//! | 3 | 1 | priority of a task |
//! | 4 | 4 | number of the task or object |
//! | 8 | 4 | a value; its meaning depends on the kind |
//! | 12 | 20 | the name, padded with 0 |
//!
//! | kind | defines | value |
//! |---|---|---|
//! | 1 | the system; the name is that of the kernel | rate of the clock in ticks per second |
//! | 2 | a task | bytes of its stack |
//! | 3 | an interrupt | 0 |
//! | 4 | a mutex | 1 if it is recursive |
//! | 5 | a semaphore | largest count |
//! | 6 | a queue | capacity in messages |
//! | 7 | an event group | 0 |
//! | 8 | a stream buffer | capacity in bytes |
//! | 9 | a timer | period in ticks of the kernel; 0 for a timer that expires only once |
//! | 10 | an event of the application: `name(argument,argument)` | 0 |
//! | 11 | a mark, section or channel of the application | 0 |
//!
//! An argument of an event of the application (kind 10) is a signed number. With `:u` after its
//! name, it is an unsigned number of 32 bits. With `:x`, it is also unsigned, and shown in
//! hexadecimal.

use super::u32_at;

/// Length of an entry in bytes.
pub const ENTRY: usize = 32;

/// Bytes of the name in one entry.
pub const NAME: usize = 20;

/// Flag: the task or object of the entry is deleted.
pub const DELETED: u8 = 1;

/// Flag: a larger number means a more urgent priority.
pub const LARGER_IS_URGENT: u8 = 2;

/// Flag: the task is an idle task, which runs if no other task is ready. Its time is idle time.
pub const IDLE: u8 = 4;

/// The kinds of definitions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DefinitionKind {
    /// The system.
    System = 1,
    /// A task.
    Task = 2,
    /// An interrupt.
    Interrupt = 3,
    /// A mutex.
    Mutex = 4,
    /// A semaphore.
    Semaphore = 5,
    /// A queue.
    Queue = 6,
    /// An event group.
    Group = 7,
    /// A stream buffer or message buffer.
    Stream = 8,
    /// A timer.
    Timer = 9,
    /// An event of the application.
    Event = 10,
    /// A mark, a section or a channel of the application.
    Channel = 11,
}

impl DefinitionKind {
    /// All kinds, in the order of their codes, which begin with 1.
    pub const ALL: [Self; 11] = [
        Self::System,
        Self::Task,
        Self::Interrupt,
        Self::Mutex,
        Self::Semaphore,
        Self::Queue,
        Self::Group,
        Self::Stream,
        Self::Timer,
        Self::Event,
        Self::Channel,
    ];

    /// Returns the kind with this code, or `None` if the code is unknown.
    pub fn of_code(code: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(code).ok()?.checked_sub(1)?).copied()
    }
}

/// An entry of the table of definitions.
///
/// ```
/// use tracewell_wire::target::{Definition, DefinitionKind};
///
/// let mut task = Definition::new(DefinitionKind::Task, 3, b"motor");
/// task.priority = 5;
/// let read = Definition::read(&task.to_bytes()).unwrap();
/// assert_eq!((read, read.text()), (task, &b"motor"[..]));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Definition {
    /// The kind of the entry, which determines the meaning of `value`.
    pub kind: DefinitionKind,
    /// Number of the part of the name that this entry contains.
    pub part: u8,
    /// The flags: [`DELETED`], [`LARGER_IS_URGENT`], [`IDLE`].
    pub flags: u8,
    /// Priority of a task.
    pub priority: u8,
    /// Number of the task or object.
    pub number: u32,
    /// The value. Its meaning depends on `kind`.
    pub value: u32,
    /// A part of the name, padded with 0.
    pub name: [u8; NAME],
}

impl Definition {
    /// Returns the first entry of a definition, with the first 20 bytes of its name.
    pub fn new(kind: DefinitionKind, number: u32, text: &[u8]) -> Self {
        let mut name = [0; NAME];
        name.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
        Self { kind, part: 0, flags: 0, priority: 0, number, value: 0, name }
    }

    /// Returns the part of the name without padding.
    pub fn text(&self) -> &[u8] {
        let length = self.name.iter().position(|byte| *byte == 0).unwrap_or(NAME);
        self.name.get(..length).unwrap_or_default()
    }

    /// Returns the bytes of the entry.
    pub fn to_bytes(&self) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        bytes[..4].copy_from_slice(&[self.kind as u8, self.part, self.flags, self.priority]);
        bytes[4..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.value.to_le_bytes());
        bytes[12..].copy_from_slice(&self.name);
        bytes
    }

    /// Returns the entry at the start of `bytes`, or `None` if the bytes are too few, the entry is
    /// unused, or its kind is unknown.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let [kind, part, flags, priority] = *bytes.first_chunk()?;
        Some(Self {
            kind: DefinitionKind::of_code(u64::from(kind))?,
            part,
            flags,
            priority,
            number: u32_at(bytes, 4)?,
            value: u32_at(bytes, 8)?,
            name: *bytes.get(12..)?.first_chunk()?,
        })
    }
}
