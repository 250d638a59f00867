//! The columns of each table. docs/tables.md shows these lists; a test compares both.

use crate::column::Column;
use crate::column::Kind::{Bool, Date, F64, I64, Text, U16, U32, U64, Word};

/// Name of the column with the arguments as text.
pub(crate) const TEXT: &str = "text";

const SEQ: Column = Column::new("seq", U64, "", "number of the event in the trace, from 0");
const TICKS: Column = Column::new("ticks", I64, "ticks", "time of the event since the first event");
const TIME_NS: Column = Column::new(
    "time_ns",
    I64,
    "ns",
    "`ticks` in nanoseconds; null if the clock's rate is unknown",
);
const CONTEXT: Column = Column::new("context", U64, "", "key of the context, as recorded");
const CONTEXT_NAME: Column = Column::new("context_name", Word, "", "name of the context");
const ID: Column = Column::new("id", U32, "", "event id");
const NAME: Column = Column::new("name", Word, "", "name of the event, in the words of its system");
const SUBJECT: Column =
    Column::new("subject", Word, "", "name of the thing that the row describes");
const KEY: Column = Column::new("key", U64, "", "key of this thing, as recorded");
const OBJECT: Column = Column::new("object", U64, "", "key of the object, as recorded");
const END_SEQ: Column =
    Column::new("end_seq", U64, "", "event at the end; null if the trace does not show it");
const END_TICKS: Column =
    Column::new("end_ticks", I64, "ticks", "time of the end, since the first event");
const DURATION_TICKS: Column =
    Column::new("duration_ticks", I64, "ticks", "from the beginning to the end");
const DURATION_NS: Column = Column::new(
    "duration_ns",
    I64,
    "ns",
    "the same in nanoseconds; null if the clock's rate is unknown",
);

/// The columns of `events` whose values need no names, so that the first reading of a trace can
/// make them.
pub(crate) const WITHOUT_NAMES: [&str; 4] = ["seq", "ticks", "cpu", "id"];

pub(crate) const EVENTS: &[Column] = &[
    SEQ,
    TICKS,
    TIME_NS,
    Column::new("time", Date, "", "date; null if the trace has no wall clock"),
    Column::new("cpu", U16, "", "core that recorded the event, from 0"),
    CONTEXT,
    CONTEXT_NAME,
    Column::new("priority", U16, "", "priority of the context, if the record contains one"),
    Column::new(
        "preemption_threshold",
        U16,
        "",
        "preemption threshold of the context, if it differs from the priority",
    ),
    Column::new("interrupted", U64, "", "key of the thread that an interrupt interrupted"),
    ID,
    NAME,
    Column::new("meaning", Word, "", "meaning for scheduling, in the words of schema files"),
    Column::new(TEXT, Text, "", "the arguments, as a report prints them"),
];

pub(crate) const SPANS: &[Column] = &[
    Column::new("track", Word, "", "`core`, `context`, `mutex`, `machine` or `step`"),
    SUBJECT,
    Column::new("key", U64, "", "key of this thing; the number of a core"),
    Column::new("seq", U64, "", "number of the event at the beginning, from 0"),
    Column::new("ticks", I64, "ticks", "time of the beginning, since the first event"),
    TIME_NS,
    END_SEQ,
    END_TICKS,
    DURATION_TICKS,
    DURATION_NS,
    Column::new("state", Word, "", "state during this time"),
    Column::new(
        "detail",
        Word,
        "",
        "the running context, the object that is waited for, or the holder",
    ),
];

pub(crate) const MARKS: &[Column] = &[SEQ, TICKS, TIME_NS, CONTEXT, CONTEXT_NAME, ID, NAME];

pub(crate) const COUNTERS: &[Column] = &[
    SUBJECT,
    KEY,
    SEQ,
    TICKS,
    TIME_NS,
    Column::new("level", U64, "", "level from this event on; null if events are missing"),
    Column::new("counts_free", Bool, "", "true if levels are numbers of free places"),
];

pub(crate) const ARROWS: &[Column] = &[
    Column::new("kind", Word, "", "`wake-up`, `waits for` or `message`"),
    Column::new("seq", U64, "", "event that is the cause"),
    TICKS,
    TIME_NS,
    Column::new("context_name", Word, "", "context of the cause; null for an interrupt"),
    Column::new("end_seq", U64, "", "event that is the effect"),
    END_TICKS,
    Column::new("end_context_name", Word, "", "context of the effect"),
    DURATION_TICKS,
    DURATION_NS,
];

