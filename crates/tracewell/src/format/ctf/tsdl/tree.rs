//! The syntax tree of metadata of CTF 1.8. `parser` builds it, and `resolve` converts its types.

/// A declaration at the outermost level.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// A type or an alias.
    Declaration(Declaration<'a>),
    /// A block.
    Block(Block<'a>),
}

/// A block with attributes and scopes.
#[derive(Debug)]
pub(super) struct Block<'a> {
    /// Offset in the text.
    pub at: u32,
    /// The kind, from the keyword.
    pub kind: BlockKind,
    /// The entries, in the order of the text.
    pub entries: Vec<Entry<'a>>,
}

/// The kind of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BlockKind {
    Trace,
    Environment,
    Clock,
    Stream,
    Event,
    CallSite,
}

/// An entry of a block.
#[derive(Debug)]
pub(super) enum Entry<'a> {
    /// `path = value;`
    Attribute(Attribute<'a>),
    /// `path := type;`
    Scope {
        /// Offset of the path in the text.
        at: u32,
        /// The words of the path, separated by dots.
        path: String,
        /// The type.
        class: TypeTree<'a>,
    },
    /// A type or an alias.
    Declaration(Declaration<'a>),
}

/// An attribute.
#[derive(Debug)]
pub(super) struct Attribute<'a> {
    /// Offset in the text.
    pub at: u32,
    /// The name, or the words of a path separated by dots.
    pub name: String,
    /// Offset of the value in the text.
    pub value_at: u32,
    /// The value, not yet checked.
    pub value: Value<'a>,
}

/// The value of an attribute.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    /// A number from -2^63 to 2^64 - 1.
    Number(i128),
    /// A string.
    Text(String),
    /// Words separated by dots, at least one.
    Path(Vec<&'a str>),
}

/// A declaration of type names.
#[derive(Debug)]
pub(super) enum Declaration<'a> {
    /// A structure, a variant or an enumeration with a name.
    Type(TypeTree<'a>),
    /// `typedef type declarator, declarator;`
    Typedef(TypeTree<'a>, Vec<Declarator<'a>>),
    /// `typealias type declarator := name;`
    Alias {
        /// Offset of the new name in the text.
        at: u32,
        /// The type.
        class: TypeTree<'a>,
        /// Stars and lengths after the type.
        declarator: Declarator<'a>,
        /// The words and stars of the new name.
        name: Vec<&'a str>,
    },
}

/// A type, not yet resolved.
#[derive(Debug)]
pub(super) struct TypeTree<'a> {
    /// Offset in the text.
    pub at: u32,
    /// The kind and its parts.
    pub kind: TypeKind<'a>,
}

/// A kind of type.
#[derive(Debug)]
pub(super) enum TypeKind<'a> {
    /// The words of a name, such as `unsigned long`.
    Named(Vec<&'a str>),
    Integer(Vec<Attribute<'a>>),
    Float(Vec<Attribute<'a>>),
    String(Vec<Attribute<'a>>),
    Structure {
        name: Option<&'a str>,
        members: Option<Vec<MemberTree<'a>>>,
        /// The minimum alignment, and its offset in the text.
        alignment: Option<(u64, u32)>,
    },
    Variant {
        name: Option<&'a str>,
        tag: Option<PathTree<'a>>,
        members: Option<Vec<MemberTree<'a>>>,
    },
    Enumeration {
        name: Option<&'a str>,
        container: Option<Box<TypeTree<'a>>>,
        labels: Option<Vec<LabelTree>>,
    },
}

/// A member of a structure, or an option of a variant.
#[derive(Debug)]
pub(super) enum MemberTree<'a> {
    /// Fields of one type.
    Fields(TypeTree<'a>, Vec<Declarator<'a>>),
    /// A type or an alias.
    Declaration(Declaration<'a>),
}

/// A label of an enumeration.
#[derive(Debug)]
pub(super) struct LabelTree {
    /// Offset in the text.
    pub at: u32,
    /// The label, without quotes.
    pub label: String,
    /// The first and the last value, if the text contains them.
    pub values: Option<(i128, i128)>,
}

/// A name with its stars and lengths.
#[derive(Debug)]
pub(super) struct Declarator<'a> {
    /// Offset in the text.
    pub at: u32,
    /// Number of stars, one for each level of pointers.
    pub stars: usize,
    /// The name; `None` in an alias.
    pub name: Option<&'a str>,
    /// Lengths, the outermost first.
    pub lengths: Vec<LengthTree<'a>>,
}

/// A length of an array.
#[derive(Debug)]
pub(super) enum LengthTree<'a> {
    Number(u64),
    Field(PathTree<'a>),
}

/// A path to a field.
#[derive(Debug)]
pub(super) struct PathTree<'a> {
    /// Offset in the text.
    pub at: u32,
    /// The words between the dots, at least one.
    pub words: Vec<&'a str>,
}

/// The words that cannot be names of fields.
pub(super) const KEYWORDS: [&str; 28] = [
    "_Bool",
    "_Complex",
    "_Imaginary",
    "align",
    "callsite",
    "char",
    "clock",
    "const",
    "double",
    "enum",
    "env",
    "event",
    "float",
    "floating_point",
    "int",
    "integer",
    "long",
    "short",
    "signed",
    "stream",
    "string",
    "struct",
    "trace",
    "typealias",
    "typedef",
    "unsigned",
    "variant",
    "void",
];

/// The words of C that can be parts of type names.
pub(super) const TYPE_WORDS: [&str; 12] = [
    "_Bool",
    "_Complex",
    "_Imaginary",
    "char",
    "double",
    "float",
    "int",
    "long",
    "short",
    "signed",
    "unsigned",
    "void",
];
