//! `tracewell formats`: what can be read and written.

use clap::Args;
use serde_json::json;
use tracewell::export::EXPORTS;
use tracewell::format::{FORMATS, OptionHelp};

use crate::outcome::{Failure, Outcome};
use crate::output;

/// List the formats that can be read and written
///
/// With how each is recognised, and its options: -O for reading, -T for writing.
#[derive(Debug, Args)]
pub(crate) struct Formats {
    /// For programs
    #[arg(long)]
    json: bool,
}

impl Formats {
    pub(crate) fn run(&self) -> Outcome {
        let text = if self.json { as_json() } else { as_text() };
        let written = std::io::Write::write_all(&mut output::stdout(), text.as_bytes());
        match written {
            Ok(()) => Outcome::Done,
            Err(error) => Failure::io(output::stdout_path(), &error).tell(),
        }
    }
}

fn as_text() -> String {
    let mut lines = vec!["read".to_owned()];
    for format in FORMATS {
        lines.push(format!("  {:<14}{}", format.name, format.description));
        lines.push(format!("  {:<14}recognised by {}", "", format.recognised_by));
        lines.extend(options("-O", format.options));
    }
    lines.push("  also within Intel HEX, S-records and hexadecimal text".to_owned());
    lines.push(String::new());
    lines.push("write (convert --to)".to_owned());
    for export in EXPORTS {
        let extension = export.extension.map(|e| format!(" (.{e})")).unwrap_or_default();
        lines.push(format!("  {:<14}{}{extension}", export.name, export.description));
        lines.extend(options("-T", export.options));
    }
    lines.join("\n") + "\n"
}

fn options(flag: &'static str, options: &'static [OptionHelp]) -> impl Iterator<Item = String> {
    options.iter().map(move |option| {
        let typed = format!("{flag} {}={}", option.key, option.value);
        format!("  {:<14}{typed:<26}{}", "", option.help)
    })
}

fn as_json() -> String {
    let options = |options: &[OptionHelp]| -> Vec<_> {
        let option = |o: &OptionHelp| json!({"key": o.key, "value": o.value, "help": o.help});
        options.iter().map(option).collect()
    };
    let read: Vec<_> = FORMATS
        .iter()
        .map(|f| {
            json!({"name": f.name, "description": f.description,
                   "recognised_by": f.recognised_by, "options": options(f.options)})
        })
        .collect();
    let write: Vec<_> = EXPORTS
        .iter()
        .map(|e| {
            json!({"name": e.name, "description": e.description, "extension": e.extension,
                   "options": options(e.options)})
        })
        .collect();
    format!("{:#}\n", json!({"read": read, "write": write}))
}
