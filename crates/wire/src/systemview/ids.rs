//! Event ids, and the parameters of the events whose packets do not contain a length.

/// A packet without meaning. Two zero bytes of a sync or of unused memory look like this packet.
pub const NOP: u32 = 0;
/// The recorder can store packets again; the parameter counts the dropped packets.
pub const OVERFLOW: u32 = 1;
/// An interrupt service routine begins.
pub const ISR_ENTER: u32 = 2;
/// An interrupt service routine returns to the interrupted context.
pub const ISR_EXIT: u32 = 3;
/// A task gets the processor.
pub const TASK_START_EXEC: u32 = 4;
/// The running task loses the processor.
pub const TASK_STOP_EXEC: u32 = 5;
/// A task becomes ready.
pub const TASK_START_READY: u32 = 6;
/// A task is no longer ready.
pub const TASK_STOP_READY: u32 = 7;
/// A task is created.
pub const TASK_CREATE: u32 = 8;
/// Priority and name of a task.
pub const TASK_INFO: u32 = 9;
/// Recording begins. Post-mortem recorders repeat this event.
pub const TRACE_START: u32 = 10;
/// The recorder stops. It can start again later.
pub const TRACE_STOP: u32 = 11;
/// The system's time as the value of the tick counter.
pub const SYSTIME_CYCLES: u32 = 12;
/// The system's time in microseconds, as two numbers, the low half first.
pub const SYSTIME_US: u32 = 13;
/// A text that describes the target.
pub const SYSDESC: u32 = 14;
/// No task is ready.
pub const IDLE: u32 = 17;
/// An interrupt service routine ends, and the scheduler chooses the next task.
pub const ISR_TO_SCHEDULER: u32 = 18;
/// A software timer's function begins.
pub const TIMER_ENTER: u32 = 19;
/// Stack of a task.
pub const STACK_INFO: u32 = 21;
/// A text that describes the events of a module.
pub const MODULEDESC: u32 = 22;
/// A value of a registered series.
pub const DATA_SAMPLE: u32 = 23;
/// The rates of the clock and the processor, and the base and shift of shortened addresses.
pub const INIT: u32 = 24;
/// Name of a resource.
pub const NAME_RESOURCE: u32 = 25;
/// A text of the application, possibly with arguments.
pub const PRINT_FORMATTED: u32 = 26;
/// Number of modules that the target has registered.
pub const NUMMODULES: u32 = 27;
/// A function of the operating system returns.
pub const END_CALL: u32 = 28;
/// A task ends. Its address can then belong to another task.
pub const TASK_TERMINATE: u32 = 29;
/// The packet contains a second id.
pub const EXTENDED: u32 = 31;
/// The first id of the events of the operating system.
pub const FIRST_SYSTEM: u32 = 32;
/// The first id of the events of modules.
pub const FIRST_MODULE: u32 = 512;
/// The first id that recorders do not define.
pub const FIRST_UNDEFINED: u32 = 2048;

/// Second ids of [`EXTENDED`].
pub mod extended {
    /// A mark of the application.
    pub const MARK: u32 = 0;
    /// Name of a marker.
    pub const NAME_MARKER: u32 = 1;
    /// A heap with its base and size.
    pub const HEAP_DEFINE: u32 = 2;
    /// Allocation of a block.
    pub const HEAP_ALLOC: u32 = 3;
    /// Allocation of a block with a tag.
    pub const HEAP_ALLOC_EX: u32 = 4;
    /// A block becomes free.
    pub const HEAP_FREE: u32 = 5;
    /// Name, type and range of a series of values.
    pub const REGISTER_DATA: u32 = 6;
}

/// The parameters of an event whose packets do not contain a length: numbers, followed by at most
/// one text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The count of numbers.
    pub numbers: u8,
    /// True if a text follows the numbers.
    pub text: bool,
}

const fn shape(numbers: u8, text: bool) -> Shape {
    Shape { numbers, text }
}

/// The parameters of the events 0 to 23, by id.
pub const SHAPES: [Shape; 24] = [
    shape(0, false),
    shape(1, false),
    shape(1, false),
    shape(0, false),
    shape(1, false),
    shape(0, false),
    shape(1, false),
    shape(2, false),
    shape(1, false),
    shape(2, true),
    shape(0, false),
    shape(0, false),
    shape(1, false),
    shape(2, false),
    shape(0, true),
    shape(1, false),
    shape(1, false),
    shape(0, false),
    shape(0, false),
    shape(1, false),
    shape(0, false),
    shape(4, false),
    shape(2, true),
    shape(2, false),
];
