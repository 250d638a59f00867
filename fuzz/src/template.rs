//! Fuzz targets for the template language and for compressed template files.

use tracewell::compressed::lzw::{compress as pack, decompress};
use tracewell::template::{
    Entry, Environment, EventContext, Machine, Program, Source, System, layout, lint, parse,
};

/// Reads any text as a template file. If the file has no errors, checks that formatting its
/// canonical form again does not change it.
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
    if findings.iter().any(|finding| finding.is_error) {
        return;
    }
    let again = Source::new("again.fmt", once);
    let (file, findings) = parse(&again);
    let errors = findings.iter().filter(|finding| finding.is_error);
    assert_eq!(errors.count(), 0, "{}", again.text);
    assert_eq!(layout(&file), again.text);
    let same = Program::of(&[again]).program;
    assert_eq!(same.templates().len(), program.templates().len());
}

/// Runs a description on an entry. The description ends at the first NUL, and the entry follows.
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
        let lines = machine.format(&program, &entry, &EventContext::default());
        let printed: usize = lines.iter().map(|(_, line)| line.len()).sum();
        // The output per event is limited, but its last string may go beyond the limit.
        assert!(printed <= (1 << 20) + data.len() + 8 * (1 << 16), "{printed}");
    }
}

/// Decompresses any bytes. Checks that the result can be compressed and decompressed again.
pub fn compress(data: &[u8]) {
    assert_eq!(decompress(&pack(data)).as_deref(), Ok(data));
    if let Ok(text) = decompress(data) {
        assert_eq!(decompress(&pack(&text)), Ok(text));
    }
}
