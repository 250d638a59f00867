//! The syntax tree of a template file. Each part has a span in the text. Equal parts at different
//! positions differ only in their spans.

pub(super) mod code;

pub use code::{Code, Field, Move, Size};

use crate::source::Span;

/// A parsed template file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The stanzas, in the order of the file.
    pub stanzas: Vec<Stanza>,
    /// Comment lines after the last stanza.
    pub trailing: Vec<String>,
}

/// The events that a stanza is for.
///
/// # Examples
///
/// ```
/// use tracewell::template::syntax::Key;
///
/// assert_eq!(Key::from_digits("0AA"), Some(0x0AA0));
/// assert_eq!(Key::Id(0x1234).to_string(), "1234");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Key {
    /// A hook id, or the event id of another dialect. Three digits `hhh` mean `hhh0`.
    Id(u16),
    /// The name of an event in the dialect's schema. This is an extension: AIX's templates have no
    /// names.
    Name(String),
}

/// Version and release, compared as two numbers: 1.10 is later than 1.9.
///
/// # Examples
///
/// ```
/// use tracewell::template::syntax::Version;
///
/// let version = |release| Version { version: 1, release };
/// assert!(version(10) > version(9));
/// assert_eq!(version(10).to_string(), "1.10");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Version {
    /// The number before the dot.
    pub version: u32,
    /// The number after the dot.
    pub release: u32,
}

/// The four indented columns of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Level {
    /// The leftmost column, for events of application programs.
    Appl,
    /// Events of system calls.
    Svc,
    /// Events of the kernel. The default if a stanza names no column.
    #[default]
    Kern,
    /// The rightmost column, for events of interrupt handlers.
    Int,
}

/// The template of an event.
#[derive(Clone, Debug)]
pub struct Stanza {
    /// Comment lines before the stanza, with their `#`. An empty string is an empty line.
    pub comments: Vec<String>,
    /// The events that the stanza is for.
    pub key: Key,
    /// The key as written.
    pub key_text: String,
    /// The span of the key.
    pub key_span: Span,
    /// Version and release of the template, such as `1.0`.
    pub version: Version,
    /// The column, if one is given.
    pub level: Option<Level>,
    /// The label, if there is one.
    pub label: Option<Text>,
    /// The description: the items to print.
    pub body: Vec<Item>,
    /// The span of the stanza, without the comments.
    pub span: Span,
    /// True if the stanza has no error. A stanza with an error is treated as if it did not exist.
    pub valid: bool,
}

impl Stanza {
    /// Returns the label as lists show it. A leading `@`, which hides the label from reports, is
    /// removed.
    pub fn title(&self) -> &str {
        let label = self.label.as_ref().map_or("", |label| label.value.as_str());
        label.strip_prefix('@').unwrap_or(label)
    }
}

/// A string, without quotes and escapes.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text to print, which may contain line ends and tabs.
    pub value: String,
    /// The span of the string, including its quotes.
    pub span: Span,
}

/// A part of a description.
#[derive(Clone, Debug)]
pub struct Item {
    /// The kind of item, with its parts.
    pub kind: ItemKind,
    /// The span of the item.
    pub span: Span,
}

/// The kinds of items.
#[derive(Clone, Debug)]
pub enum ItemKind {
    /// `"..."`, `\n` or `\t`.
    Text(Text),
    /// `L=`: the column of the following lines.
    Level(Level),
    /// A code that moves the data pointer and prints nothing.
    Move(Move),
    /// A value to print.
    Value(Value),
    /// A value, and the text or block for each of its cases.
    Switch(Switch),
    /// A description that is repeated; the value is the number of repetitions.
    Loop(Value, Vec<Item>),
    /// A value, and texts for its bits.
    Flags(Flags),
    /// `{{ $x = ... }}`.
    Assign(Vec<Assignment>),
    /// `{{ name(a, b) ... }}`.
    Define(Function),
    /// `name(a, b)`: runs the function of this name.
    Call(Call),
    /// `STARTTIMER(a, b)` and `ENDTIMER(a, b)`.
    Timer {
        /// True for `STARTTIMER`, false for `ENDTIMER`.
        start: bool,
        /// The pair of numbers that identifies the timer.
        key: Box<[Expr; 2]>,
    },
}

/// A macro: `$name`, or `$name%code`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Macro {
    /// The name, without `$`.
    pub name: String,
    /// The code after `%`, which determines the printed form and the size.
    pub code: Option<Code>,
}

/// A value: data at the pointer, or a macro.
#[derive(Clone, Debug)]
pub struct Value {
    /// The source of the value.
    pub kind: ValueKind,
    /// The span of the value.
    pub span: Span,
}

