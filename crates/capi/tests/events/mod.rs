//! Reads the events of a file that a program recorded.

use std::path::Path;

use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::input::{Input, Settings};

/// Returns the chosen columns of each event.
pub(crate) fn events(path: &Path, columns: &[&str]) -> Vec<String> {
    let mut writer = EventWriter::new(Vec::new(), EventFormat::Tsv, Default::default());
    Input::open(path, Settings::default()).unwrap().read(&mut writer).unwrap();
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let heads = lines.next().unwrap();
    let at = |column| heads.iter().position(|head| head == column).unwrap();
    let places: Vec<_> = columns.iter().map(at).collect();
    lines.map(|line| places.iter().map(|&at| line[at]).collect::<Vec<_>>().join(" ")).collect()
}
