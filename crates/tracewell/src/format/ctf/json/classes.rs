//! Field classes of CTF 2.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tracewell_wire::ByteOrder;

use super::object::Object;
use super::value::{Kind, Value};
use crate::format::ctf::classes::{Encoding, Float, Integer, IntegerKind, Mapping, Role, Scope};
use crate::format::ctf::declared::fault::{Fault, Log, fault};
use crate::format::ctf::declared::limits::{MAX_MAPPINGS, checked_alignment};
use crate::format::ctf::declared::types::{
    IntegerType, LengthType, MemberType, OptionType, Origin, Reference, Type,
};

/// The field classes read so far.
#[derive(Default)]
pub(super) struct Classes {
    /// The field classes that have names.
    aliases: HashMap<String, Type>,
    /// Number of structures read so far.
    bodies: u32,
}

/// Properties of numbers of fixed length.
const FIXED: &[&str] = &["length", "byte-order", "bit-order", "alignment"];

/// Properties of integers.
const INTEGER: &[&str] = &["preferred-display-base", "mappings", "roles"];

impl Classes {
    /// Declares a name for a field class.
    pub(super) fn alias(
        &mut self,
        name: &Value,
        class: &Value,
        log: &mut Log,
    ) -> Result<(), Fault> {
        let class = self.class(class, log)?;
        match self.aliases.insert(name.text()?.to_owned(), class) {
            Some(_) => Err(name.expected("a new name of a field class")),
            None => Ok(()),
        }
    }

    /// Returns the type of a field class, which is given as an object or by name.
    pub(super) fn class(&mut self, value: &Value, log: &mut Log) -> Result<Type, Fault> {
        if let Kind::Text(name) = &value.kind {
            let class = self.aliases.get(name).cloned();
            return class.ok_or_else(|| value.expected("the name of a field class"));
        }
        let kind = Object::of(value)?.need("type")?;
        let object = |known: &[&[&str]], log: &mut Log| Object::part(value, known, log);
        if kind.text()?.ends_with("-enumeration") {
            log.warn_draft(kind.at);
        }
        match kind.text()? {
            "fixed-length-bit-array" => integer(object(&[FIXED], log)?, IntegerKind::BitArray, log),
            "fixed-length-bit-map" => {
                integer(object(&[FIXED, &["flags"]], log)?, IntegerKind::BitMap, log)
            }
            "fixed-length-boolean" => integer(object(&[FIXED], log)?, IntegerKind::Boolean, log),
            // The draft has separate classes for enumerations.
            "fixed-length-unsigned-integer" | "fixed-length-unsigned-enumeration" => {
                integer(object(&[FIXED, INTEGER], log)?, IntegerKind::Unsigned, log)
            }
            "fixed-length-signed-integer" | "fixed-length-signed-enumeration" => {
                integer(object(&[FIXED, INTEGER], log)?, IntegerKind::Signed, log)
            }
            "variable-length-unsigned-integer" | "variable-length-unsigned-enumeration" => {
                variable(object(&[INTEGER], log)?, IntegerKind::Unsigned, log)
            }
            "variable-length-signed-integer" | "variable-length-signed-enumeration" => {
                variable(object(&[INTEGER], log)?, IntegerKind::Signed, log)
            }
            "fixed-length-floating-point-number" => float(object(&[FIXED], log)?),
            "null-terminated-string" => Ok(Type::Text(encoding(object(&[&["encoding"]], log)?)?)),
            "static-length-string" => {
                let object = object(&[&["length", "encoding"]], log)?;
                Ok(Type::SizedText { length: fixed(object)?, encoding: encoding(object)? })
            }
            "dynamic-length-string" => {
                let object = object(&[&["length-field-location", "encoding"]], log)?;
                Ok(Type::SizedText { length: dynamic(object)?, encoding: encoding(object)? })
            }
            "static-length-blob" => {
                static_blob(object(&[&["length", "media-type", "roles"]], log)?, log)
            }
            "dynamic-length-blob" => {
                let object = object(&[&["length-field-location", "media-type"]], log)?;
                object.text("media-type")?;
                Ok(Type::Blob { length: dynamic(object)?, is_uuid: false })
            }
            "structure" => {
                let known = &["member-classes", "minimum-alignment"];
                self.structure(object(&[known], log)?, log)
            }
            "static-length-array" => {
                let known = &["length", "element-field-class", "minimum-alignment"];
                let object = object(&[known], log)?;
                self.array(object, fixed(object)?, log)
            }
            "dynamic-length-array" => {
                let known = &["length-field-location", "element-field-class", "minimum-alignment"];
                let object = object(&[known], log)?;
                self.array(object, dynamic(object)?, log)
            }
            "optional" => {
                let known = &["field-class", "selector-field-location", "selector-field-ranges"];
                self.optional(object(&[known], log)?, log)
            }
            "variant" => {
                self.variant(object(&[&["options", "selector-field-location"]], log)?, log)
            }
            _ => Err(kind.expected("the type of a field class")),
        }
    }

