//! Tests the symbols of a program: reading them from its ELF file, and using their names for the
//! contexts, objects and addresses of a trace.

#[path = "support/dump.rs"]
mod dump;
#[path = "support/elf.rs"]
mod elf_file;
#[path = "support/rkh.rs"]
mod rkh;
mod support;

use std::path::Path;
use std::sync::Arc;

use dump::{Dump, USUAL, event, thread};
use elf_file::{Elf, FUNCTION, OBJECT};
use rkh::{Stream, configure};
use tracewell::analysis::scheduling::{Scheduling, Wanted};
use tracewell::input::elf::{ElfError, symbols};
use tracewell::input::{Input, Settings};
use tracewell::model::{Lines, Program, Severity, Symbol, SymbolTable, Trace};
use tracewell::report::scheduling::SchedulingFigures;
use tracewell_wire::rkh::Settings as RkhSettings;

fn table(elf: &Elf) -> SymbolTable {
    symbols("program.elf", &elf.bytes()).unwrap()
}

fn name(table: &SymbolTable, address: u64) -> Option<String> {
    table.find(address).map(|found| found.to_string())
}

/// Reads a trace with symbols. Returns the context and the arguments of each event.
fn read(bytes: Vec<u8>, symbols: SymbolTable) -> (Trace, Vec<(String, String)>) {
    let settings = Settings { symbols: Some(Arc::new(symbols)), ..Settings::default() };
    let mut lines = Vec::new();
    let mut input = Input::from_bytes("trace", bytes, settings).unwrap();
    let trace = input.for_each(|event| {
        lines.push((event.context_name().to_owned(), event.args().to_string()));
    });
    (trace.unwrap(), lines)
}

fn warnings(trace: &Trace) -> Vec<&str> {
    let list = trace.diagnostics.iter();
    let warnings = list.filter(|diagnostic| diagnostic.severity == Severity::Warning);
    warnings.map(|diagnostic| diagnostic.message.as_str()).collect()
}

#[test]
fn the_symbols_of_a_linked_program_have_the_addresses_that_nm_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scheduling.elf");
    let table = symbols("scheduling.elf", &std::fs::read(path).unwrap()).unwrap();
    for (address, expected) in [
        (0x0800_0100, Some("main")),
        (0x0800_0101, Some("main")),
        (0x0800_0106, Some("main+0x6")),
        // This function has no size, because it is written in assembly. The address has the Thumb
        // bit.
        (0x0800_0109, Some("uart_handler")),
        (0x0800_010B, None),
        (0x2000_0400, Some("timer_thread")),
        (0x2000_04C0, Some("uart_rx")),
        (0x2000_0940 + 3 * 0xC0, Some("threads+0x240")),
        (0x2000_0C40, None),
        (0x2000_7FC8, Some("system_stack+0xFC8")),
        (0x0008_0000, Some("_stack")),
    ] {
        assert_eq!(name(&table, address).as_deref(), expected, "{address:#x}");
    }
    assert_eq!(table.program().bits, 32);
}

#[test]
fn each_width_and_byte_order_is_read() {
    for (is_64_bit, is_big_endian) in [(false, false), (false, true), (true, false), (true, true)] {
        let elf = Elf { is_64_bit, is_big_endian, ..Elf::arm() };
        let table = table(&elf.global("queue", 0x2000_0010, 8, OBJECT));
        assert_eq!(name(&table, 0x2000_0014).as_deref(), Some("queue+0x4"));
        assert_eq!(table.program().bits, if is_64_bit { 64 } else { 32 });
    }
}

#[test]
fn names_are_chosen_and_shown_as_the_source_spells_them() {
    let mut elf = Elf::arm();
    let mut add = |name: &[u8], address, size, binding, kind| {
        elf.symbols.push((name.to_vec(), address, size, binding, kind));
    };
    add(b"$t", 0x100, 0, 0, 0);
    add(b".Lloop", 0x100, 0, 0, 0);
    add(b"TIM2_IRQHandler", 0x101, 4, 2, FUNCTION);
    add(b"Default_Handler", 0x101, 4, 1, FUNCTION);
    add(b"static_handler", 0x101, 4, 0, FUNCTION);
    add(b"_end", 0x200, 0, 1, 0);
    add(b"variable", 0x200, 0, 0, OBJECT);
    // Names that the Rust compiler mangled. The first is from the chapter "Symbol Mangling" of the
    // book about the compiler.
    add(b"_RNvCskwGfYPst2Cb_3foo16example_function", 0x301, 4, 1, FUNCTION);
    add(b"_ZN4core3fmt5write17h0123456789abcdefE", 0x401, 4, 1, FUNCTION);
    add(b"a\x1b[31m\xFF", 0x500, 4, 1, OBJECT);
    let table = table(&elf);
    for (address, expected) in [
        (0x100, "Default_Handler"),
        (0x200, "variable"),
        (0x300, "foo::example_function"),
        (0x400, "core::fmt::write"),
        (0x500, r"a\x1b[31m\xff"),
    ] {
        assert_eq!(name(&table, address).as_deref(), Some(expected));
    }
}

