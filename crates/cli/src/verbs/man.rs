//! `tracewell man`: writes manual pages. Their sections come from the definition of the command
//! line; the exit statuses are listed here.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::roff::{Roff, bold, roman};

use crate::outcome::{Failure, Outcome};

/// Write manual pages into a folder, one per verb
#[derive(Debug, Args)]
#[command(after_help = "Example:
  tracewell man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// The folder; created if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Man {
    pub(crate) fn run(&self, command: Command) -> Result<Outcome, Failure> {
        let mut command = command.disable_help_subcommand(true);
        command.build();
        fs::create_dir_all(&self.folder)
            .and_then(|()| write_pages(&command, &self.folder))
            .map_err(|error| Failure::io(&self.folder, &error))?;
        Ok(Outcome::Done)
    }
}

/// Writes the pages of a command and of its subcommands.
fn write_pages(command: &Command, folder: &Path) -> io::Result<()> {
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        write_pages(subcommand, folder)?;
    }
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let mut file = File::create(folder.join(format!("{name}.1")))?;
    render(command, &mut file)?;
    file.flush()
}

/// Writes one page. Uses the synopsis of the help, because a list of all options would be
/// unreadable.
fn render(command: &Command, out: &mut dyn Write) -> io::Result<()> {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage).to_owned();
    let version = command.get_version().unwrap_or_default();
    let page = clap_mangen::Man::new(command.clone().override_usage(usage))
        .source(format!("tracewell {version}"))
        .manual("Tracewell Manual");
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    if command.has_subcommands() {
        page.render_subcommands_section(out)?;
    }
    let mut roff = Roff::new();
    render_closing_sections(command, &mut roff);
    roff.to_writer(out)
}

/// Appends the sections EXAMPLES, NOTES, EXIT STATUS and SEE ALSO. The first two consist of the
/// paragraphs below the options in the help.
fn render_closing_sections(command: &Command, roff: &mut Roff) {
    let closing = command.get_after_long_help().or_else(|| command.get_after_help());
    let closing = closing.map(ToString::to_string).unwrap_or_default();
    // The page contains a separate section for the exit status.
    let paragraphs = closing.split("\n\n").filter(|text| !text.starts_with("Exit status"));
    let (examples, notes): (Vec<_>, Vec<_>) =
        paragraphs.filter(|text| !text.is_empty()).partition(|text| text.starts_with("Example"));
    let examples = examples.iter().filter_map(|text| text.split_once('\n').map(|(_, rest)| rest));
    render_unfilled("EXAMPLES", examples, roff);
    render_unfilled("NOTES", notes.into_iter(), roff);

    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    roff.control("SH", ["EXIT STATUS"]);
    for (status, meaning) in exit_statuses(name) {
        roff.control("TP", []);
        roff.text([bold(*status)]);
        roff.text([roman(*meaning)]);
    }
    if name != PROGRAM {
        roff.control("SH", ["SEE ALSO"]);
        roff.text([bold(PROGRAM), roman("(1)")]);
    }
}

/// Appends a section of paragraphs without changing their lines.
fn render_unfilled<'a>(heading: &str, paragraphs: impl Iterator<Item = &'a str>, roff: &mut Roff) {
    let mut paragraphs = paragraphs.peekable();
    if paragraphs.peek().is_some() {
        roff.control("SH", [heading]);
    }
    for paragraph in paragraphs {
        roff.control("PP", []);
        roff.control("nf", []);
        for line in paragraph.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
}

const PROGRAM: &str = "tracewell";

/// Returns the exit statuses of the command whose manual page has this name. docs/command-line.md
/// lists them in one table, and docs/trcrpt.md lists those of trcrpt.
fn exit_statuses(page: &str) -> &'static [(&'static str, &'static str)] {
    const SUCCESS: (&str, &str) = ("0", "Success.");
    const USAGE: (&str, &str) = ("2", "Wrong usage.");
    const DAMAGED: (&str, &str) = (
        "3",
        "An input is unreadable or damaged. The readable part was still processed and printed.",
    );
    const IO: (&str, &str) = ("4", "Another input or output error.");
    const TEMPLATES: (&str, &str) = ("1", "A template file or an update file has an error.");
    match page {
        "tracewell" => &[SUCCESS, ("1", "A check failed."), USAGE, DAMAGED, IO],
        "tracewell-check" => &[
            ("0", "No rule failed. The last line counts the rules that the trace does not decide."),
            ("1", "A rule is violated; or, with --strict, the trace does not decide a rule."),
            ("2", "The usage is wrong, the rules cannot be read, or the file contains no rule."),
            ("3", "No rule failed, but an input is unreadable or damaged."),
            IO,
        ],
        "tracewell-diff" => {
            &[SUCCESS, ("1", "There is a difference that --fail-on names."), USAGE, DAMAGED, IO]
        }
        "tracewell-query" => &[("N", "The status of tracewell-query."), IO],
        "tracewell-ingest" => &[("N", "The status of tracewell-ingest."), IO],
        "tracewell-report" => &[SUCCESS, TEMPLATES, USAGE, DAMAGED, IO],
        "tracewell-collect" => &[
            SUCCESS,
            USAGE,
            (
                "3",
                "A source sent nothing, bytes were dropped or not shown, packets are missing, or \
                 the data is damaged.",
            ),
            IO,
        ],
        "tracewell-record" => &[
            ("N", "The status of the program, or 128 plus the number of the signal that ended it."),
            USAGE,
            (
                "4",
                "The recording failed. With --pid, the status is 0 if the recording did not fail.",
            ),
        ],
        "tracewell-trcrpt" => &[
            SUCCESS,
            (
                "1",
                "Wrong usage, an unknown flag or value, an error in a template, or a file that \
                 cannot be opened.",
            ),
            ("2", "A damaged log. The report up to the damage was printed."),
        ],
        "tracewell-template-check" => {
            &[SUCCESS, ("1", "A file has errors, or with --strict, warnings."), USAGE, IO]
        }
        "tracewell-template-fmt" => &[
            SUCCESS,
            ("1", "A file has errors, or with --check, a file is not in canonical form."),
            USAGE,
            IO,
        ],
        page if page.starts_with("tracewell-template") => &[SUCCESS, TEMPLATES, USAGE, IO],
        "tracewell-completions" | "tracewell-man" | "tracewell-formats" => &[SUCCESS, USAGE, IO],
        _ => &[SUCCESS, USAGE, DAMAGED, IO],
    }
}
