//! JSON documents for programs: one per command, whatever the number of traces.
//!
//! A document is an object with `schema`, the version of its kind of document, and `traces`, with
//! one object per trace. The first key of each of these objects is `file`. The other keys are the
//! figures of [`super::info`], [`super::analyses`] or [`super::check`], in the order in which their
//! types declare them. docs/schemas/ contains the JSON Schema of each kind. It is generated from
//! these types.
//!
//! A version changes if a key is removed or renamed, or changes its meaning. New keys may appear
//! without a new version.

use std::io::{self, Write};

use serde::Serialize;

// Only the JSON Schema is derived from this type. `DocumentWriter` writes documents.
/// A JSON document about traces.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema, Debug)]
pub struct Document<T> {
    /// The version of this kind of document.
    pub schema: u32,
    /// The traces in the order of the command line; joined files are one trace.
    pub traces: Vec<OfTrace<T>>,
}

/// A trace of a document.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema, Debug)]
pub struct OfTrace<T> {
    /// The path of the trace as given on the command line; `-` is standard input.
    pub file: String,
    /// The findings of the command in this trace.
    #[serde(flatten)]
    pub content: T,
}

#[derive(Serialize)]
struct Element<'a, T> {
    file: &'a str,
    #[serde(flatten)]
    content: &'a T,
}

/// Writes a document trace by trace, so that memory holds the figures of one trace at a time.
///
/// ```
/// use tracewell::report::document::DocumentWriter;
/// use tracewell::report::info::{self, Census};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let mut census = Census::default();
/// let trace = tracewell::open(path)?.read(&mut census)?;
/// let mut document = DocumentWriter::new(Vec::new(), info::SCHEMA);
/// document.trace("tiny.trx", &census.summary(&trace))?;
/// let json: serde_json::Value = serde_json::from_slice(&document.end()?)?;
/// assert_eq!((&json["schema"], &json["traces"][0]["events"]), (&1.into(), &197.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DocumentWriter<W> {
    out: W,
    schema: u32,
    traces: usize,
}

impl<W: Write> DocumentWriter<W> {
    /// Creates a writer for a document of this version.
    pub fn new(out: W, schema: u32) -> Self {
        Self { out, schema, traces: 0 }
    }

    /// Writes the next trace: the name of its file, and its content.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn trace(&mut self, file: &str, content: &impl Serialize) -> io::Result<()> {
        match self.traces {
            0 => write!(self.out, "{{\n  \"schema\": {},\n  \"traces\": [\n    ", self.schema)?,
            _ => self.out.write_all(b",\n    ")?,
        }
        self.traces += 1;
        serde_json::to_writer_pretty(Indented(&mut self.out), &Element { file, content })?;
        self.out.flush()
    }

    /// Ends the document and returns the output. Writes nothing if there was no trace.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn end(mut self) -> io::Result<W> {
        if self.traces > 0 {
            self.out.write_all(b"\n  ]\n}\n")?;
            self.out.flush()?;
        }
        Ok(self.out)
    }
}

/// Indents all lines except the first to the level of the traces in a document. JSON strings never
/// contain line ends.
struct Indented<'a, W>(&'a mut W);

impl<W: Write> Write for Indented<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.0.write_all(part)?;
            if part.ends_with(b"\n") {
                self.0.write_all(b"    ")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes rows as an array. Converts one row at a time, because there may be a million rows.
pub(super) fn rows<'a, S, T, R>(
    serializer: S,
    rows: &'a [T],
    row: impl Fn(&'a T) -> R,
) -> Result<S::Ok, S::Error>
where
    S: serde::Serializer,
    R: Serialize,
{
    serializer.collect_seq(rows.iter().map(row))
}

/// Entries of a JSON object whose keys come from the trace. The entries keep their order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entries<T>(pub Vec<(String, T)>);

impl<T: Serialize> Serialize for Entries<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Entries<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("EntriesOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <std::collections::BTreeMap<String, T>>::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_traces_are_one_indented_document_and_none_is_nothing() {
        let content = Entries(vec![("z".to_owned(), vec![1, 2]), ("a".to_owned(), vec![])]);
        let mut document = DocumentWriter::new(Vec::new(), 3);
        document.trace("x", &content).unwrap();
        document.trace("y\n", &content).unwrap();
        let text = String::from_utf8(document.end().unwrap()).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["traces"][1]["file"], "y\n");
        let first = "{\n  \"schema\": 3,\n  \"traces\": [\n    {\n      \"file\": \"x\",\n      \
                     \"z\": [\n        1,\n        2\n      ],\n      \"a\": []\n    },\n    {\n";
        assert!(text.starts_with(first), "{text}");
        assert!(text.ends_with("    }\n  ]\n}\n"), "{text}");
        assert_eq!(DocumentWriter::new(Vec::new(), 1).end().unwrap(), b"");
    }
}