/// The source of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// The data at the pointer.
    Code(Code),
    /// The value of a macro, built in or assigned.
    Macro(Macro),
}

/// `value, match CASE, match CASE`.
#[derive(Clone, Debug)]
pub struct Switch {
    /// The value to compare.
    pub value: Value,
    /// The cases in the order of the text, at least one.
    pub cases: Vec<Case>,
}

/// A case of a switch.
#[derive(Clone, Debug)]
pub struct Case {
    /// The pattern to compare the value with.
    pub pattern: Pattern,
    /// The span of the pattern.
    pub span: Span,
    /// The text or block to run.
    pub body: Body,
}

/// The pattern of a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// `\*`: matches every value, so later cases are never reached.
    Any,
    /// A text, without a NUL at its end.
    Text(String),
    /// A number, as a value of 64 bits.
    Number(Number),
}

/// A number. Two numbers with the same value are equal, even if they are written differently.
#[derive(Clone, Debug)]
pub struct Number {
    /// The digits as written, with sign and `0x`.
    pub text: String,
    /// The value; negative numbers in two's complement.
    pub value: u64,
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Number {}

/// The content of a case.
#[derive(Clone, Debug)]
pub enum Body {
    /// A string to print.
    Text(Text),
    /// `{ ... }`: a nested sequence of items.
    Block(Vec<Item>),
}

/// `BITFLAGS value, flag...`: tests bits of the value and prints a text for each flag.
#[derive(Clone, Debug)]
pub struct Flags {
    /// The value whose bits are tested.
    pub value: Value,
    /// The flags, at least one, in the order of the template text.
    pub flags: Vec<Flag>,
}

/// A condition on bits of the value, and the texts to print.
#[derive(Clone, Debug)]
pub struct Flag {
    /// The condition on the bits.
    pub test: FlagTest,
    /// The text if the condition is true.
    pub on: Text,
    /// The text if the condition is false.
    pub off: Option<Text>,
    /// The span of the flag.
    pub span: Span,
}

/// The condition of a flag.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FlagTest {
    /// True if all these bits are set. If the number is 0, the value must also be 0.
    Bits(Number),
    /// `& mask field`: true if the masked bits equal the field.
    Field(Number, Number),
}

/// `$x = EXPR`: assigns a value to a macro. The macro keeps the value until the end of the event.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The name of the macro.
    pub name: String,
    /// The span of the name.
    pub span: Span,
    /// The value to assign.
    pub value: Expr,
}

/// `name(a, b) DESCRIPTION`: a definition, valid for all files that are compiled together.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name of the function.
    pub name: String,
    /// The span of the name.
    pub span: Span,
    /// The parameters. Each is a macro within the function.
    pub parameters: Vec<String>,
    /// The description that each call processes.
    pub body: Vec<Item>,
}

/// A call: `name(a, b)`.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name of the function.
    pub name: String,
    /// The arguments, in order.
    pub arguments: Vec<Expr>,
}

/// An arithmetic expression over signed 64-bit numbers that wrap.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A number, written in decimal or in hexadecimal with `0x`.
    Constant(Number),
    /// A value. Reading data moves the pointer.
    Value(Value),
    /// The operand with its sign changed.
    Negate(Box<Expr>),
    /// Two operands with an operator.
    Binary(Operator, Box<[Expr; 2]>),
}

/// A binary operator on signed 64-bit numbers, with wrapping arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// `+`: adds both operands.
    Add,
    /// `-`: subtracts the second operand from the first.
    Subtract,
    /// `*`: multiplies both operands.
    Multiply,
    /// `/`: divides the first operand by the second and rounds towards 0. Division by 0 yields 0.
    Divide,
}

impl Key {
    /// Parses a hook id of three or four hexadecimal digits.
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
    /// All levels, from left to right.
    pub const ALL: [Self; 4] = [Self::Appl, Self::Svc, Self::Kern, Self::Int];

    /// Returns the name as written after `L=`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Appl => "APPL",
            Self::Svc => "SVC",
            Self::Kern => "KERN",
            Self::Int => "INT",
        }
    }

    /// Returns the level with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }

    /// Returns the index of the column, from 0.
    pub const fn column(self) -> usize {
        self as usize
    }
}

impl Operator {
    /// Returns the sign of the operator.
    pub const fn sign(self) -> char {
        match self {
            Self::Add => '+',
            Self::Subtract => '-',
            Self::Multiply => '*',
            Self::Divide => '/',
        }
    }
}
