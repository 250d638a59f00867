//! Compares the C recorder of small targets with the Rust recorder: both must write the same bytes
//! for the same random calls. Each installed C compiler compiles the C recorder. The C recorder
//! must also compile without warnings for each processor. Outside CI, the test skips processors
//! without an installed compiler.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tracewell_record::target::{Options, Recorder};
use tracewell_wire::target::{DefinitionKind, Form, ids};

/// A generator of random numbers (xorshift), so that a seed determines a script.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32 % limit
    }

    /// Returns a number of any length up to 32 bits.
    fn number(&mut self) -> u32 {
        let bits = self.below(32);
        self.below(u32::MAX) >> bits
    }
}

/// The geometry of a ring.
#[derive(Clone, Copy)]
struct Geometry {
    cores: u8,
    slot: u16,
    entries: u16,
    memory: usize,
}

impl Geometry {
    fn options(self, keep: bool) -> Options<'static> {
        let Self { cores, slot, entries, .. } = self;
        let kernel = "kernel";
        Options { cores, slot, entries, rate: 1_000_000, kernel, larger_is_urgent: true, keep }
    }
}

const EVENTS: [u8; 9] = [
    ids::YIELD,
    ids::RUNS,
    ids::READY,
    ids::MUTEX_LOCK,
    ids::TICK,
    ids::QUEUE_SEND,
    ids::ALLOCATE,
    ids::OBJECT_CREATE,
    ids::TASK_CREATE,
];

/// Makes random calls of the Rust recorder. Returns the script of these calls and the bytes: the
/// packets that were read, then the ring.
fn run(geometry: Geometry, seed: u64) -> (String, Vec<u8>) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (mut script, mut out) = (String::new(), Vec::new());
    let mut memory = vec![0; geometry.memory];
    let now = Cell::new(0_u32);
    for part in 0..2 {
        // The second part begins after a reset.
        let keep = part > 0 && seed.is_multiple_of(2);
        writeln!(script, "i {}", u32::from(keep)).unwrap();
        let mut recorder =
            Recorder::new(&mut memory, &geometry.options(keep), || now.get()).unwrap();
        for _ in 0..400 {
            let core = random.below(u32::from(geometry.cores)) as u8;
            now.set(now.get().wrapping_add(random.number() >> 8));
            writeln!(script, "t {} {core}", now.get()).unwrap();
            call(&mut random, &mut script, &mut recorder, core, &mut out, geometry);
        }
        writeln!(script, "f").unwrap();
        recorder.flush();
        writeln!(script, "t {} 0", now.get()).unwrap();
    }
    out.extend(memory);
    (script, out)
}

fn call(
    random: &mut Random,
    script: &mut String,
    recorder: &mut Recorder<'_, impl FnMut() -> u32>,
    core: u8,
    out: &mut Vec<u8>,
    geometry: Geometry,
) {
    let (a, b) = (random.number(), random.number());
    let text: String =
        (0..1 + random.below(120)).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
    match random.below(40) {
        0 => {
            writeln!(script, "f").unwrap();
            recorder.flush();
        }
        1 => {
            writeln!(script, "q").unwrap();
            recorder.refuse(core);
        }
        2..=4 => {
            let size = u32::from(geometry.slot) + random.below(600);
            writeln!(script, "r {size}").unwrap();
            let mut bytes = vec![0; size as usize];
            let length = recorder.read(&mut bytes);
            out.extend(&bytes[..length]);
        }
        5 | 6 => {
            let kind = DefinitionKind::ALL[random.below(11) as usize];
            let (number, priority) = (random.below(6), random.below(256) as u8);
            let code = kind as u32;
            if kind == DefinitionKind::Task && b % 2 == 0 {
                // The C recorder has one function for both calls: bit 10 of the kind marks an idle
                // task.
                writeln!(script, "d {} {number} 0 0 {text}", code | 0x400).unwrap();
                recorder.define_idle(number, &text);
            } else {
                writeln!(script, "d {code} {number} {a} {priority} {text}").unwrap();
                recorder.define(kind, number, a, priority, &text);
            }
        }
        7 => {
            let kind = DefinitionKind::ALL[random.below(11) as usize];
            let number = random.below(6);
            writeln!(script, "m {} {number}", kind as u32).unwrap();
            recorder.remove(kind, number);
        }
        8 => {
            writeln!(script, "g {a}").unwrap();
            recorder.set_filter(a);
        }
        9 => {
            writeln!(script, "g {}", u32::MAX).unwrap();
            recorder.set_filter(u32::MAX);
        }
        10 | 11 => {
            writeln!(script, "x {a} {text}").unwrap();
            recorder.text(core, a, &text);
        }
        12 | 13 => {
            let arguments: Vec<_> =
                (0..random.below(11)).map(|_| random.number().cast_signed()).collect();
            write!(script, "u {a} {}", arguments.len()).unwrap();
            arguments.iter().for_each(|n| write!(script, " {}", n.cast_unsigned()).unwrap());
            writeln!(script).unwrap();
            recorder.user(core, a, &arguments);
        }
        14 | 15 => {
            writeln!(script, "v {a} {b}").unwrap();
            recorder.value(core, a, b.cast_signed());
        }
        _ => {
            let id = EVENTS[random.below(EVENTS.len() as u32) as usize];
            assert_ne!(Form::of(id), Form::Block);
            writeln!(script, "e {id} {a} {b}").unwrap();
            recorder.event(core, id, [a, b]);
        }
    }
}

