//! The targets of the template language and of compressed template files.

use tracewell::template::update::compress::{compress as pack, decompress};
use tracewell::template::{
    Around, Entry, Environment, Machine, Program, Severity, Source, System, layout, lint, parse,
};

/// Reads any text as a template file; the canonical form of a file without errors is its own.
pub fn template_parser(data: &[u8]) {
    let source = Source::from_bytes("fuzz.fmt", data);
    let (file, findings) = parse(&source);
    for finding in findings.iter().chain(&lint(&file, System::of(&file))) {
        assert!(finding.span.start as usize <= source.text.len(), "{finding:?}");
        assert!(finding.span.start <= finding.span.end, "{finding:?}");
        assert!(finding.show(&source).lines().count() >= 3, "{finding:?}");
    }
    let program = Program::of(std::slice::from_ref(&source)).program;
    let once = layout(&file);
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return;
    }
    let again = Source::new("again.fmt", once);
    let (file, findings) = parse(&again);
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    assert_eq!(errors.count(), 0, "{}", again.text);
    assert_eq!(layout(&file), again.text);
    let same = Program::of(&[again]).program;
    assert_eq!(same.templates().len(), program.templates().len());
}

/// Runs a description over an entry: the text goes up to the first NUL, the entry is behind it.
pub fn template_machine(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (text, bytes) = data.split_at(end);
    let bytes = bytes.get(1..).unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    let files =
        format!("0AA 1.0 {text}\n0AB 1.0 \"@\" {{{{ f(x) $x X1 }}}} f(1)\n007 1.0 $DEFAULT");
    let program = Program::of(&[Source::new("fuzz.fmt", files)]).program;
    let mut machine = Machine::default();
    for environment in [Environment::Bits32, Environment::Bits64] {
        let Ok(entry) = Entry::hook(environment, bytes) else { continue };
        let lines = machine.format(&program, &entry, &Around::default());
        let printed: usize = lines.iter().map(|(_, line)| line.len()).sum();
        // What an event prints is limited; the last text may go beyond.
        assert!(printed <= (1 << 20) + data.len() + 8 * (1 << 16), "{printed}");
    }
}

/// Decompresses any bytes; what comes out survives being compressed.
pub fn compress(data: &[u8]) {
    assert_eq!(decompress(&pack(data)).as_deref(), Ok(data));
    if let Ok(text) = decompress(data) {
        assert_eq!(decompress(&pack(&text)), Ok(text));
    }
}