/// Returns the bytes of the program in C++; its source contains the commands that build it.
fn handlers() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/elf/handlers.elf");
    std::fs::read(path).unwrap()
}

#[test]
fn names_of_cpp_are_shown_as_the_source_spells_them() {
    let table = symbols("handlers.elf", &handlers()).unwrap();
    for (address, expected) in [
        (0x0800_0100, "uart::Driver::receive"),
        (0x0800_0110, "USART1_IRQHandler"),
        (0x2000_0000, "uart::port"),
    ] {
        assert_eq!(name(&table, address).as_deref(), Some(expected));
    }
    // Examples from the Itanium C++ ABI, section 5.1, and names that only look like C++ names.
    let mut elf = Elf::arm();
    for (index, (mangled, _)) in CPP_NAMES.iter().enumerate() {
        let address = 0x1000 + 16 * index as u64;
        elf.symbols.push((mangled.as_bytes().to_vec(), address, 4, 1, FUNCTION));
    }
    let table = self::table(&elf);
    for (index, (_, expected)) in CPP_NAMES.iter().enumerate() {
        assert_eq!(name(&table, 0x1000 + 16 * index as u64).as_deref(), Some(*expected));
    }
}

/// Mangled names and how they are shown.
const CPP_NAMES: [(&str, &str); 6] = [
    ("_Z1fv", "f"),
    ("_Z1fIiEvi", "f<int>"),
    ("_ZN6System5Sound4beepEv", "System::Sound::beep"),
    ("_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run"),
    ("_Zen", "_Zen"),
    ("v", "v"),
];

#[test]
fn lines_are_those_that_addr2line_prints() {
    let table = symbols("handlers.elf", &handlers()).unwrap();
    let line = |address| Some(table.find(address)?.place?.line);
    for (address, expected) in [
        (0x100, 16),
        // This address has the Thumb bit.
        (0x101, 16),
        (0x102, 16),
        (0x10A, 18),
        (0x110, 10),
        (0x11C, 16),
        (0x120, 17),
        (0x124, 26),
        (0x130, 28),
        (0x132, 29),
        (0x136, 30),
    ] {
        assert_eq!(line(0x0800_0000 + address), Some(expected), "{address:#x}");
    }
    let variable = table.find(0x2000_0000).unwrap();
    assert_eq!(variable.place, None);
    let place = table.find(0x0800_0130).unwrap().place.unwrap();
    assert_eq!(place.file, "handlers.cpp");
    assert_eq!(table.lines().damage, None);
}

#[test]
fn damaged_debug_information_leaves_the_names() {
    let whole = handlers();
    for at in 0..whole.len() {
        for mask in [0xFF, 0x01, 0x80] {
            let mut bytes = whole.clone();
            bytes[at] ^= mask;
            let Ok(table) = symbols("handlers.elf", &bytes) else { continue };
            assert!(!table.is_empty());
            let _ = table.find(0x0800_0102);
        }
    }
    // The only unit begins with its length. The next fields of its header are the version (5), the
    // type of the unit (1), the size of addresses (4) and the offset of the abbreviations (0).
    let unit = whole.windows(8).position(|bytes| bytes == [5, 0, 1, 4, 0, 0, 0, 0]);
    let mut bytes = whole;
    bytes[unit.unwrap()] = 99;
    let table = symbols("handlers.elf", &bytes).unwrap();
    assert_eq!(name(&table, 0x0800_0100).as_deref(), Some("uart::Driver::receive"));
    assert!(table.lines().is_empty());
    assert!(table.lines().damage.is_some());
}

