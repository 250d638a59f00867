//! Structures and arrays as values of arguments: their types in the metadata, and their bytes.
//!
//! An array becomes a sequence. All elements of a sequence in CTF have one type. If the elements of
//! an array have different types, the whole argument is written as JSON text.

use std::iter::Peekable;

use super::bytes::{put_bytes, put_length, put_text};
use super::names::{identifiers, length_of};
use crate::export::events::put_nested_json;
use crate::model::values::{ListItem, list_items};
use crate::text::TextBuffer;

/// Maximum depth of nested values. An argument with deeper values is written as text.
const MAX_DEPTH: usize = 64;

/// The type of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// A value that has no parts, and the name of its type.
    Leaf(&'static str),
    /// A field that the record lacks.
    Absent,
    Bytes,
    /// Identifiers and types.
    Structure(Vec<(String, Self)>),
    /// The type of the elements; `None` if the array is empty.
    Array(Option<Box<Self>>),
    /// A value without a type in CTF, which is written as JSON text.
    Json,
}

/// A value and its parts.
enum Node<'a> {
    Leaf(ListItem<'a>),
    Structure(Vec<(&'a [u8], Self)>),
    Array(Vec<Self>),
}

/// Returns the type of a nested value.
pub(super) fn shape(list: &[u8]) -> Shape {
    node(list).and_then(|node| shape_of(&node)).unwrap_or(Shape::Json)
}

/// Appends a nested value of this type. `digits` is the number of digits of addresses in text.
pub(super) fn put(out: &mut Vec<u8>, shape: &Shape, list: &[u8], digits: usize) {
    match node(list) {
        Some(node) if *shape != Shape::Json => put_node(out, &node),
        _ => {
            let mut text = TextBuffer::default();
            put_nested_json(&mut text, list, digits);
            put_text(out, text.as_bytes());
        }
    }
}

/// Returns the declaration of a field of this type.
pub(super) fn declaration(shape: &Shape, name: &str) -> String {
    let (element, is_sequence) = match shape {
        Shape::Leaf(leaf) => ((*leaf).to_owned(), false),
        Shape::Json => ("string".to_owned(), false),
        Shape::Absent => ("struct { }".to_owned(), false),
        Shape::Structure(fields) => {
            let fields = fields.iter().map(|(name, shape)| declaration(shape, name));
            (format!("struct {{ {} }}", fields.collect::<Vec<_>>().join(" ")), false)
        }
        Shape::Bytes => ("x8".to_owned(), true),
        // An empty array can have any type of elements.
        Shape::Array(None) => ("u8".to_owned(), true),
        Shape::Array(Some(element)) => (element_type(element), true),
    };
    match is_sequence {
        true => format!("u32 {0}; {element} {name}[{0}];", length_of(name)),
        false => format!("{element} {name};"),
    }
}

/// Returns the type of an element. An element that is a sequence becomes a structure that contains
/// the length and the sequence.
fn element_type(shape: &Shape) -> String {
    match shape {
        Shape::Bytes | Shape::Array(_) => format!("struct {{ {} }}", declaration(shape, "_items")),
        _ => declaration(shape, "").trim_end_matches(" ;").to_owned(),
    }
}

fn node(list: &[u8]) -> Option<Node<'_>> {
    read(&mut list_items(list).peekable(), 0)
}

fn read<'a>(
    items: &mut Peekable<impl Iterator<Item = ListItem<'a>>>,
    depth: usize,
) -> Option<Node<'a>> {
    use crate::model::values::Nesting::{Array, Structure};
    if depth > MAX_DEPTH {
        return None;
    }
    let is_end = |item: &ListItem<'_>| matches!(item, ListItem::Close(_));
    match items.next()? {
        ListItem::Open(Array) => {
            let mut elements = Vec::new();
            while items.next_if(is_end).is_none() {
                elements.push(read(items, depth + 1)?);
            }
            Some(Node::Array(elements))
        }
        ListItem::Open(Structure) => {
            let mut fields = Vec::new();
            while items.next_if(is_end).is_none() {
                let name = match items.peek()? {
                    ListItem::Name(name) => *name,
                    // The value of a variant is stored without a name.
                    _ => b"value",
                };
                items.next_if(|item| matches!(item, ListItem::Name(_)));
                fields.push((name, read(items, depth + 1)?));
            }
            Some(Node::Structure(fields))
        }
        ListItem::Name(_) | ListItem::Close(_) => None,
        leaf => Some(Node::Leaf(leaf)),
    }
}

