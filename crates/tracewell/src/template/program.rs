//! The compiled form of templates: a sequence of operations, and tables of strings, cases and
//! flags. At run time, the machine looks up no names.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::syntax::{Code, Key, Level, Move, Size, Version};
use crate::text::{Literal, ShortText};

/// Template files, compiled together.
///
/// # Examples
///
/// ```
/// use tracewell::template::{Program, Source};
///
/// let source = Source::new("my.fmt", "0AA 1.0 L=SVC \"disk op\" X2\nSM_TRN 1.1 \"transition\"");
/// let compiled = Program::of(&[source]);
/// assert!(compiled.is_valid());
///
/// let program = compiled.program;
/// let template = program.of_id(0x0AA0).and_then(|id| program.template(id)).expect("hook 0AA");
/// assert_eq!(template.label, "disk op");
/// assert_eq!(template.version.to_string(), "1.0");
/// assert!(program.of_name("SM_TRN").is_some());
/// ```
#[derive(Debug, Default)]
pub struct Program {
    pub(super) operations: Vec<Operation>,
    pub(super) texts: Vec<Printed>,
    pub(super) strings: Vec<String>,
    pub(super) switches: Vec<SwitchRow>,
    pub(super) cases: Vec<Case>,
    /// Results for small values, so that switches over them need no search.
    pub(super) choices: Vec<Then>,
    pub(super) flag_rows: Vec<Row>,
    pub(super) flags: Vec<Flag>,
    pub(super) field_rows: Vec<FieldRow>,
    pub(super) fields: Vec<Field>,
    pub(super) functions: Vec<Function>,
    pub(super) templates: Vec<Template>,
    pub(super) by_id: HashMap<u16, TemplateId, RandomState>,
    pub(super) by_name: HashMap<String, TemplateId, RandomState>,
    /// Names of assigned macros, by slot number.
    pub(super) slots: Vec<String>,
}

/// Identifies a template within its [`Program`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TemplateId(pub(super) u32);

/// A template of a program.
#[derive(Debug)]
pub struct Template {
    /// The events that the template is for.
    pub key: Key,
    /// Version and release of the template.
    pub version: Version,
    /// The column in which reports show the text.
    pub level: Level,
    /// The label, without the `@` that hides it from reports.
    pub label: String,
    /// First operation, which prints the label.
    pub(super) start: u32,
    /// First operation after the label, for templates that call this template.
    pub(super) body: u32,
}

impl Template {
    /// Returns the label that the template prints first, if it is on one line.
    pub(crate) fn head(&self) -> Option<String> {
        if self.start == self.body {
            return Some(String::new());
        }
        (!self.label.contains(['\n', '\t'])).then(|| format!("{} ", self.label))
    }
}

impl Program {
    /// Returns the template of a hook id or event id.
    #[inline]
    pub fn of_id(&self, id: u16) -> Option<TemplateId> {
        self.by_id.get(&id).copied()
    }

    /// Returns the template of an event name.
    pub fn of_name(&self, name: &str) -> Option<TemplateId> {
        self.by_name.get(name).copied()
    }