fn firmware() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware")
}

/// Options of the compiler that detect undefined behaviour.
const SANITIZED: &[&str] = &["-fsanitize=undefined,address", "-fno-sanitize-recover=all"];

/// Compiles the recorder with the harness.
fn compile(compiler: &str, geometry: Geometry, folder: &Path) -> PathBuf {
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/target_twin/harness.c");
    let program = folder.join(format!("{compiler}-{}", geometry.slot));
    let Geometry { cores, slot, entries, .. } = geometry;
    let output = Command::new(compiler)
        .args(["-std=c99", "-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"])
        // Not every installation of clang has the libraries of the sanitizers.
        .args(if compiler == "gcc" { SANITIZED } else { &[] })
        .args([format!("-DTW_TARGET_CORES={cores}"), format!("-DTW_TARGET_SLOT={slot}")])
        .args([format!("-DTW_TARGET_ENTRIES={entries}"), "-DTW_TARGET_GROUPS=0xFF".to_owned()])
        .args(["-DTW_TARGET_CONFIG=\"hosted.h\"", "-I"])
        .arg(harness.parent().unwrap())
        .arg("-I")
        .arg(firmware())
        .arg(&harness)
        .arg(firmware().join("tracewell_target.c"))
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

fn run_c(program: &Path, memory: usize, script: &str) -> Vec<u8> {
    let mut child = Command::new(program)
        .arg(memory.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = script.to_owned();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    output.stdout
}

fn is_installed(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success())
}

#[test]
fn both_recorders_write_the_same_bytes_for_the_same_calls() {
    let folder = tempfile::tempdir().unwrap();
    let geometries = [
        Geometry { cores: 1, slot: 64, entries: 5, memory: 32 + 5 * 32 + 7 * 64 + 12 },
        Geometry { cores: 2, slot: 256, entries: 24, memory: 16_384 },
    ];
    let compilers: Vec<_> = ["gcc", "clang"].into_iter().filter(|cc| is_installed(cc)).collect();
    assert!(!compilers.is_empty(), "the test needs gcc or clang");
    for geometry in geometries {
        for compiler in &compilers {
            let program = compile(compiler, geometry, folder.path());
            for seed in 0..20 {
                let (script, expected) = run(geometry, seed);
                let found = run_c(&program, geometry.memory, &script);
                let differs = expected.iter().zip(&found).position(|(a, b)| a != b);
                assert_eq!(differs, None, "{compiler}, seed {seed}, slot {}", geometry.slot);
                assert_eq!(found.len(), expected.len(), "{compiler}, seed {seed}");
            }
        }
    }
}

/// Compilers with their options for a processor.
const PROCESSORS: [(&str, &[&str]); 8] = [
    ("gcc", &["-include", "hosted.h"]),
    ("clang", &["-include", "hosted.h"]),
    ("arm-none-eabi-gcc", &["-mthumb", "-mcpu=cortex-m0plus"]),
    ("arm-none-eabi-gcc", &["-mthumb", "-mcpu=cortex-m3"]),
    ("arm-none-eabi-gcc", &["-mthumb", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]),
    ("arm-none-eabi-gcc", &["-mthumb", "-mcpu=cortex-m33"]),
    ("clang", &["--target=riscv32", "-march=rv32imac", "-mabi=ilp32"]),
    ("riscv64-unknown-elf-gcc", &["-march=rv32imac", "-mabi=ilp32"]),
];

#[test]
fn the_c_recorder_compiles_without_warnings_for_each_processor() {
    let folder = tempfile::tempdir().unwrap();
    for (compiler, options) in PROCESSORS {
        if !is_installed(compiler) {
            assert!(std::env::var_os("CI").is_none(), "{compiler} is not installed");
            continue;
        }
        // Semihosting is for targets only.
        let files =
            ["", "_send", "_rtt", "_semihosting"].map(|part| format!("tracewell_target{part}.c"));
        let count = if options.contains(&"hosted.h") { 3 } else { 4 };
        let output = Command::new(compiler)
            .current_dir(folder.path())
            .args(["-std=c99", "-Os", "-ffreestanding", "-Wall", "-Wextra", "-Wpedantic"])
            .args(["-Wconversion", "-Wshadow", "-Wstrict-prototypes", "-Werror"])
            .args(options)
            .arg("-I")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/target_twin"))
            .arg("-I")
            .arg(firmware())
            .arg("-c")
            .args(files[..count].iter().map(|file| firmware().join(file)))
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{compiler} {options:?}: {message}");
    }
}
