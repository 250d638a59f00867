//! The syntax tree of a template file. Every part knows its place in the text; what is equal in
//! meaning is equal in the tree but for the places.

pub(super) mod code;

pub use code::{Code, Field, Move, Size};

use crate::source::Span;

/// A template file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The stanzas, in the order of the file.
    pub stanzas: Vec<Stanza>,
    /// Comment lines behind the last stanza.
    pub trailing: Vec<String>,
}

/// The events that a stanza is for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Key {
    /// A hook id, or the event id of another dialect. Three digits `hhh` are `hhh0`.
    Id(u16),
    /// The name of an event in the dialect's schema (an extension; AIX has no names).
    Name(String),
}

/// Version and release, compared as two numbers: 1.10 is later than 1.9.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Version {
    /// The number before the dot.
    pub version: u32,
    /// The number behind it.
    pub release: u32,
}

/// The four indented columns of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Level {
    /// Of a program.
    Appl,
    /// Of a system call.
    Svc,
    /// Of the kernel; where a stanza names none.
    #[default]
    Kern,
    /// Of an interrupt.
    Int,
}

/// The template of an event.
#[derive(Clone, Debug)]
pub struct Stanza {
    /// Comment lines before it, with their `#`; an empty string is an empty line.
    pub comments: Vec<String>,
    /// Which events it is for.
    pub key: Key,
    /// The key as written.
    pub key_text: String,
    /// Where the key stands.
    pub key_span: Span,
    /// Its version.
    pub version: Version,
    /// Its column, where one is given.
    pub level: Option<Level>,
    /// Its label, where it has one.
    pub label: Option<Text>,
    /// What it prints.
    pub body: Vec<Item>,
    /// All of it, without the comments.
    pub span: Span,
    /// Whether nothing in it is wrong; a wrong one formats as if it were not there.
    pub valid: bool,
}

impl Stanza {
    /// The label as lists show it: without the `@` that keeps it out of reports.
    pub fn title(&self) -> &str {
        let label = self.label.as_ref().map_or("", |label| label.value.as_str());
        label.strip_prefix('@').unwrap_or(label)
    }
}

/// A string, without quotes and escapes.
#[derive(Clone, Debug)]
pub struct Text {
    /// What it prints; line ends and tabs are in it as they are.
    pub value: String,
    /// Where it stands, with the quotes.
    pub span: Span,
}

/// A part of a description.
#[derive(Clone, Debug)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Where it stands.
    pub span: Span,
}

/// What a part of a description is.
#[derive(Clone, Debug)]
pub enum ItemKind {
    /// `"..."`, `\n` or `\t`.
    Text(Text),
    /// `L=`: the column of the lines that follow.
    Level(Level),
    /// A code that moves the data pointer and prints nothing.
    Move(Move),
    /// A value that is printed.
    Value(Value),
    /// A value and what to print for it.
    Switch(Switch),
    /// A description that is run as often as a value says.
    Loop(Value, Vec<Item>),
    /// A value and texts for its bits.
    Flags(Flags),
    /// `{{ $x = ... }}`.
    Assign(Vec<Assignment>),
    /// `{{ name(a, b) ... }}`.
    Define(Function),
    /// `name(a, b)`.
    Call(Call),
    /// `STARTTIMER(a, b)` and `ENDTIMER(a, b)`.
    Timer {
        /// Whether it starts the time.
        start: bool,
        /// The pair that it is kept under.
        key: Box<[Expr; 2]>,
    },
}

/// A macro: `$name`, or `$name%code`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Macro {
    /// The name.
    pub name: String,
    /// How it is printed and cut, where that is said.
    pub code: Option<Code>,
}

/// A value: read at the data pointer, or a macro's.
#[derive(Clone, Debug)]
pub struct Value {
    /// Where it comes from.
    pub kind: ValueKind,
    /// Where it stands.
    pub span: Span,
}

/// Where a value comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// The data at the pointer.
    Code(Code),
    /// A macro.
    Macro(Macro),
}