    fn structure(&mut self, object: Object<'_>, log: &mut Log) -> Result<Type, Fault> {
        let alignment = alignment(object, "minimum-alignment")?;
        let body = self.bodies;
        self.bodies += 1;
        let mut members = Vec::new();
        let mut names = HashSet::new();
        for value in object.get("member-classes").map_or(Ok(&[][..]), Value::list)? {
            let member = Object::part(value, &[&["name", "field-class"]], log)?;
            let name = member.need("name")?;
            if !names.insert(name.text()?) {
                return Err(name.expected("a new name of a member"));
            }
            let shown: Arc<str> = name.text()?.into();
            let class = self.class(member.need("field-class")?, log)?;
            members.push(MemberType { at: value.at, name: Arc::clone(&shown), shown, class });
        }
        Type::structure(object.at, body, alignment, members)
    }

    fn array(
        &mut self,
        object: Object<'_>,
        length: LengthType,
        log: &mut Log,
    ) -> Result<Type, Fault> {
        let element = self.class(object.need("element-field-class")?, log)?;
        Type::array(object.at, alignment(object, "minimum-alignment")?, length, element)
    }

    fn optional(&mut self, object: Object<'_>, log: &mut Log) -> Result<Type, Fault> {
        let class = self.class(object.need("field-class")?, log)?;
        let selector = location(object.need("selector-field-location")?)?;
        let values = object.get("selector-field-ranges").map(ranges).transpose()?;
        let name: Arc<str> = "".into();
        let option = OptionType {
            at: object.at,
            name: Arc::clone(&name),
            shown: name,
            values: Some(values.unwrap_or_default()),
            class,
        };
        Type::choice(object.at, true, Some(selector), vec![option])
    }

    fn variant(&mut self, object: Object<'_>, log: &mut Log) -> Result<Type, Fault> {
        let selector = location(object.need("selector-field-location")?)?;
        let mut options = Vec::new();
        let mut all = Vec::new();
        for value in object.need("options")?.list()? {
            let known = &["name", "field-class", "selector-field-ranges"];
            let option = Object::part(value, &[known], log)?;
            let name: Arc<str> = option.text("name")?.unwrap_or_default().into();
            let values = ranges(option.need("selector-field-ranges")?)?;
            let class = self.class(option.need("field-class")?, log)?;
            all.extend(values.iter().map(|(low, high)| (*low, *high, options.len(), value.at)));
            let values = Some(values);
            let shown = Arc::clone(&name);
            options.push(OptionType { at: value.at, name, shown, values, class });
        }
        all.sort_unstable();
        for pair in all.windows(2) {
            let [(_, first, one, _), (second, _, other, at)] = pair else { continue };
            if first >= second && one != other {
                let message =
                    format!("expected options with different values, found {second} twice");
                return Err(fault(*at, message));
            }
        }
        Type::choice(object.at, false, Some(selector), options)
    }
}

/// Returns the type of a number of fixed length.
fn integer(object: Object<'_>, kind: IntegerKind, log: &mut Log) -> Result<Type, Fault> {
    let (order, reversed) = orders(object)?;
    let length = object.need("length")?;
    let bits = match length.unsigned()? {
        0 => return Err(length.expected("a length of at least 1 bit")),
        bits @ ..=64 => bits as u8,
        bits => {
            let reason = format!("expected a field of at most 64 bits, found {bits} bits");
            return Ok(Type::Unsupported(reason.into()));
        }
    };
    let alignment = alignment(object, "alignment")?;
    let class = number(object, kind, log)?;
    let class = Integer { bits, alignment, order, reversed, ..class };
    Ok(Type::Integer(Arc::new(IntegerType {
        class: Arc::new(class),
        is_variable: false,
        clock: None,
    })))
}

/// Returns the type of a number of variable length.
fn variable(object: Object<'_>, kind: IntegerKind, log: &mut Log) -> Result<Type, Fault> {
    let class = Arc::new(number(object, kind, log)?);
    Ok(Type::Integer(Arc::new(IntegerType { class, is_variable: true, clock: None })))
}