    /// Returns the event names that have templates, in the order of the files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.templates.iter().filter_map(|template| match &template.key {
            Key::Name(name) => Some(name.as_str()),
            Key::Id(_) => None,
        })
    }

    /// Returns the facts about a template.
    pub fn template(&self, id: TemplateId) -> Option<&Template> {
        self.templates.get(id.0 as usize)
    }

    /// Returns all templates, in the order of the files.
    pub fn templates(&self) -> impl ExactSizeIterator<Item = &Template> {
        self.templates.iter()
    }

    /// Returns true if events must be formatted in order, because the program uses timers, omits
    /// events, or ends the report.
    pub fn remembers(&self) -> bool {
        let remembers = |operation: &Operation| {
            matches!(
                operation,
                Operation::StartTimer | Operation::EndTimer | Operation::Act(Action::Stop)
            )
        };
        self.skips() || self.operations.iter().any(remembers)
    }

    /// Returns true if the program omits events.
    pub fn skips(&self) -> bool {
        self.operations.contains(&Operation::Act(Action::Skip))
    }

    /// Returns true if the program prints the current system call of an event.
    pub fn asks_for_calls(&self) -> bool {
        self.uses(Quantity::SystemCall)
    }

    /// Returns true if the program prints the offset of an event.
    pub fn asks_for_offsets(&self) -> bool {
        self.uses(Quantity::LogOffset) || self.operations.contains(&Operation::Act(Action::Error))
    }

    fn uses(&self, wanted: Quantity) -> bool {
        self.operations.iter().any(|operation| match operation {
            Operation::PrintQuantity(quantity)
            | Operation::PrintQuantityAs(quantity, _)
            | Operation::Load(quantity)
            | Operation::LoadAs(quantity, _)
            | Operation::SwitchLoad(quantity, _)
            | Operation::SwitchLoadAs(quantity, _, _) => *quantity == wanted,
            _ => false,
        })
    }

    /// Returns the size of the operations and their tables in bytes, without texts.
    pub fn size(&self) -> usize {
        size_of_val(&*self.operations)
            + size_of_val(&*self.cases)
            + size_of_val(&*self.flags)
            + size_of_val(&*self.switches)
            + size_of_val(&*self.choices)
            + size_of_val(&*self.flag_rows)
            + size_of_val(&*self.fields)
            + size_of_val(&*self.field_rows)
    }
}

/// A text to print.
#[derive(Debug)]
pub(super) struct Printed {
    pub(super) literal: Literal,
    /// The text, if it contains line ends or tabs; otherwise `None`.
    pub(super) broken: Option<String>,
}

/// A range of table rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Row {
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The cases of a switch.
///
/// The processor cannot predict which case matches, so a search is slow. For small values, a table
/// contains the results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct SwitchRow {
    pub(super) cases: Row,
    /// The results for the values 0, 1, 2, …; the last entry is for all other values. Empty if the
    /// cases must be searched.
    pub(super) choices: Row,
    /// Next operation if no case matches.
    pub(super) otherwise: u32,
}

impl Row {
    /// Returns the range as indices of the table.
    #[inline(always)]
    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Fields that are printed in one step, and the maximum number of bytes that they can print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FieldRow {
    pub(super) fields: Row,
    /// The text after the last field. It has at least one character, a space.
    pub(super) tail: ShortText,
    pub(super) room: u32,
}

/// A text followed by a number. Reports consist mostly of such fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Field {
    /// The space after the previous field's number, followed by the text.
    pub(super) text: ShortText,
    pub(super) number: Number,
}

/// A number in a common form. A separate, faster function reads such numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Number {
    pub(super) source: Source,
    pub(super) form: NumberForm,
    pub(super) size: Size,
}

/// The source of a number. It has only three variants, because the compiler would need a jump table
/// for more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// The data at the pointer; the pointer advances.
    Pointer,
    /// `$D1` to `$D9`. The index 0 stands for `$D1`.
    Word(u8),
    Event(EventValue),
}

/// Values that every event has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EventValue {
    HookData,
    Thread,
    Process,
}

/// The printed form of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NumberForm {
    Hex,
    Signed,
    Unsigned,
}

impl Number {
    /// Returns the number that `source` and `code` describe. Returns `None` unless the code prints
    /// a decimal number, or a hexadecimal number of at most 8 bytes.
    pub(super) fn of(source: Source, code: Code) -> Option<Self> {
        let (form, size) = match code {
            Code::Hex(Size::Bytes(9..)) => return None,
            Code::Hex(size) => (NumberForm::Hex, size),
            Code::Signed(size) => (NumberForm::Signed, size),
            Code::Unsigned(size) => (NumberForm::Unsigned, size),
            _ => return None,
        };
        Some(Self { source, form, size })
    }
}

