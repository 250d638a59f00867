//! What a template compiles to: a row of operations over tables of texts, cases and flags. Nothing in
//! it refers to anything by name.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::syntax::{Code, Key, Level, Move, Version};
use crate::text::Literal;

/// Template files, compiled together.
#[derive(Debug, Default)]
pub struct Program {
    pub(super) operations: Vec<Operation>,
    pub(super) texts: Vec<Printed>,
    pub(super) strings: Vec<String>,
    pub(super) switches: Vec<Row>,
    pub(super) cases: Vec<Case>,
    pub(super) flag_rows: Vec<Row>,
    pub(super) flags: Vec<Flag>,
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
        let asks = |operation: &Operation| match operation {
            Operation::PrintQuantity(quantity)
            | Operation::PrintQuantityAs(quantity, _)
            | Operation::Load(quantity)
            | Operation::LoadAs(quantity, _) => *quantity == Quantity::SystemCall,
            _ => false,
        };
        self.operations.iter().any(asks)
    }

    /// Bytes that the operations and their tables take, without texts.
    pub fn size(&self) -> usize {
        size_of_val(&*self.operations)
            + size_of_val(&*self.cases)
            + size_of_val(&*self.flags)
            + size_of_val(&*self.switches)
            + size_of_val(&*self.flag_rows)
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub(super) start: u32,
    pub(super) end: u32,
    /// For switches: where to go when no case matches.
    pub(super) otherwise: u32,
}

/// What a case of a switch compares with, and where it goes then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Case {
    pub(super) pattern: Pattern,
    pub(super) target: u32,
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
    pub(super) start: u32,
    /// Slots of its parameters.
    pub(super) parameters: Vec<u16>,
}

/// A value with a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quantity {
    /// A macro that templates assign.
    User(u16),
    /// `$D1` to `$D5`, from 0.
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
    /// Compares the value on the stack with the cases of this row and goes where one says.
    Switch(u32),
    Jump(u32),
    /// Takes a count from the stack; goes to the target when it is spent already.
    Loop(u32),
    /// Goes back to the target while the count is not spent.
    Again(u32),
    /// Prints the flags of this row for the value on the stack.
    Flags(u32),
    /// Calls a function with so many values from the stack.
    Call(u32, u8),
    /// Calls what is not there; the name is among the strings.
    NoFunction(u32),
    /// Prints the name of the object whose key is on the stack.
    Object,
    StartTimer,
    EndTimer,
    Return,
}
