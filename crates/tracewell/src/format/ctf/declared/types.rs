//! Types as metadata declares them, before references between fields are resolved. The parsers of
//! both languages produce this form. Fields that use one type share it.
//!
//! `metadata::place` converts these types to the classes of each place at which they are used.

use std::collections::HashMap;
use std::sync::Arc;

use super::fault::{Fault, fault};
use super::limits::{MAX_DEPTH, MAX_FIELDS};
use crate::format::ctf::classes::{Encoding, Float, Integer, IntegerKind, Scope};

/// A declared type.
#[derive(Clone, Debug)]
pub(crate) enum Type {
    /// A number of fixed or variable length.
    Integer(Arc<IntegerType>),
    /// A floating-point number.
    Float(Float),
    /// A string that ends with a NUL.
    Text(Encoding),
    /// A string with a length.
    SizedText {
        /// Length in bytes.
        length: LengthType,
        /// Encoding.
        encoding: Encoding,
    },
    /// Bytes.
    Blob {
        /// Length in bytes.
        length: LengthType,
        /// True for the identifier of the metadata.
        is_uuid: bool,
    },
    /// Members.
    Structure(Arc<StructureType>),
    /// Elements.
    Array(Arc<ArrayType>),
    /// Options.
    Choice(Arc<ChoiceType>),
    /// A type that this program cannot read, with the reason. A field with this type is an error.
    Unsupported(Arc<str>),
}

/// A number.
#[derive(Debug)]
pub(crate) struct IntegerType {
    /// The number. Its roles are candidates; the module `roles` selects those that apply.
    pub class: Arc<Integer>,
    /// True if values have a variable length, in LEB128.
    pub is_variable: bool,
    /// The clock to which the number is mapped: its index in the metadata's list.
    pub clock: Option<usize>,
}

/// A structure.
#[derive(Debug)]
pub(crate) struct StructureType {
    /// Number of the structure's body, unique in the metadata.
    pub body: u32,
    /// The members, in the order of the bytes.
    pub members: Vec<MemberType>,
    /// Index of each member by its name, if the structure has many members.
    by_name: HashMap<Arc<str>, usize>,
    /// Depth, size and alignment.
    pub shape: Shape,
}

/// A member of a structure.
#[derive(Debug)]
pub(crate) struct MemberType {
    /// Offset of the declaration in the text.
    pub at: u32,
    /// The name as the metadata declares it; references use it.
    pub name: Arc<str>,
    /// The name for display.
    pub shown: Arc<str>,
    /// The type of the field.
    pub class: Type,
}

/// An array.
#[derive(Debug)]
pub(crate) struct ArrayType {
    /// Number of elements, or the field that contains this number.
    pub length: LengthType,
    /// The type of each element.
    pub element: Type,
    /// Depth, size and alignment.
    pub shape: Shape,
}

/// An optional field or a variant.
#[derive(Clone, Debug)]
pub(crate) struct ChoiceType {
    /// True for an optional field, which has one option.
    pub is_optional: bool,
    /// The number that selects the option. `None` for a variant without a tag; no field can have
    /// such a type.
    pub selector: Option<Arc<Reference>>,
    /// The options, in the order of the text.
    pub options: Arc<[OptionType]>,
    /// Depth, size and alignment.
    pub shape: Shape,
}

/// An option.
#[derive(Debug)]
pub(crate) struct OptionType {
    /// Offset of the declaration in the text.
    pub at: u32,
    /// The name as the metadata declares it.
    pub name: Arc<str>,
    /// The name for display.
    pub shown: Arc<str>,
    /// The values that select the option. `None` in CTF 1.8, in which the selector's labels
    /// determine these values.
    pub values: Option<Vec<(i128, i128)>>,
    /// The type of the field.
    pub class: Type,
}

/// A length.
#[derive(Clone, Debug)]
pub(crate) enum LengthType {
    /// A number in the metadata.
    Fixed(u64),
    /// A field.
    Field(Arc<Reference>),
}

/// A reference to a field.
#[derive(Debug)]
pub(crate) struct Reference {
    /// Offset of the reference in the text.
    pub at: u32,
    /// Number of the structure body in which the reference is written; `None` outside of bodies.
    pub body: Option<u32>,
    /// The structure in which the search for the names starts.
    pub origin: Origin,
    /// Names of members, the outermost first; at least one.
    pub names: Vec<Arc<str>>,
}

/// The place at which the search for a reference's names starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// The root structure of a scope.
    Scope(Scope),
    /// The innermost structure that has a preceding member with the first name (CTF 1.8).
    Nearest,
    /// The structure that is this number of levels above the innermost one (CTF 2).
    Up(u32),
}

/// Depth, size and alignment of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    /// Number of nested types, at least 1.
    pub depth: u32,
    /// Number of fields, including the field itself; at least 1.
    pub fields: u64,
    /// True if the type contains no reference and no clock, so its class is the same at each place.
    pub is_closed: bool,
    /// Alignment of the type in bits.
    pub alignment: u32,
}