/// `value, match CASE, match CASE`.
#[derive(Clone, Debug)]
pub struct Switch {
    /// What is compared.
    pub value: Value,
    /// The cases in the order of the text, at least one.
    pub cases: Vec<Case>,
}

/// A case of a switch.
#[derive(Clone, Debug)]
pub struct Case {
    /// What the value is compared with.
    pub pattern: Pattern,
    /// Where that stands.
    pub span: Span,
    /// What is run.
    pub body: Body,
}

/// What the value of a switch is compared with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// `\*`: everything.
    Any,
    /// A text, without a NUL at its end.
    Text(String),
    /// A number, as a value of 64 bits.
    Number(Number),
}

/// A number; two that are written in different ways are equal.
#[derive(Clone, Debug)]
pub struct Number {
    /// The digits as written, with sign and `0x`.
    pub text: String,
    /// The value; a negative one in two's complement.
    pub value: u64,
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Number {}

/// What a case runs: a string alone, or a block.
#[derive(Clone, Debug)]
pub enum Body {
    /// A string.
    Text(Text),
    /// `{ ... }`.
    Block(Vec<Item>),
}

/// `BITFLAGS value, flag...`.
#[derive(Clone, Debug)]
pub struct Flags {
    /// Whose bits are looked at.
    pub value: Value,
    /// The flags in the order of the text, at least one.
    pub flags: Vec<Flag>,
}

/// A text for bits.
#[derive(Clone, Debug)]
pub struct Flag {
    /// When it is printed.
    pub test: FlagTest,
    /// Printed when the test holds.
    pub on: Text,
    /// Printed when it does not.
    pub off: Option<Text>,
    /// Where it stands.
    pub span: Span,
}

/// When the text of a flag is printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FlagTest {
    /// All these bits are set; 0 holds for a value of 0 only.
    Bits(Number),
    /// `& mask field`: the bits of the mask are those of the field.
    Field(Number, Number),
}

/// `$x = EXPR`.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The macro's name.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// The value.
    pub value: Expr,
}

/// `name(a, b) DESCRIPTION`.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// Its parameters, each a macro within it.
    pub parameters: Vec<String>,
    /// What it runs.
    pub body: Vec<Item>,
}

/// `name(a, b)`.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function's name.
    pub name: String,
    /// The arguments.
    pub arguments: Vec<Expr>,
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A number.
    Constant(Number),
    /// A value; one that is read moves the data pointer.
    Value(Value),
    /// The negative.
    Negate(Box<Expr>),
    /// Two with an operator.
    Binary(Operator, Box<[Expr; 2]>),
}

/// An operator of two expressions, in signed 64-bit numbers that wrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, towards 0; by 0 it gives 0.
    Divide,
}

impl Key {
    /// A hook id from its three or four hexadecimal digits.
    pub fn from_digits(digits: &str) -> Option<u16> {
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let number = u16::from_str_radix(digits, 16).ok()?;
        match digits.len() {
            3 => Some(number << 4),
            4 => Some(number),
            _ => None,
        }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) if id & 0xF == 0 => write!(f, "{:03X}", id >> 4),
            Self::Id(id) => write!(f, "{id:04X}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.version, self.release)
    }
}

impl Level {
    /// All of them, from left to right.
    pub const ALL: [Self; 4] = [Self::Appl, Self::Svc, Self::Kern, Self::Int];

    /// As in `L=`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Appl => "APPL",
            Self::Svc => "SVC",
            Self::Kern => "KERN",
            Self::Int => "INT",
        }
    }

    /// The level of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }

    /// Which column, from 0.
    pub const fn column(self) -> usize {
        self as usize
    }
}

impl Operator {
    /// The sign.
    pub const fn sign(self) -> char {
        match self {
            Self::Add => '+',
            Self::Subtract => '-',
            Self::Multiply => '*',
            Self::Divide => '/',
        }
    }
}
