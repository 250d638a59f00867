//! Finds the fields that references denote.
//!
//! The frames of a reference are the structures, arrays and choices that contain the referring
//! field. The path of a reference begins in one of these structures, or in the root of an earlier
//! scope. In a choice or array that contains the referring field, the path continues in the same
//! option or element. In any other choice, each option must contain the target. A path cannot enter
//! any other array.

use std::sync::Arc;

use crate::format::ctf::classes::{Location, Scope};
use crate::format::ctf::declared::fault::{Fault, fault};
use crate::format::ctf::declared::ranges::without_underscore;
use crate::format::ctf::declared::types::{
    ChoiceType, IntegerType, Origin, Reference, StructureType, Type,
};

/// Maximum number of fields to which one reference can refer. The fields are in different options.
const MAX_TARGETS: usize = 1 << 10;

/// A type that contains the referring field.
pub(super) enum Frame {
    /// A structure, and the index of the member.
    Structure(Arc<StructureType>, usize),
    /// A choice, with the index of the option.
    Choice(usize),
    /// An array.
    Array,
}

/// The root structures of the scopes, by [`Scope`].
pub(super) type Roots = [Option<Arc<StructureType>>; 6];

/// The fields that a reference denotes.
#[derive(Debug)]
pub(super) struct Found {
    /// The location of the fields.
    pub location: Location,
    /// Their types, at least one.
    pub integers: Vec<Arc<IntegerType>>,
}

/// Returns the fields that a reference denotes. `scope` is the scope of the referring field, and
/// `frames` are the types that contain it.
///
/// # Errors
/// Returns an error if the reference does not denote a number before the referring field.
pub(super) fn find(
    reference: &Reference,
    scope: Scope,
    roots: &Roots,
    frames: &[Frame],
) -> Result<Found, Fault> {
    let mut search =
        Search { reference, frames, path: Vec::new(), paths: Vec::new(), integers: Vec::new() };
    let target = match reference.origin {
        Origin::Scope(origin) if origin != scope => {
            let root = roots[origin as usize].as_ref().filter(|_| origin < scope);
            let root = root.ok_or_else(|| search.missing(&reference.names[0]))?;
            search.structure(root, &reference.names, None)?;
            origin
        }
        Origin::Scope(_) => {
            search.inside_frame(0)?;
            scope
        }
        Origin::Up(levels) => {
            let structures = (0..frames.len()).rev().filter(|index| is_structure(&frames[*index]));
            let index = structures.into_iter().nth(levels as usize);
            let index = index.ok_or_else(|| {
                let limit = "at most one null for each enclosing structure below the root";
                fault(reference.at, format!("expected {limit}, found {levels}"))
            })?;
            search.inside_frame(index)?;
            scope
        }
        Origin::Nearest => {
            let index = search.nearest();
            search.inside_frame(index.ok_or_else(|| search.missing(&reference.names[0]))?)?;
            scope
        }
    };
    let Search { paths, integers, .. } = search;
    Ok(Found { location: Location { scope: target, paths }, integers })
}

/// Returns true if the frame is a structure.
fn is_structure(frame: &Frame) -> bool {
    matches!(frame, Frame::Structure(..))
}

/// The search for the fields of one reference.
struct Search<'a> {
    reference: &'a Reference,
    frames: &'a [Frame],
    /// Indices from the root of the scope to the current type.
    path: Vec<u32>,
    paths: Vec<Vec<u32>>,
    integers: Vec<Arc<IntegerType>>,
}

