//! Compares JSON outputs with the schemas in docs/schemas/.
//!
//! Implements the part of JSON Schema that the schemas use. It is stricter in one point: a key that
//! is not in the schema is an error, so that every printed key is documented.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// Returns the path of the schema for a kind of document, such as `info`.
pub(crate) fn schema_path(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schemas/{kind}.json"))
}

/// Parses a document of this kind and checks it against its schema.
///
/// # Panics
/// If the text is not JSON or differs from the schema.
#[track_caller]
pub(crate) fn validated(kind: &str, text: &str) -> Value {
    let value: Value =
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
    let schema = std::fs::read_to_string(schema_path(kind)).unwrap();
    let faults = faults(&serde_json::from_str(&schema).unwrap(), &value);
    assert!(faults.is_empty(), "{kind}: {faults:#?}\n{value:#}");
    value
}

/// Returns the differences between a value and a schema.
pub(crate) fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    Validator { root: schema }.validate(schema, value, "", &mut faults);
    faults
}

struct Validator<'a> {
    root: &'a Value,
}

impl Validator<'_> {
    fn validate(&self, schema: &Value, value: &Value, path: &str, faults: &mut Vec<String>) {
        let Some(keywords) = schema.as_object() else {
            assert_eq!(schema, &Value::Bool(true), "a schema is an object or true");
            return;
        };
        let fault = |expected: &str| format!("{path}: expected {expected}");
        for (keyword, of) in keywords {
            match keyword.as_str() {
                "type" => {
                    let is = |name: &Value| is_of(value, name.as_str().unwrap());
                    let alone = [of.clone()];
                    if !of.as_array().map_or(&alone[..], Vec::as_slice).iter().any(is) {
                        faults.push(fault(&format!("{of}, found {value}")));
                    }
                }
                "minimum" if value.as_f64() < of.as_f64() && value.is_number() => {
                    faults.push(fault(&format!("at least {of}")));
                }
                "minItems" | "maxItems" => {
                    let length = value.as_array().map(|items| items.len() as u64);
                    if length.is_some() && length != of.as_u64() {
                        faults.push(fault(&format!("{of} items")));
                    }
                }
                "$ref" => {
                    let pointer = of.as_str().unwrap().trim_start_matches('#');
                    let target = self.root.pointer(pointer).expect("a definition");
                    self.validate(target, value, path, faults);
                    return;
                }
                "anyOf" => self.any_of(of.as_array().unwrap(), value, path, faults),
                "properties"
                | "additionalProperties"
                | "required"
                | "items"
                | "prefixItems"
                | "minimum"
                | "title"
                | "description"
                | "format"
                | "$schema"
                | "$defs"
                | "maximum" => {}
                _ => panic!("{path}: keyword {keyword} is not known here"),
            }
        }
        match value {
            Value::Object(members) => self.members(keywords, members, path, faults),
            Value::Array(items) => self.items(keywords, items, path, faults),
            _ => {}
        }
    }

    fn any_of(&self, schemas: &[Value], value: &Value, path: &str, faults: &mut Vec<String>) {
        let tries = schemas.iter().map(|schema| {
            let mut faults = Vec::new();
            self.validate(schema, value, path, &mut faults);
            faults
        });
        let tries: Vec<_> = tries.collect();
        if !tries.iter().any(Vec::is_empty) {
            faults.extend(tries.into_iter().flatten());
        }
    }

    fn members(
        &self,
        keywords: &Map<String, Value>,
        members: &Map<String, Value>,
        path: &str,
        faults: &mut Vec<String>,
    ) {
        let properties = keywords.get("properties").and_then(Value::as_object);
        let others = keywords.get("additionalProperties");
        for (key, member) in members {
            let path = format!("{path}/{key}");
            let known = properties.and_then(|properties| properties.get(key));
            match known.or(others) {
                Some(schema) => self.validate(schema, member, &path, faults),
                None if properties.is_none() => {}
                None => faults.push(format!("{path}: is not in the schema")),
            }
        }
        let required = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
        for key in required.filter_map(Value::as_str).filter(|key| !members.contains_key(*key)) {
            faults.push(format!("{path}: expected a key {key}"));
        }
    }

    fn items(
        &self,
        keywords: &Map<String, Value>,
        items: &[Value],
        path: &str,
        faults: &mut Vec<String>,
    ) {
        let first = keywords.get("prefixItems").and_then(Value::as_array);
        let first = first.map_or(&[][..], Vec::as_slice);
        for (index, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(index).or(keywords.get("items")) {
                self.validate(schema, item, &format!("{path}/{index}"), faults);
            }
        }
    }
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => panic!("unknown type {name}"),
    }
}