#[test]
fn other_files_are_named_in_the_error() {
    let error = |bytes: &[u8]| symbols("f", bytes).unwrap_err().to_string();
    let expected = "at byte 0: expected an ELF file, found ";
    for (bytes, found) in [
        (&b""[..], "an empty file"),
        (b"\x89PNG\r\n\x1A\n....", "a PNG image"),
        (b"text\n", "text"),
        (&[0x1F, 0x8B, 8, 0, 0, 0, 0, 0], "gzip data"),
        (&Dump::small(USUAL).bytes(), "a threadx trace"),
        (&[1, 2, 3, 0, 9], "other data"),
    ] {
        assert_eq!(error(bytes), format!("{expected}{found}"));
    }
    let linked = Elf::arm().global("f", 0x100, 4, FUNCTION);
    assert_eq!(symbols("f", &Elf { kind: 1, ..linked }.bytes()).unwrap_err(), ElfError::NotLinked);
    assert_eq!(symbols("f", &Elf::arm().bytes()).unwrap_err(), ElfError::NoSymbols);
}

#[test]
fn a_truncated_file_is_an_error_with_a_position() {
    let bytes = Elf::arm().global("first", 0x100, 4, OBJECT).bytes();
    let offset = |error| match error {
        ElfError::Damaged { offset, .. } => offset,
        error => panic!("{error}"),
    };
    for length in 5..bytes.len() {
        let error = symbols("f", &bytes[..length]).unwrap_err();
        let sections = bytes.len() as u64 - 3 * 40;
        let expected = match length {
            5..52 => 0,
            _ => sections,
        };
        assert_eq!(offset(error), expected, "{length}");
    }
    // The symbol table is outside of the file.
    let mut outside = bytes.clone();
    let header = outside.len() - 2 * 40;
    outside[header + 16..header + 20].copy_from_slice(&0x1000_u32.to_le_bytes());
    assert_eq!(offset(symbols("f", &outside).unwrap_err()), 0x1000);
}

#[test]
fn names_that_share_bytes_of_the_file_take_neither_memory_nor_time() {
    // The reader also reads the names of labels and mapping symbols, but does not add these symbols
    // to the table.
    for (start, binding, kind) in [("x", 1, OBJECT), (".L", 0, FUNCTION), ("$", 0, 0)] {
        let mut elf = Elf::arm();
        let long = format!("{start}{}", "x".repeat(2000));
        elf.symbols.push((long.into_bytes(), 0x100, 4, binding, kind));
        let other = (b"y".to_vec(), 0x200, 4, binding, kind);
        elf.symbols.extend(std::iter::repeat_n(other, 300));
        let mut bytes = elf.global("z", 0x300, 4, OBJECT).bytes();
        // All symbols except the last get the long name, at offset 1 of the names.
        for symbol in bytes[52 + 16..].chunks_exact_mut(16).take(301) {
            symbol[..4].copy_from_slice(&1_u32.to_le_bytes());
        }
        let error = symbols("f", &bytes).unwrap_err();
        let part = "the names of symbols";
        assert!(
            matches!(error, ElfError::Damaged { part: p, .. } if p == part),
            "{start}: {error}"
        );
    }
}

const A: u64 = 0x2100_0000;
const B: u64 = 0x2100_0100;

/// Returns a dump with two threads, a thread without a slot, and a mutex without a slot. Only the
/// first thread has a name.
fn dump() -> Vec<u8> {
    let mut events = vec![event(A, 6, 100), event(B, 6, 110), event(0x2200_0008, 6, 120)];
    let mut get = event(A, 52, 130);
    get.info = [0x2300_0010, 0, 0, 0];
    events.push(get);
    // Thread B resumes, with a stack pointer.
    let mut resume = event(A, 1, 140);
    resume.info = [B, 0, 0x2400_0020, 0];
    events.push(resume);
    Dump::new(USUAL, vec![thread(A, "alpha"), thread(B, "")], events, 0).bytes()
}