/// Returns the parts of a number that do not depend on its length.
fn number(object: Object<'_>, kind: IntegerKind, log: &mut Log) -> Result<Integer, Fault> {
    let base = match object.get("preferred-display-base") {
        Some(base) => match base.unsigned()? {
            number @ (2 | 8 | 10 | 16) => number as u8,
            _ => return Err(base.expected("base 2, 8, 10 or 16")),
        },
        None => 10,
    };
    let labels = match kind {
        IntegerKind::BitMap => Some(object.need("flags")?),
        _ => object.get("mappings"),
    };
    let mappings = labels.map_or(Ok(Vec::new()), mappings)?;
    let negative = mappings.iter().find(|mapping| mapping.low < 0);
    if let (IntegerKind::BitMap | IntegerKind::Unsigned, Some(negative)) = (kind, negative) {
        let (low, at) = (negative.low, labels.map_or(object.at, |labels| labels.at));
        return Err(fault(at, format!("expected values from 0, found {low}")));
    }
    Ok(Integer {
        bits: 64,
        alignment: 8,
        order: ByteOrder::Little,
        reversed: false,
        kind,
        base,
        is_text: false,
        is_enumeration: labels.is_some() && kind != IntegerKind::BitMap,
        mappings,
        roles: object.get("roles").map_or(Ok(Vec::new()), |value| roles(value, kind, log))?,
    })
}

/// Returns the known roles.
fn roles(value: &Value, kind: IntegerKind, log: &mut Log) -> Result<Vec<Role>, Fault> {
    let mut roles = Vec::new();
    for value in value.list()? {
        let role = match value.text()? {
            _ if kind != IntegerKind::Unsigned => {
                log.warn(value.at, || "role of a signed integer, ignored".to_owned());
                continue;
            }
            "packet-magic-number" => Role::Magic,
            "data-stream-class-id" => Role::StreamClass,
            "data-stream-id" => Role::StreamInstance,
            "packet-total-length" => Role::PacketSize,
            "packet-content-length" => Role::ContentSize,
            "default-clock-timestamp" => Role::Time,
            "packet-end-default-clock-timestamp" => Role::EndTime,
            "discarded-event-record-counter-snapshot" => Role::Discarded,
            "packet-sequence-number" => Role::PacketNumber,
            "event-record-class-id" => Role::EventClass,
            other => {
                log.warn(value.at, || format!("unknown role '{other}', ignored"));
                continue;
            }
        };
        if !roles.contains(&role) {
            roles.push(role);
        }
    }
    Ok(roles)
}

/// Returns labels with their ranges.
fn mappings(value: &Value) -> Result<Vec<Mapping>, Fault> {
    let mut mappings = Vec::new();
    for (label, value) in Object::of(value)?.properties() {
        let label: Arc<str> = label.as_str().into();
        mappings.extend(ranges(value)?.into_iter().map(|(low, high)| Mapping {
            label: Arc::clone(&label),
            low,
            high,
        }));
        if mappings.len() > MAX_MAPPINGS {
            let message = format!("expected at most {MAX_MAPPINGS} ranges of labels, found more");
            return Err(fault(value.at, message));
        }
    }
    Ok(mappings)
}

/// Returns ranges of values, at least one.
fn ranges(value: &Value) -> Result<Vec<(i128, i128)>, Fault> {
    let ranges = value.list()?;
    if ranges.is_empty() || ranges.len() > MAX_MAPPINGS {
        return Err(value.expected(&format!("1 to {MAX_MAPPINGS} ranges")));
    }
    let range = |value: &Value| match value.list()? {
        [Value { kind: Kind::Integer(low), .. }, Value { kind: Kind::Integer(high), .. }]
            if low <= high && *low >= i64::MIN.into() && *high <= u64::MAX.into() =>
        {
            Ok((*low, *high))
        }
        _ => Err(value.expected("two integers of 64 bits in ascending order")),
    };
    ranges.iter().map(range).collect()
}

fn float(object: Object<'_>) -> Result<Type, Fault> {
    let (order, reversed) = orders(object)?;
    let alignment = alignment(object, "alignment")?;
    let length = object.need("length")?;
    Ok(match length.unsigned()? {
        bits @ (32 | 64) => Type::Float(Float { bits: bits as u8, alignment, order, reversed }),
        bits if bits == 16 || (bits >= 128 && bits % 32 == 0) => {
            let message =
                format!("expected a floating-point number of 32 or 64 bits, found {bits}");
            Type::Unsupported(message.into())
        }
        _ => return Err(length.expected("16, 32 or 64 bits, or a multiple of 32 from 128")),
    })
}

