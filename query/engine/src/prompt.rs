//! The interactive prompt: reads statements, each up to a semicolon, and keeps a history.

use std::path::PathBuf;

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use tracewell_tables::Table;

use crate::failure::Failure;

const HELP: &str = "\
A statement ends with a semicolon. Its tables are those of the files on the command line, or
'FILE' or read('PATTERN', rate => '100MHz') in the statement.
  .tables         list the tables
  .columns TABLE  list the columns of a table
  .help           show this text
  .quit           leave, as Ctrl-D does";

/// The next input of the user.
pub(crate) enum Entry {
    /// SQL.
    Statement(String),
    /// The user left.
    End,
}

/// A prompt on the terminal.
pub(crate) struct Prompt {
    editor: DefaultEditor,
    history: Option<PathBuf>,
}

impl Prompt {
    /// Opens the prompt, and loads the history of earlier prompts.
    pub(crate) fn open() -> Result<Self, Failure> {
        let mut editor = DefaultEditor::new().map_err(failure)?;
        let history = history_path();
        if let Some(path) = &history {
            // Before the first prompt, there is no file.
            let _ = editor.load_history(path);
        }
        println!("tracewell-query {}; .help shows help", env!("CARGO_PKG_VERSION"));
        Ok(Self { editor, history })
    }

    /// Reads the next statement. Answers commands that begin with a dot.
    pub(crate) fn next(&mut self) -> Result<Entry, Failure> {
        let mut text = String::new();
        loop {
            let sign = if text.is_empty() { "trace> " } else { "   ... " };
            let line = match self.editor.readline(sign) {
                Ok(line) => line,
                Err(ReadlineError::Interrupted) => {
                    text.clear();
                    continue;
                }
                Err(ReadlineError::Eof) => return Ok(Entry::End),
                Err(error) => return Err(failure(error)),
            };
            let command = line.trim();
            if text.is_empty() && command.starts_with('.') {
                if command == ".quit" {
                    return Ok(Entry::End);
                }
                answer(command);
                continue;
            }
            text.push_str(&line);
            if text.trim().is_empty() {
                text.clear();
            } else if text.trim_end().ends_with(';') {
                // The prompt continues even if the history cannot be saved.
                let _ = self.editor.add_history_entry(text.trim());
                return Ok(Entry::Statement(text));
            } else {
                text.push('\n');
            }
        }
    }
}

impl Drop for Prompt {
    fn drop(&mut self) {
        if let Some(path) = &self.history {
            let _ = path.parent().map(std::fs::create_dir_all);
            let _ = self.editor.save_history(path);
        }
    }
}

fn answer(command: &str) {
    match command.split_once(' ').map_or((command, ""), |(word, rest)| (word, rest.trim())) {
        (".tables", "") => {
            Table::ALL.iter().for_each(|table| println!("{table}"));
        }
        (".columns", name) => match name.parse::<Table>() {
            Ok(table) => {
                for column in table.columns() {
                    println!("{:20} {:18} {}", column.name, column.kind.name(), column.meaning);
                }
                println!("{:20} {:18} hash of the trace; path has its path", "trace", "text");
            }
            Err(error) => println!("{error}"),
        },
        (".help", "") => println!("{HELP}"),
        _ => println!("unknown command {command}; .help shows all"),
    }
}

fn failure(error: ReadlineError) -> Failure {
    Failure::usage(format!("prompt: {error}"))
}

/// Returns the path of the history in the user's folder for state.
fn history_path() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").filter(|path| !path.is_empty());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
    let folder = state.map(PathBuf::from).or_else(home)?;
    Some(folder.join("tracewell").join("query-history"))
}
