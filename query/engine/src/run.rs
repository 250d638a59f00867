//! Runs a command line: chooses the statements, runs them, and reports findings.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;

use tracewell::text::shown_lines;

use crate::args::Args;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::labels::Labels;
use crate::lake::{self, is_lake};
use crate::output::{Form, Output};
use crate::prompt::{Entry, Prompt};
use crate::ready::{READY, ReadyQuery};
use crate::remote::{self, Remote};
use crate::session::Session;

/// Runs the command line of this program. Prints failures and findings on standard error.
pub fn run(args: &Args) -> Outcome {
    let answered = match args.cluster {
        Some(_) => remote::start(),
        None => answer(args, None),
    };
    answered.unwrap_or_else(|failure| report(&failure))
}

/// Runs a command line on a cluster. Prints failures on standard error.
pub fn run_on(args: &Args, cluster: Arc<dyn Remote>) -> Outcome {
    answer(args, Some(cluster)).unwrap_or_else(|failure| report(&failure))
}

/// Prints a failure and returns its outcome.
pub fn report(failure: &Failure) -> Outcome {
    if failure.outcome() != Outcome::Done {
        print_message(&format!("error: {failure}"));
    }
    failure.outcome()
}

/// Prints a message on standard error, with control characters escaped.
pub(crate) fn print_message(message: &str) {
    // A closed standard error is not an error.
    let _ = writeln!(io::stderr(), "{}", shown_lines(message));
}

/// The statements of a command line.
enum Statements {
    Text(String),
    Prompt,
}

fn answer(args: &Args, remote: Option<Arc<dyn Remote>>) -> Result<Outcome, Failure> {
    if args.list {
        let lines = READY.iter().map(|query| format!("{:16} {}\n", query.name, query.title()));
        return print(&lines.collect::<String>());
    }
    let (statements, patterns) = statements(args)?;
    if let (true, Statements::Text(sql)) = (args.show, &statements) {
        return print(sql);
    }
    let output = output(args)?;
    let mut options = args.options.clone();
    options.extend(args.format_in.iter().map(|format| format!("format={format}")));
    let labels = args.labels.as_deref().map(Labels::parse).transpose()?;
    let memory = usize::try_from(args.memory).unwrap_or(usize::MAX).saturating_mul(1 << 20);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::io(Path::new("threads"), &error))?;
    let session = match patterns.iter().find(|pattern| is_lake(pattern)) {
        Some(place) => {
            let is_plain = patterns.len() == 1 && options.is_empty() && labels.is_none();
            if !is_plain {
                let message = "a lake has its own labels and options: give no other file, -O, \
                               --format-in or --labels";
                return Err(Failure::usage(format!("{place}: {message}")));
            }
            let lake = runtime.block_on(lake::open(place))?;
            Session::of_lake(lake, memory, remote)?
        }
        None => {
            if let (Some(_), Some(pattern)) = (&remote, patterns.first()) {
                return Err(remote::not_a_lake(pattern));
            }
            let files = files::find(patterns, &options, labels.as_ref())?;
            Session::new(files, options, memory, remote)?
        }
    };
    match statements {
        Statements::Text(text) => runtime.block_on(run_text(&session, &text, &output)),
        Statements::Prompt => {
            let mut prompt = Prompt::open()?;
            while let Entry::Statement(text) = prompt.next()? {
                // After a failure, the prompt continues, so that the user can correct the
                // statement.
                if let Err(failure) = runtime.block_on(run_text(&session, &text, &output)) {
                    report(&failure);
                }
            }
            Ok(session.findings().outcome())
        }
    }
}

async fn run_text(session: &Session, text: &str, output: &Output) -> Result<Outcome, Failure> {
    let is_input = |path: &Path| session.findings().has(path);
    let ran = session.run(text, async |rows| output.write(rows, is_input).await).await;
    for message in session.findings().take() {
        print_message(&message);
    }
    ran.map(|()| session.findings().outcome())
}

/// Returns the statements, and the patterns of traces.
fn statements(args: &Args) -> Result<(Statements, &[String]), Failure> {
    if let Some(name) = &args.run {
        return Ok((Statements::Text(ready(name, &args.set)?), &args.words));
    }
    match (&args.file, args.words.split_first()) {
        (Some(path), _) => Ok((Statements::Text(read_script(path)?), &args.words)),
        // If the first word is the path of a file, it is not SQL: the user wants to query files at
        // the prompt.
        (None, Some((sql, files))) if !Path::new(sql).exists() => {
            Ok((Statements::Text(sql.clone()), files))
        }
        (None, _) if io::stdin().is_terminal() => Ok((Statements::Prompt, &args.words)),
        (None, _) => {
            let message = "expected SQL, as in tracewell query \"SELECT …\" FILE…, or -f FILE, \
                           or --run NAME";
            Err(Failure::usage(message))
        }
    }
}

fn ready(name: &str, set: &[String]) -> Result<String, Failure> {
    let Some(query) = ReadyQuery::named(name) else {
        let known: Vec<_> = READY.iter().map(|query| query.name).collect();
        let message = format!("--run {name}: expected one of {}", known.join(", "));
        return Err(Failure::usage(message));
    };
    let mut values = Vec::new();
    for text in set {
        let Some((name, value)) = text.split_once('=') else {
            return Err(Failure::usage(format!("--set {text}: expected NAME=VALUE")));
        };
        values.push((name.to_owned(), value.to_owned()));
    }
    query.with(&values).map_err(|parameter| {
        let parameter = parameter.trim_start_matches('$');
        let message = match values.iter().any(|(known, _)| known == parameter) {
            true => format!("--set {parameter}: the query {name} has no such parameter"),
            false => format!("the query {name} needs --set {parameter}=VALUE"),
        };
        Failure::usage(message)
    })
}

fn read_script(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = match path == Path::new("-") {
        true => io::stdin().read_to_string(&mut text).map(|_| ()),
        false => std::fs::read_to_string(path).map(|content| text = content),
    };
    read.map_err(|error| Failure::io(path, &error))?;
    Ok(text)
}

fn output(args: &Args) -> Result<Output, Failure> {
    let path = args.output.clone().filter(|path| path != Path::new("-"));
    let by_path = path.as_deref().and_then(Form::of_path);
    let form = args.format.or(by_path).unwrap_or(Form::Table);
    let is_binary = matches!(form, Form::Parquet | Form::Arrow);
    if path.is_none() && is_binary && io::stdout().is_terminal() {
        return Err(Failure::usage("--format: parquet and arrow need -o FILE or a pipe"));
    }
    Ok(Output { form, path, replaces: args.force })
}

fn print(text: &str) -> Result<Outcome, Failure> {
    let mut out = io::stdout();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| Failure::io(Path::new("standard output"), &error))?;
    Ok(Outcome::Done)
}
