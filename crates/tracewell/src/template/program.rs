//! What a template compiles to: a row of operations over tables of texts, cases and flags. Nothing in
//! it refers to anything by name.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::syntax::{Code, Key, Level, Move, Size, Version};
use crate::text::{Literal, ShortText};

/// Template files, compiled together.
#[derive(Debug, Default)]
pub struct Program {
    pub(super) operations: Vec<Operation>,
    pub(super) texts: Vec<Printed>,
    pub(super) strings: Vec<String>,
    pub(super) switches: Vec<SwitchRow>,
    pub(super) cases: Vec<Case>,
    /// What switches do for small values.
    pub(super) choices: Vec<Then>,
    pub(super) flag_rows: Vec<Row>,
    pub(super) flags: Vec<Flag>,
    pub(super) field_rows: Vec<FieldRow>,
    pub(super) fields: Vec<Field>,
    pub(super) functions: Vec<Function>,
    pub(super) templates: Vec<Template>,
    pub(super) by_id: HashMap<u16, TemplateId, RandomState>,
    pub(super) by_name: HashMap<String, TemplateId, RandomState>,
    /// Names of the macros that templates assign, by slot.
    pub(super) slots: Vec<String>,
}

/// A template in a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TemplateId(pub(super) u32);

/// What a program has of a stanza.
#[derive(Debug)]
pub struct Template {
    /// Which events it is for.
    pub key: Key,
    /// Its version.
    pub version: Version,
    /// Its column.
    pub level: Level,
    /// Its label, without the `@` that keeps it out of reports.
    pub label: String,
    /// Where it begins, with its label.
    pub(super) start: u32,
    /// Where it begins for those that call it.
    pub(super) body: u32,
}

impl Template {
    /// What it prints before its body, where that is within a line.
    pub(crate) fn head(&self) -> Option<String> {
        if self.start == self.body {
            return Some(String::new());
        }
        (!self.label.contains(['\n', '\t'])).then(|| format!("{} ", self.label))
    }
}

impl Program {
    /// The template of a hook id or event id.
    #[inline]
    pub fn of_id(&self, id: u16) -> Option<TemplateId> {
        self.by_id.get(&id).copied()
    }

    /// The template of an event name.
    pub fn of_name(&self, name: &str) -> Option<TemplateId> {
        self.by_name.get(name).copied()
    }

    /// The names of events that there are templates for, in the order of the files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.templates.iter().filter_map(|template| match &template.key {
            Key::Name(name) => Some(name.as_str()),
            Key::Id(_) => None,
        })
    }

    /// The facts of a template.
    pub fn template(&self, id: TemplateId) -> Option<&Template> {
        self.templates.get(id.0 as usize)
    }

    /// All templates, in the order of the files.
    pub fn templates(&self) -> impl ExactSizeIterator<Item = &Template> {
        self.templates.iter()
    }

    /// Whether it remembers something from one event to the next, or ends the report: then events
    /// must be formatted in order.
    pub fn remembers(&self) -> bool {
        let remembers = |operation: &Operation| {
            matches!(
                operation,
                Operation::StartTimer | Operation::EndTimer | Operation::Act(Action::Stop)
            )
        };
        self.skips() || self.operations.iter().any(remembers)
    }

    /// Whether it leaves events out.
    pub fn skips(&self) -> bool {
        self.operations.contains(&Operation::Act(Action::Skip))
    }

    /// Whether it prints which system call an event is in.
    pub fn asks_for_calls(&self) -> bool {
        self.uses(Quantity::SystemCall)
    }

    /// Whether it prints where an event is.
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

    /// Bytes that the operations and their tables take, without texts.
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
    /// The same text, where it has line ends or tabs in it.
    pub(super) broken: Option<String>,
}

/// A stretch of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Row {
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The cases of a switch.
///
/// Which case it is nobody can foresee, so where values are small what is done for each is looked up,
/// not searched for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct SwitchRow {
    pub(super) cases: Row,
    /// What is done for the values 0, 1, 2, ..., and in the last place for all others; empty where
    /// the cases have to be gone through.
    pub(super) choices: Row,
    /// Where to go on when no case matches.
    pub(super) otherwise: u32,
}

