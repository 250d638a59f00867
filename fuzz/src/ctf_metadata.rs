//! Fuzz target for metadata of CTF.

use std::collections::HashSet;

use tracewell::format::ctf::classes::{
    Choice, Class, Integer, Length, Location, Metadata, Structure,
};
use tracewell::format::ctf::metadata::{self, MAX_ALIGNMENT, MAX_WARNINGS};

/// The structures of an event's scopes, in the order in which they are read.
type Scopes<'a> = [Option<&'a Structure>; 6];

/// Reads any bytes as metadata of either language. Checks that positions are in the text, that ids
/// are unique, and that each reference leads to an integer in the same scope or in an earlier
/// scope.
pub fn ctf_metadata(data: &[u8]) {
    match metadata::read(data) {
        Ok(parsed) => {
            assert!(parsed.warnings.len() <= MAX_WARNINGS);
            for warning in &parsed.warnings {
                assert!(warning.offset <= data.len() && warning.line > 0 && warning.column > 0);
            }
            check(&parsed.metadata);
        }
        Err(error) => {
            assert!(error.offset <= data.len() && error.line > 0 && error.column > 0);
            assert!(!error.message.is_empty() && !error.message.contains(['\n', '\0']));
        }
    }
}

fn check(metadata: &Metadata) {
    let mut ids = HashSet::new();
    for stream in &metadata.streams {
        assert!(ids.insert(stream.id));
        assert!(stream.clock.is_none_or(|clock| clock < metadata.clocks.len()));
        let mut scopes: Scopes<'_> = [None; 6];
        scopes[0] = metadata.packet_header.as_deref();
        scopes[1] = stream.packet_context.as_deref();
        scopes[2] = stream.event_header.as_deref();
        scopes[3] = stream.common_context.as_deref();
        for index in 0..4 {
            scope(&scopes, index);
        }
        let mut events = HashSet::new();
        for event in &stream.events {
            assert!(events.insert(event.id));
            scopes[4] = event.specific_context.as_deref();
            scopes[5] = event.payload.as_deref();
            scope(&scopes, 4);
            scope(&scopes, 5);
        }
    }
    assert!(metadata.clocks.iter().all(|clock| clock.frequency > 0));
}

fn scope(scopes: &Scopes<'_>, index: usize) {
    if let Some(root) = scopes[index] {
        structure(root, scopes, index);
    }
}

fn structure(parent: &Structure, scopes: &Scopes<'_>, scope: usize) {
    alignment(parent.alignment);
    for member in &parent.members {
        class(&member.class, scopes, scope);
    }
}

fn class(class_of_field: &Class, scopes: &Scopes<'_>, scope: usize) {
    match class_of_field {
        Class::Integer(number) | Class::Variable(number) => integer(number),
        Class::Float(float) => {
            assert!(matches!(float.bits, 32 | 64));
            alignment(float.alignment);
        }
        Class::Text(_) => {}
        Class::SizedText { length, .. } | Class::Blob { length, .. } => {
            check_length(length, scopes, scope);
        }
        Class::Structure(child) => structure(child, scopes, scope),
        Class::Array(array) => {
            alignment(array.alignment);
            check_length(&array.length, scopes, scope);
            class(&array.element, scopes, scope);
        }
        Class::Optional(parent) | Class::Variant(parent) => choice(parent, scopes, scope),
    }
}

fn integer(number: &Integer) {
    assert!((1..=64).contains(&number.bits) && matches!(number.base, 2 | 8 | 10 | 16));
    alignment(number.alignment);
    assert!(number.mappings.iter().all(|mapping| mapping.low <= mapping.high));
}

fn alignment(bits: u32) {
    assert!(bits.is_power_of_two() && bits <= MAX_ALIGNMENT);
}

fn choice(parent: &Choice, scopes: &Scopes<'_>, scope: usize) {
    location(&parent.selector, scopes, scope);
    for option in &parent.options {
        assert!(option.values.iter().all(|(low, high)| low <= high));
        class(&option.class, scopes, scope);
    }
}

fn check_length(length: &Length, scopes: &Scopes<'_>, scope: usize) {
    if let Length::Field(place) = length {
        location(place, scopes, scope);
    }
}

/// Checks that each path of a reference leads to an integer.
fn location(place: &Location, scopes: &Scopes<'_>, scope: usize) {
    assert!(place.scope as usize <= scope && !place.paths.is_empty());
    for path in &place.paths {
        let mut indices = path.iter().map(|index| *index as usize);
        let root = scopes[place.scope as usize].expect("the scope exists");
        let first = indices.next().expect("a path has an index");
        let mut field = &root.members[first].class;
        loop {
            field = match field {
                Class::Integer(_) | Class::Variable(_) => break,
                Class::Array(array) => &array.element,
                Class::Structure(parent) => {
                    &parent.members[indices.next().expect("an index of a member")].class
                }
                Class::Optional(parent) | Class::Variant(parent) => {
                    &parent.options[indices.next().expect("an index of an option")].class
                }
                other => panic!("{other:?} is no integer"),
            };
        }
        assert_eq!(indices.next(), None);
    }
}