impl Shape {
    /// Returns the shape of a type that has no parts.
    fn leaf(alignment: u32, is_closed: bool) -> Self {
        Self { depth: 1, fields: 1, is_closed, alignment }
    }

    /// Returns the shape of a type with these parts and at least this alignment.
    ///
    /// # Errors
    /// Returns an error at `at` if the type is nested too deeply or has too many fields.
    pub(crate) fn around<'a>(
        at: u32,
        alignment: u32,
        parts: impl Iterator<Item = &'a Type>,
    ) -> Result<Self, Fault> {
        let mut shape = Self::leaf(alignment, true);
        for part in parts {
            let part = part.shape();
            shape.depth = shape.depth.max(part.depth + 1);
            shape.fields = shape.fields.saturating_add(part.fields);
            shape.is_closed &= part.is_closed;
            shape.alignment = shape.alignment.max(part.alignment);
        }
        if shape.depth > MAX_DEPTH {
            return Err(fault(
                at,
                format!("expected at most {MAX_DEPTH} nested types, found more"),
            ));
        }
        if shape.fields > MAX_FIELDS {
            return Err(fault(at, format!("expected at most {MAX_FIELDS} fields, found more")));
        }
        Ok(shape)
    }
}

/// Maximum number of members that are searched without a map.
const SMALL: usize = 32;

impl StructureType {
    /// Returns the index of the member with this name.
    pub(crate) fn index_of(&self, name: &str) -> Option<usize> {
        match self.by_name.is_empty() {
            true => self.members.iter().position(|member| *member.name == *name),
            false => self.by_name.get(name).copied(),
        }
    }
}

impl LengthType {
    /// Returns true if the length is a number.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }
}

impl Type {
    /// Returns the depth, the size and the alignment.
    pub(crate) fn shape(&self) -> Shape {
        match self {
            Self::Integer(integer) => Shape::leaf(integer.class.alignment, integer.clock.is_none()),
            Self::Float(float) => Shape::leaf(float.alignment, true),
            Self::Text(_) => Shape::leaf(8, true),
            Self::SizedText { length, .. } | Self::Blob { length, .. } => {
                Shape::leaf(8, length.is_fixed())
            }
            Self::Structure(structure) => structure.shape,
            Self::Array(array) => array.shape,
            Self::Choice(choice) => choice.shape,
            Self::Unsupported(_) => Shape::leaf(1, false),
        }
    }

    /// Creates an array. It is aligned like its elements, but at least to `alignment`.
    ///
    /// # Errors
    /// Returns an error at `at` if types are nested too deeply.
    pub(crate) fn array(
        at: u32,
        alignment: u32,
        length: LengthType,
        element: Self,
    ) -> Result<Self, Fault> {
        let mut shape = Shape::around(at, alignment, [&element].into_iter())?;
        shape.is_closed &= length.is_fixed();
        Ok(Self::Array(Arc::new(ArrayType { length, element, shape })))
    }

    /// Creates a structure.
    ///
    /// # Errors
    /// Returns an error at `at` if types are nested too deeply or have too many fields.
    pub(crate) fn structure(
        at: u32,
        body: u32,
        alignment: u32,
        members: Vec<MemberType>,
    ) -> Result<Self, Fault> {
        let shape = Shape::around(at, alignment, members.iter().map(|member| &member.class))?;
        let named = members.iter().enumerate().filter(|_| members.len() > SMALL);
        let by_name = named.map(|(index, member)| (Arc::clone(&member.name), index)).collect();
        Ok(Self::Structure(Arc::new(StructureType { body, members, by_name, shape })))
    }

    /// Creates an optional field or a variant, which has no alignment of its own.
    ///
    /// # Errors
    /// Returns an error at `at` if types are nested too deeply or have too many fields.
    pub(crate) fn choice(
        at: u32,
        is_optional: bool,
        selector: Option<Arc<Reference>>,
        options: Vec<OptionType>,
    ) -> Result<Self, Fault> {
        let parts = options.iter().map(|option| &option.class);
        let shape = Shape::around(at, 1, parts)?;
        let shape = Shape { alignment: 1, is_closed: false, ..shape };
        let options = options.into();
        Ok(Self::Choice(Arc::new(ChoiceType { is_optional, selector, options, shape })))
    }

    /// Returns the kind of type for messages, such as "a text".
    pub(crate) fn described(&self) -> &'static str {
        match self {
            Self::Integer(integer) => match integer.class.kind {
                IntegerKind::Unsigned => "an unsigned integer",
                IntegerKind::Signed => "a signed integer",
                IntegerKind::BitArray => "a bit array",
                IntegerKind::BitMap => "a bit map",
                IntegerKind::Boolean => "a boolean",
            },
            Self::Float(_) => "a floating-point number",
            Self::Text(_) | Self::SizedText { .. } => "a text",
            Self::Blob { .. } => "a blob",
            Self::Structure(_) => "a structure",
            Self::Array(_) => "an array",
            Self::Choice(choice) if choice.is_optional => "an optional field",
            Self::Choice(_) => "a variant",
            Self::Unsupported(_) => "an unsupported type",
        }
    }
}
