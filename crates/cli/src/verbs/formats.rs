//! `tracewell formats`: lists the formats.

use clap::Args;
use tracewell::export::EXPORTS;
use tracewell::export::list::FormatList;
use tracewell::format::{FORMATS, OptionHelp};

use crate::outcome::{Failure, Outcome};
use crate::output;

/// List the formats that can be read and written
///
/// Also describes how each format is recognised, and lists its options: -O for reading, -T for
/// writing.
#[derive(Debug, Args)]
pub(crate) struct Formats {
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
}

impl Formats {
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        if !self.json {
            return Ok(output::print(&as_text()));
        }
        let json = serde_json::to_string_pretty(&FormatList::new());
        let json = json.map_err(|error| Failure::io(output::stdout_path(), &error.into()))?;
        Ok(output::print_exactly(json + "\n"))
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
    lines.push("write (convert --format)".to_owned());
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