impl Row {
    /// Its places in the table.
    #[inline(always)]
    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Fields that are printed in one step, and the bytes that they take at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FieldRow {
    pub(super) fields: Row,
    /// What is printed behind the last one: a blank at least.
    pub(super) tail: ShortText,
    pub(super) room: u32,
}

/// A text and a number behind it: what most of a report consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Field {
    /// The text, and before it the blank behind the number of the field before.
    pub(super) text: ShortText,
    pub(super) number: Number,
}

/// A number of one of the usual kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Number {
    pub(super) source: Source,
    pub(super) form: NumberForm,
    pub(super) size: Size,
}

/// Where a number comes from. Three kinds are told apart by comparisons; more would be a jump
/// through a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// The data at the pointer, which moves on.
    Pointer,
    /// `$D1` to `$D9`, from 0.
    Word(u8),
    Known(Known),
}

/// What is known of every event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    HookData,
    Thread,
    Process,
}

/// How a number is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NumberForm {
    Hex,
    Signed,
    Unsigned,
}

impl Number {
    /// A number from `source` as a code has it; `None` where the code is not for numbers of at most
    /// 8 bytes.
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
    /// The source of a macro, if it is one of the usual ones.
    pub(super) fn of(quantity: Quantity) -> Option<Self> {
        Some(match quantity {
            Quantity::Word(index) => Self::Word(index),
            Quantity::HookData => Self::Known(Known::HookData),
            Quantity::Thread => Self::Known(Known::Thread),
            Quantity::Process => Self::Known(Known::Process),
            _ => return None,
        })
    }
}

/// What a case of a switch compares with, and what is done then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Case {
    pub(super) pattern: Pattern,
    pub(super) then: Then,
}

/// What a case does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Then {
    /// Prints a text and goes on behind the switch.
    Text(u32),
    /// Goes to its operations, which go on behind the switch.
    Go(u32),
    /// Goes on behind the switch.
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pattern {
    Any,
    Number(u64),
    /// Index into the strings.
    Text(u32),
}

/// A flag: `on` where the bits of the mask are those of the field, else `off`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Flag {
    pub(super) mask: u64,
    pub(super) field: u64,
    pub(super) on: u32,
    pub(super) off: Option<u32>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Function {
    pub(super) what: Callee,
    /// Slots of its parameters.
    pub(super) parameters: Vec<u16>,
}

/// What a call runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Callee {
    /// The operations from here on.
    Defined(u32),
    /// Nothing: no file defines it. Its name is among the strings.
    Missing(u32),
    /// The built-in function that prints the name of an object.
    Object,
}

/// A value with a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quantity {
    /// A macro that templates assign.
    User(u16),
    /// `$D1` to `$D9`, from 0.
    Word(u8),
    /// `$L1` to `$L5`, from 0.
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

/// What a macro does that has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    Break,
    Stop,
    Skip,
    Default,
    Error,
}

/// Where an assignment goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    User(u16),
    DataPointer,
    BasePointer,
}

/// A step. Values are on a stack; conditions jump.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Operation {
    Text(u32),
    Level(Level),
    Move(Move),
    /// Prints what is at the pointer.
    Print(Code),
    /// Prints the fields of this row.
    Fields(u32),
    /// Prints a macro as macros are printed.
    PrintQuantity(Quantity),
    /// Prints a macro with a code.
    PrintQuantityAs(Quantity, Code),
    /// Prints the macro, or calls the template, of a name that can be a hook id.
    PrintOrCall(u16, u16),
    Act(Action),
    /// Puts what is at the pointer on the stack.
    Read(Code),
    /// Puts a macro on the stack.
    Load(Quantity),
    /// Puts a macro on the stack, cut as a code says.
    LoadAs(Quantity, Code),
    Constant(i64),
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
    Store(Place),
    /// Compares a number of one of the usual kinds with the cases of this row, and does what one says.
    SwitchNumber(Number, u32),
    /// Compares what is at the pointer with the cases of this row, and does what one says.
    SwitchRead(Code, u32),
    /// The same with a macro.
    SwitchLoad(Quantity, u32),
    /// The same with a macro that is cut as a code says.
    SwitchLoadAs(Quantity, Code, u32),
    Jump(u32),
    /// Takes a count from the stack; goes to the target when it is spent already.
    Loop(u32),
    /// Goes back to the target while the count is not spent.
    Again(u32),
    /// Prints the flags of this row for the value on the stack.
    Flags(u32),
    /// Calls a function with so many values from the stack.
    Call(u32, u8),
    StartTimer,
    EndTimer,
    Return,
}