impl Source {
    /// Returns the source of a macro's value, or `None` if [`Source`] has no variant for the macro.
    pub(super) fn of(quantity: Quantity) -> Option<Self> {
        Some(match quantity {
            Quantity::Word(index) => Self::Word(index),
            Quantity::HookData => Self::Event(EventValue::HookData),
            Quantity::Thread => Self::Event(EventValue::Thread),
            Quantity::Process => Self::Event(EventValue::Process),
            _ => return None,
        })
    }
}

/// The pattern that selects a case, and the case's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Case {
    pub(super) pattern: Pattern,
    pub(super) then: Then,
}

/// The result of a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Then {
    /// Prints a string, then continues after the switch.
    Text(u32),
    /// Jumps to the operations of a block. The block ends with a jump past the switch.
    Go(u32),
    /// Continues after the switch.
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pattern {
    Any,
    Number(u64),
    /// An index in the table of strings.
    Text(u32),
}

/// A flag: prints `on` if the masked bits equal the field, otherwise `off`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Flag {
    pub(super) mask: u64,
    pub(super) field: u64,
    pub(super) on: u32,
    pub(super) off: Option<u32>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Function {
    pub(super) callee: Callee,
    /// Slots of the parameters.
    pub(super) parameters: Vec<u16>,
}

/// The target of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Callee {
    /// The operations that begin at this index.
    Defined(u32),
    /// No file defines the function. The number is the index of the function's name in the table of
    /// strings.
    Missing(u32),
    /// The built-in function that prints the name of an object.
    Object,
}

/// A macro that has a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quantity {
    /// A macro that templates assign.
    User(u16),
    /// `$D1` to `$D9`. The index 0 stands for `$D1`.
    Word(u8),
    /// `$L1` to `$L5`. The index 0 stands for `$L1`.
    LongWord(u8),
    HookData,
    DataLength,
    BufferLength,
    HookType,
    Generic,
    HookEnvironment,
    SystemEnvironment,
    DataPointer,
    BasePointer,
    Thread,
    Process,
    Processor,
    Executable,
    SystemCall,
    HookId,
    Log,
    LogOffset,
    OffsetWithin,
    LineNumber,
}

/// The effect of a macro that has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    Break,
    Stop,
    Skip,
    Default,
    Error,
}

/// The target of an assignment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    User(u16),
    DataPointer,
    BasePointer,
}

/// One operation. Values are on a stack, and conditions are jumps.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Operation {
    Text(u32),
    Level(Level),
    Move(Move),
    /// Prints the data at the pointer.
    Print(Code),
    /// Prints the fields of this row.
    Fields(u32),
    /// Prints the value of a macro in the default form.
    PrintQuantity(Quantity),
    /// Prints the value of a macro in the form of a code.
    PrintQuantityAs(Quantity, Code),
    /// For a macro name that can be a hook id: prints the macro if it was assigned, otherwise calls
    /// the template.
    PrintOrCall(u16, u16),
    Act(Action),
    /// Pushes the data at the pointer.
    Read(Code),
    /// Pushes the value of a macro.
    Load(Quantity),
    /// Truncates the value of a macro to the number of bytes that the code reads, and pushes it.
    LoadAs(Quantity, Code),
    Constant(i64),
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
    Store(Target),
    /// Compares a number in a common form with the cases of this row and runs the matching case.
    SwitchNumber(Number, u32),
    /// Compares the data at the pointer with the cases of this row and runs the matching case.
    SwitchRead(Code, u32),
    /// Compares the value of a macro with the cases of this row and runs the matching case.
    SwitchLoad(Quantity, u32),
    /// Truncates the value of a macro to the number of bytes that the code reads, compares it with
    /// the cases of this row, and runs the matching case.
    SwitchLoadAs(Quantity, Code, u32),
    Jump(u32),
    /// Pops a count. Jumps to the target if the count is 0 or less.
    Loop(u32),
    /// Decreases the count. Jumps back to the target until the count is 0.
    Again(u32),
    /// Prints the flags of this row for the popped value.
    Flags(u32),
    /// Calls a function with this many popped values.
    Call(u32, u8),
    StartTimer,
    EndTimer,
    Return,
}