pub(crate) const JOBS: &[Column] = &[
    CONTEXT,
    CONTEXT_NAME,
    Column::new("number", U64, "", "index of the job among the completed jobs of its task, from 0"),
    Column::new("ticks", I64, "ticks", "time of the release, since the first event"),
    TIME_NS,
    Column::new("start_ticks", I64, "ticks", "time at which the job ran for the first time"),
    Column::new("end_ticks", I64, "ticks", "time of the completion, since the first event"),
    Column::new("duration_ticks", I64, "ticks", "response time: from release to completion"),
    DURATION_NS,
    Column::new("execution_ticks", U64, "ticks", "time for which the job ran"),
    Column::new("blocking_ticks", U64, "ticks", "time in which other tasks ran on its behalf"),
    Column::new(
        "interference_ticks",
        U64,
        "ticks",
        "time in which other tasks ran on their own behalf",
    ),
    Column::new("interrupt_ticks", U64, "ticks", "time in which interrupts were served"),
    Column::new("preemptions", U64, "", "number of preemptions of the task"),
    Column::new("missed", Bool, "", "true if an event reports that the job missed its deadline"),
];

pub(crate) const WAITS: &[Column] = &[
    CONTEXT,
    CONTEXT_NAME,
    OBJECT,
    Column::new("object_name", Word, "", "name of the object; null if it has none"),
    Column::new("is_mutex", Bool, "", "true for a mutex"),
    Column::new(
        "owner_name",
        Word,
        "",
        "context that held the mutex, or ran on behalf of the waiting context",
    ),
    Column::new("seq", U64, "", "number, from 0, of the event that requests the object"),
    TICKS,
    TIME_NS,
    END_TICKS,
    DURATION_TICKS,
    DURATION_NS,
    Column::new("inverted_ticks", U64, "ticks", "time in which less urgent contexts ran instead"),
];

pub(crate) const LOSSES: &[Column] = &[
    Column::new("seq", U64, "", "number of the event after the gap"),
    Column::new("events", U64, "", "number of missing events; null if it is unknown"),
    Column::new("cause", Word, "", "reason why they are missing"),
    Column::new("byte_offset", U64, "bytes", "position in the source"),
];

pub(crate) const CONTEXTS: &[Column] = &[
    CONTEXT,
    Column::new("key_text", Text, "", "key as outputs show it"),
    CONTEXT_NAME,
    Column::new("kind", Word, "", "`thread`, `interrupt`, `system`, …"),
];

pub(crate) const OBJECTS: &[Column] = &[
    OBJECT,
    Column::new("kind", Word, "", "kind of the object, such as `mutex`"),
    Column::new("object_name", Word, "", "name of the object"),
    Column::new("priority", U16, "", "priority at registration, for threads"),
    Column::new("created_ticks", I64, "ticks", "creation, if the trace contains it"),
    Column::new("deleted_ticks", I64, "ticks", "deletion, if the trace contains it"),
    Column::new("alive", Bool, "", "true if the object existed when the trace was saved"),
    Column::new("parameters", Text, "", "its parameters, as a JSON object"),
];

pub(crate) const FIGURES: &[Column] = &[
    Column::new("measure", Word, "", "`response`, `wait`, `load`, …; [analysis](analysis.md)"),
    SUBJECT,
    Column::new("key", Word, "", "key of this thing, as outputs show it"),
    Column::new("statistic", Word, "", "`count`, `min`, `mean`, `p50`, `p90`, `p99`, `max`, …"),
    Column::new("value", F64, "see `unit`", "value of the figure"),
    Column::new("unit", Word, "", "`ticks`, `share` (1 is the whole) or `count`"),
    Column::new(
        "value_ns",
        F64,
        "ns",
        "a value in ticks, converted to nanoseconds; null if the clock's rate is unknown or changes",
    ),
];

pub(crate) const TRACES: &[Column] = &[
    Column::new("trace", Text, "", "SHA-256 of the trace's bytes, in hexadecimal"),
    Column::new("path", Text, "", "path as given"),
    Column::new("format", Word, "", "name of the trace's format"),
    Column::new("bytes", U64, "bytes", "size of the file, or of all files in the folder"),
    Column::new("events", U64, "", "number of events"),
    Column::new("span_ticks", I64, "ticks", "from the first event to the last"),
    Column::new("span_ns", I64, "ns", "the same in nanoseconds"),
    Column::new("rate", F64, "ticks/s", "first rate of the clock"),
    Column::new("start", Date, "", "date of the first event"),
    Column::new("cpus", U16, "", "number of cores"),
    Column::new("contexts", U64, "", "number of contexts"),
    Column::new("objects", U64, "", "number of objects"),
    Column::new("lost", U64, "", "number of missing events; null if it is unknown"),
    Column::new("gaps", U64, "", "number of gaps"),
    Column::new("damages", U64, "", "number of reports of damage"),
    Column::new("facts", Text, "", "properties that the source records, as a JSON object"),
    Column::new("labels", Text, "", "labels that the user gave, as a JSON object"),
];
