//! Runs every example of the language reference, `docs/template-language.md`, and compares its
//! output.
//!
//! Each example is a fenced block `template`, followed by a fenced block `output`. The info string
//! of the first block specifies the input: `env=32` or `env=64`, `entry=HEX` for each entry in
//! order, and `generic` for trcgen entries. The introduction of the reference defines the context
//! of the events; the function [`around`] returns it.

use std::path::{Path, PathBuf};

use tracewell::template::{
    Entry, Environment, EventContext, Machine, Names, Outcome, Program, Source,
};

/// A smaller number of examples means that the test did not find all of them.
const MIN_EXAMPLES: usize = 80;

fn reference() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/template-language.md")
}

/// A fence with its info string.
#[derive(Debug)]
struct Fence {
    /// Line of the opening mark, from 1.
    line: usize,
    info: String,
    text: String,
}

/// Returns all fences of a Markdown text, in order.
fn fences(text: &str) -> Vec<Fence> {
    let mut fences = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let inside: Vec<_> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        fences.push(Fence { line: index + 1, info: info.to_owned(), text: inside.join("\n") });
    }
    fences
}

/// The input of a template.
#[derive(Debug)]
struct Settings {
    environment: Environment,
    generic: bool,
    entries: Vec<Vec<u8>>,
}

impl Settings {
    fn of(info: &str) -> Result<Self, String> {
        let mut settings =
            Self { environment: Environment::Bits32, generic: false, entries: Vec::new() };
        for word in info.split_whitespace().skip(1) {
            match word.split_once('=') {
                Some(("env", "32")) => settings.environment = Environment::Bits32,
                Some(("env", "64")) => settings.environment = Environment::Bits64,
                Some(("entry", hex)) => settings.entries.push(bytes(hex)?),
                None if word == "generic" => settings.generic = true,
                _ => return Err(format!("'{word}' is not a setting of an example")),
            }
        }
        if settings.entries.is_empty() {
            return Err("an example needs entry=HEX".to_owned());
        }
        Ok(settings)
    }
}

fn bytes(hex: &str) -> Result<Vec<u8>, String> {
    let byte = |at: usize| hex.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Option<_> = (0..hex.len()).step_by(2).map(byte).collect();
    bytes.ok_or_else(|| format!("'{hex}' are not bytes in hexadecimal"))
}

/// The names that the reference defines.
struct Known;

impl Names for Known {
    fn process(&self, pid: u64) -> Option<&str> {
        (pid == 0x42).then_some("sortrec")
    }

    fn object(&self, key: u64) -> Option<&str> {
        (key == 0x2000_1000).then_some("main queue")
    }
}

/// Returns the context that the reference states for the events of its examples. Entries are 250
/// microseconds apart.
fn around(number: usize, system: Environment) -> EventContext<'static> {
    EventContext {
        tid: 77,
        pid: 0x42,
        cpu: 1,
        executable: "/usr/bin/sortrec",
        system_call: "read",
        system,
        log: "trace.twx",
        offset: 4096,
        time_ns: 250_000 * number as u64,
        names: &Known,
    }
}

/// Returns the lines that an example prints, or its errors.
fn printed(template: &str, settings: &Settings) -> String {
    let source = Source::new("example", template);
    let compiled = Program::of(std::slice::from_ref(&source));
    let errors = compiled.findings.iter().filter(|(_, finding)| finding.is_error);
    let errors: Vec<_> = errors.map(|(_, finding)| finding.show(&source)).collect();
    if !errors.is_empty() {
        return errors.join("\n");
    }
    let mut machine = Machine::default();
    let mut all = Vec::new();
    for (number, bytes) in settings.entries.iter().enumerate() {
        let entry = Entry::hook(settings.environment, bytes).unwrap();
        let entry = if settings.generic { entry.taken_as_generic(true) } else { entry };
        let around = around(number, settings.environment);
        let lines = machine.format(&compiled.program, &entry, &around);
        if lines.outcome() != Outcome::Skipped {
            all.push(lines.text());
        }
        if lines.outcome() == Outcome::Stop {
            break;
        }
    }
    all.join("\n")
}

/// Returns the error of an example, or `None` if there is none. `output` is the fence after the
/// example, if there is one.
fn fault(example: &Fence, output: Option<&Fence>) -> Option<String> {
    let settings = match Settings::of(&example.info) {
        Ok(settings) => settings,
        Err(message) => return Some(message),
    };
    let Some(output) = output.filter(|fence| fence.info == "output") else {
        return Some("expected a fence 'output' after the example".to_owned());
    };
    let found = printed(&example.text, &settings);
    (found != output.text).then(|| format!("expected\n{}\nfound\n{found}", output.text))
}

#[test]
fn every_example_of_the_reference_prints_its_output() {
    let path = reference();
    let fences = fences(&std::fs::read_to_string(&path).unwrap());
    let is_example = |fence: &Fence| fence.info.split(' ').next() == Some("template");
    let examples: Vec<_> = (0..fences.len()).filter(|at| is_example(&fences[*at])).collect();
    let outputs = fences.iter().filter(|fence| fence.info == "output").count();
    let count = examples.len();
    assert!(count >= MIN_EXAMPLES, "{}: {count} examples only", path.display());
    assert_eq!(outputs, count, "{}: each output has its example", path.display());
    let wrong: Vec<_> = examples
        .iter()
        .filter_map(|at| {
            let fault = fault(&fences[*at], fences.get(at + 1))?;
            Some(format!("{}:{}: {fault}\n", path.display(), fences[*at].line))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {count} examples differ\n{}", wrong.len(), wrong.join("\n"));
}