#[test]
fn symbols_name_what_the_trace_does_not() {
    let elf = Elf::arm()
        .global("alpha_thread", A, 0xA0, OBJECT)
        .global("beta_thread", B, 0xA0, OBJECT)
        .global("workers", 0x2200_0000, 0x80, OBJECT)
        .global("bus_mutex", 0x2300_0010, 0x40, OBJECT)
        .global("alpha_stack", 0x2400_0000, 0x400, OBJECT);
    let (trace, lines) = read(dump(), table(&elf));
    let contexts: Vec<_> = lines.iter().map(|(context, _)| context.as_str()).collect();
    assert_eq!(contexts, ["alpha", "beta_thread", "workers+0x8", "alpha", "alpha"]);
    assert!(lines[3].1.starts_with("mutex=bus_mutex, "), "{}", lines[3].1);
    let resume = &lines[4].1;
    assert!(resume.starts_with("thread=beta_thread, "), "{resume}");
    assert!(resume.contains("stack ptr=0x24000020 <alpha_stack+0x20>"), "{resume}");
    assert_eq!(warnings(&trace), [""; 0]);
    let label = |key| trace.objects.at(key, u64::MAX, None).unwrap().1.label.clone();
    assert_eq!([label(A), label(B)], ["alpha", "beta_thread"]);
}

#[test]
fn an_address_of_code_has_its_line() {
    let function =
        |name: &str, address| Symbol { address, size: 0x400, name: name.to_owned(), is_code: true };
    let mut lines = Lines::default();
    let file = lines.add_file("worker.c");
    lines.add(0x2400_0020, Some((file, 12)));
    lines.finish();
    let program = Program { bits: 32, ..Program::default() };
    let table = SymbolTable::new(program, vec![function("worker", 0x2400_0000)]);
    let (_, events) = read(dump(), table.with_lines(lines));
    let resume = &events[4].1;
    assert!(resume.contains("stack ptr=0x24000020 <worker+0x20 at worker.c:12>"), "{resume}");
}

#[test]
fn analyses_name_a_mutex_by_its_symbol() {
    let elf = Elf::arm().global("bus_mutex", 0x2300_0010, 0x40, OBJECT);
    let symbols = Some(Arc::new(table(&elf)));
    let mut scheduling = Scheduling::default();
    let settings = Settings { symbols, ..Settings::default() };
    let mut input = Input::from_bytes("trace", dump(), settings).unwrap();
    let trace = input.read(&mut scheduling).unwrap();
    let figures = scheduling.figures(&trace);
    let document = SchedulingFigures::new(&trace, &figures, &Wanted::default());
    let document = serde_json::to_value(document).unwrap();
    assert_eq!(document["locks"][0]["name"], "bus_mutex");
}

#[test]
fn symbols_without_effect_are_reported() {
    let elsewhere = Elf::arm().global("f", 0x0800_0000, 4, FUNCTION);
    let of = |elf: &Elf| {
        let (trace, _) = read(dump(), table(elf));
        warnings(&trace).join("\n")
    };
    let unused = "program.elf has no effect: no address of this trace is in its symbols: ";
    assert_eq!(of(&elsewhere), format!("{unused}did another program record the trace?"));
    let movable = Elf { kind: 3, ..elsewhere };
    assert_eq!(of(&movable), format!("{unused}the system loaded it at another address"));
    // The symbol's address occurs in the trace, but addresses in this program have 64 bits.
    let wide = Elf { is_64_bit: true, ..Elf::arm() }.global("alpha_thread", A, 0xA0, OBJECT);
    let expected =
        "program.elf has no effect: its addresses have 64 bits, and those of this trace 32";
    assert_eq!(of(&wide), expected);
}

#[test]
fn an_active_object_has_its_symbol_until_the_trace_names_it() {
    const AO: u32 = 0xAE;
    const SM_TRN: u32 = 0x62;
    let mut stream = Stream::new(RkhSettings::default());
    configure(&mut stream);
    let transition = |ao: u32| [ao, 0x3000, 0x3004].map(u32::to_le_bytes).concat();
    stream.record(SM_TRN, 1, &transition(0x2000)).record(SM_TRN, 2, &transition(0x2100));
    stream.record(AO, 3, &[&0x2100_u32.to_le_bytes()[..], b"motor\0"].concat());
    let elf = Elf::arm()
        .global("blinky", 0x2000, 0x40, OBJECT)
        .global("s_motor", 0x2100, 0x40, OBJECT)
        .global("idle_state", 0x3004, 4, OBJECT);
    let (trace, lines) = read(stream.bytes, table(&elf));
    let names: Vec<_> = trace.contexts.iter().map(|(_, context)| context.name.as_str()).collect();
    assert!(names.contains(&"blinky") && names.contains(&"motor"), "{names:?}");
    assert!(lines[1].1.contains("=idle_state"), "{lines:?}");
}