fn shape_of(node: &Node<'_>) -> Option<Shape> {
    Some(match node {
        Node::Leaf(ListItem::Bytes(_)) => Shape::Bytes,
        Node::Leaf(ListItem::Absent) => Shape::Absent,
        Node::Leaf(leaf) => Shape::Leaf(match leaf {
            ListItem::Signed(..) => "i64",
            ListItem::Hex(..) | ListItem::Object(..) => "x64",
            ListItem::Float(_) => "f64",
            ListItem::Text(_) => "string",
            _ => "u64",
        }),
        Node::Structure(fields) => {
            let names: Vec<_> =
                fields.iter().map(|(name, _)| String::from_utf8_lossy(name)).collect();
            // Fields of the metadata need unique identifiers.
            let names = identifiers(names.iter().map(|name| &**name));
            let shapes = fields.iter().map(|(_, field)| shape_of(field));
            Shape::Structure(names.into_iter().zip(shapes.collect::<Option<Vec<_>>>()?).collect())
        }
        Node::Array(elements) => {
            let mut shapes = elements.iter().map(shape_of);
            // An empty array has no type of elements. It fits every other array.
            let Some(first) = shapes.next() else { return Some(Shape::Array(None)) };
            let element = shapes.try_fold(first?, |joined, shape| unified(joined, shape?));
            Shape::Array(Some(Box::new(element?)))
        }
    })
}

/// Returns a type that fits the values of both types, or `None` if there is no such type. Both
/// types must be equal, except that an empty array fits every array type.
fn unified(one: Shape, other: Shape) -> Option<Shape> {
    match (one, other) {
        (one, other) if one == other => Some(one),
        (Shape::Array(None), array @ Shape::Array(_))
        | (array @ Shape::Array(_), Shape::Array(None)) => Some(array),
        (Shape::Array(Some(one)), Shape::Array(Some(other))) => {
            unified(*one, *other).map(|shape| Shape::Array(Some(Box::new(shape))))
        }
        (Shape::Structure(one), Shape::Structure(other)) if one.len() == other.len() => {
            let fields = one.into_iter().zip(other).map(|((name, one), (same, other))| {
                (name == same).then_some(())?;
                Some((name, unified(one, other)?))
            });
            fields.collect::<Option<Vec<_>>>().map(Shape::Structure)
        }
        _ => None,
    }
}

fn put_node(out: &mut Vec<u8>, node: &Node<'_>) {
    match node {
        Node::Leaf(leaf) => match *leaf {
            ListItem::Signed(value, _) => out.extend(value.to_le_bytes()),
            ListItem::Unsigned(value, _)
            | ListItem::Hex(value, _)
            | ListItem::Object(value, _)
            | ListItem::Float(value) => out.extend(value.to_le_bytes()),
            ListItem::Text(text) => put_text(out, text),
            ListItem::Bytes(bytes) => put_bytes(out, bytes),
            ListItem::Absent | ListItem::Name(_) | ListItem::Open(_) | ListItem::Close(_) => {}
        },
        Node::Structure(fields) => fields.iter().for_each(|(_, field)| put_node(out, field)),
        Node::Array(elements) => {
            put_length(out, elements.len());
            elements.iter().for_each(|element| put_node(out, element));
        }
    }
}