fn static_blob(object: Object<'_>, log: &mut Log) -> Result<Type, Fault> {
    object.text("media-type")?;
    let mut is_uuid = false;
    for role in object.get("roles").map_or(Ok(&[][..]), Value::list)? {
        match role.text()? {
            "metadata-stream-uuid" => is_uuid = true,
            other => log.warn(role.at, || format!("unknown role '{other}', ignored")),
        }
    }
    let length = object.need("length")?;
    if is_uuid && length.unsigned()? != 16 {
        return Err(length.expected("16 bytes for the UUID"));
    }
    Ok(Type::Blob { length: fixed(object)?, is_uuid })
}

/// Returns the byte order, and the value of [`Integer::reversed`].
fn orders(object: Object<'_>) -> Result<(ByteOrder, bool), Fault> {
    let value = object.need("byte-order")?;
    let order = match value.text()? {
        "little-endian" => ByteOrder::Little,
        "big-endian" => ByteOrder::Big,
        _ => return Err(value.expected("\"little-endian\" or \"big-endian\"")),
    };
    let Some(bits) = object.get("bit-order") else { return Ok((order, false)) };
    match bits.text()? {
        "first-to-last" => Ok((order, order == ByteOrder::Big)),
        "last-to-first" => Ok((order, order == ByteOrder::Little)),
        _ => Err(bits.expected("\"first-to-last\" or \"last-to-first\"")),
    }
}

fn alignment(object: Object<'_>, name: &str) -> Result<u32, Fault> {
    let Some(value) = object.get(name) else { return Ok(1) };
    checked_alignment(value.unsigned()?)
        .ok_or_else(|| value.expected("a power of two up to 65536 as alignment"))
}

fn encoding(object: Object<'_>) -> Result<Encoding, Fault> {
    let Some(value) = object.get("encoding") else { return Ok(Encoding::Utf8) };
    match value.text()? {
        "utf-8" => Ok(Encoding::Utf8),
        "utf-16le" => Ok(Encoding::Utf16(ByteOrder::Little)),
        "utf-16be" => Ok(Encoding::Utf16(ByteOrder::Big)),
        "utf-32le" => Ok(Encoding::Utf32(ByteOrder::Little)),
        "utf-32be" => Ok(Encoding::Utf32(ByteOrder::Big)),
        _ => Err(value.expected("encoding utf-8, utf-16le, utf-16be, utf-32le or utf-32be")),
    }
}

fn fixed(object: Object<'_>) -> Result<LengthType, Fault> {
    Ok(LengthType::Fixed(object.need("length")?.unsigned()?))
}

fn dynamic(object: Object<'_>) -> Result<LengthType, Fault> {
    Ok(LengthType::Field(location(object.need("length-field-location")?)?))
}

/// Returns the reference that a field location describes. The location is an object with `origin`
/// and `path` or, in the draft, an array that begins with the scope.
fn location(value: &Value) -> Result<Arc<Reference>, Fault> {
    let (origin, path) = match &value.kind {
        Kind::List(path) => {
            let [scope, path @ ..] = &path[..] else { return Err(value.expected("a scope")) };
            (Some(scope), path)
        }
        _ => {
            let object = Object::of(value)?;
            for (name, value) in object.properties() {
                if !matches!(&**name, "origin" | "path") {
                    return Err(fault(
                        value.at,
                        format!("expected 'origin' or 'path', found '{name}'"),
                    ));
                }
            }
            (object.get("origin"), object.need("path")?.list()?)
        }
    };
    let mut names: Vec<Arc<str>> = Vec::new();
    let mut up = 0;
    for element in path {
        match &element.kind {
            Kind::Text(name) => names.push(name.as_str().into()),
            // A null removes the name before it or, if there is none, goes up one structure.
            Kind::Null if names.pop().is_some() => {}
            Kind::Null if origin.is_none() => up += 1,
            _ => return Err(element.expected("a name")),
        }
    }
    if !matches!(path.last(), Some(Value { kind: Kind::Text(_), .. })) {
        return Err(value.expected("a path that ends with a name"));
    }
    let origin = match origin {
        Some(scope) => Origin::Scope(self::scope(scope)?),
        None => Origin::Up(up),
    };
    Ok(Arc::new(Reference { at: value.at, body: None, origin, names }))
}

fn scope(value: &Value) -> Result<Scope, Fault> {
    match value.text()? {
        "packet-header" => Ok(Scope::PacketHeader),
        "packet-context" => Ok(Scope::PacketContext),
        "event-record-header" => Ok(Scope::EventHeader),
        "event-record-common-context" => Ok(Scope::CommonContext),
        "event-record-specific-context" => Ok(Scope::SpecificContext),
        "event-record-payload" => Ok(Scope::Payload),
        _ => Err(value.expected("a scope")),
    }
}