impl Search<'_> {
    /// Returns the index of the innermost structure that has a member with the reference's first
    /// name. This member must precede the member that contains the reference. The search starts at
    /// the structure in whose body the reference is written. If this structure is not among the
    /// frames, the search starts at the innermost structure.
    fn nearest(&self) -> Option<usize> {
        let written = |frame: &Frame| match frame {
            Frame::Structure(structure, _) => Some(structure.body) == self.reference.body,
            _ => false,
        };
        let start = self.frames.iter().rposition(written).unwrap_or(self.frames.len() - 1);
        (0..=start).rev().find(|index| match &self.frames[*index] {
            Frame::Structure(structure, member) => {
                structure.index_of(&self.reference.names[0]).is_some_and(|index| index < *member)
            }
            _ => false,
        })
    }

    /// Follows the names, beginning at the structure of a frame.
    fn inside_frame(&mut self, index: usize) -> Result<(), Fault> {
        self.path.extend(self.frames[..index].iter().filter_map(|frame| match frame {
            Frame::Structure(_, index) | Frame::Choice(index) => Some(*index as u32),
            Frame::Array => None,
        }));
        let Some(Frame::Structure(structure, _)) = self.frames.get(index) else {
            return Err(self.missing(&self.reference.names[0]));
        };
        self.structure(structure, &self.reference.names, Some(index))
    }

    /// Follows the names, beginning at a structure. `frame` is the frame of the structure if the
    /// structure contains the referring field.
    fn structure(
        &mut self,
        structure: &StructureType,
        names: &[Arc<str>],
        frame: Option<usize>,
    ) -> Result<(), Fault> {
        let Some((name, rest)) = names.split_first() else {
            return Err(self.unusable("a structure"));
        };
        let index = structure.index_of(name).ok_or_else(|| self.missing(name))?;
        let inner = match frame.and_then(|frame| self.frames.get(frame)) {
            Some(Frame::Structure(_, member)) if index > *member => {
                return Err(fault(
                    self.reference.at,
                    format!("expected a field before this one, found '{name}', which follows it"),
                ));
            }
            Some(Frame::Structure(_, member)) if index == *member => frame.map(|frame| frame + 1),
            _ => None,
        };
        self.path.push(index as u32);
        self.class(&structure.members[index].class, rest, inner)?;
        self.path.pop();
        Ok(())
    }

    /// Follows the names, beginning at a type.
    fn class(
        &mut self,
        class: &Type,
        names: &[Arc<str>],
        frame: Option<usize>,
    ) -> Result<(), Fault> {
        match class {
            Type::Integer(integer) if names.is_empty() => {
                if self.paths.len() == MAX_TARGETS {
                    let message = format!("expected at most {MAX_TARGETS} options with this field");
                    return Err(fault(self.reference.at, message));
                }
                self.paths.push(self.path.clone());
                self.integers.push(Arc::clone(integer));
                Ok(())
            }
            Type::Integer(_) => {
                let message = format!("expected a structure with '{}', found an integer", names[0]);
                Err(fault(self.reference.at, message))
            }
            Type::Structure(structure) => self.structure(structure, names, frame),
            Type::Choice(choice) => self.choice(choice, names, frame),
            Type::Array(array) => match frame.and_then(|frame| self.frames.get(frame)) {
                Some(Frame::Array) => {
                    self.class(&array.element, names, frame.map(|frame| frame + 1))
                }
                _ => Err(self.unusable("an array")),
            },
            other => Err(self.unusable(other.described())),
        }
    }

    /// Follows the names into the option that contains the referring field. If no option contains
    /// it, follows them into all options. The next name can also be the name of an option.
    fn choice(
        &mut self,
        choice: &ChoiceType,
        names: &[Arc<str>],
        frame: Option<usize>,
    ) -> Result<(), Fault> {
        if let Some(Frame::Choice(option)) = frame.and_then(|frame| self.frames.get(frame)) {
            return self.option(choice, *option, names, frame.map(|frame| frame + 1));
        }
        let (depth, found) = (self.path.len(), self.paths.len());
        let all =
            (0..choice.options.len()).try_for_each(|index| self.option(choice, index, names, None));
        let Err(error) = all else {
            return match choice.options.is_empty() {
                true => Err(self.unusable("a variant without options")),
                false => Ok(()),
            };
        };
        let named = names.first().and_then(|name| {
            choice.options.iter().position(|option| {
                !choice.is_optional && without_underscore(&option.name) == without_underscore(name)
            })
        });
        self.path.truncate(depth);
        self.paths.truncate(found);
        self.integers.truncate(found);
        named.map_or(Err(error), |index| self.option(choice, index, &names[1..], None))
    }

    /// Follows the names into one option.
    fn option(
        &mut self,
        choice: &ChoiceType,
        index: usize,
        names: &[Arc<str>],
        frame: Option<usize>,
    ) -> Result<(), Fault> {
        self.path.push(index as u32);
        self.class(&choice.options[index].class, names, frame)?;
        self.path.pop();
        Ok(())
    }

    /// Returns the error for a name that does not exist.
    fn missing(&self, name: &str) -> Fault {
        let message = format!("expected the name of a field before this one, found '{name}'");
        fault(self.reference.at, message)
    }

    /// Returns the error for a field of the wrong kind.
    fn unusable(&self, found: &str) -> Fault {
        let names: Vec<&str> = self.reference.names.iter().map(|name| &**name).collect();
        let names = names.join(".");
        fault(self.reference.at, format!("expected an integer '{names}', found {found}"))
    }
}
