//! Formats events with every part of a template. Tests that the formatter allocates no memory once
//! its buffers are large enough.

#[path = "../../record/tests/allocations/mod.rs"]
mod allocations;

use allocations::counted;
use tracewell::template::{Entry, EventContext, Machine, Program, Source};

const TEMPLATE: &str = r#"
0BB 1.0 "@sub" "<" X1 "> "
0AA 1.0 L=SVC "every code" {{ show(v) $v, 0 "none", \* {"v=" $v%UW} }} \
  {{ $n = $D1 + 3 * U1 - 1 $text = A2 }} X0 X2 XW G4 D4 U4 o2 A4.6 A0 B0.5 B1.3 \n L=INT \
  G4 F4 G4 F8 G4 T4 G4 E4 G4 P4 HB HT $text $HD $D2%F4 $EXECPATH $LOGFILE $TID \t "tab" \
  show($D3) show(0) $0BB LOOP $HOOKENV%U1 {"x"} BITFLAGS $D1, 0001 "a" "b", & 00F0 0010 "c" \
  STARTTIMER(1, $TID) ENDTIMER(1, $TID) OBJECT($D1) $D4, 1 "one", 0x7F "two", \* "many" \
  G4 S0 $ERROR
"#;

#[test]
fn no_step_of_a_template_allocates() {
    let source = Source::new("all.fmt", TEMPLATE);
    let compiled = Program::of(&[source]);
    assert!(compiled.is_valid(), "{:?}", compiled.findings);
    let mut bytes = vec![0x0A, 0xA6, 0x12, 0x34];
    bytes.extend([0x3F, 0x80, 0, 0, 0x42, 0x43, 0x44, 0x45, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    let (known, unknown) =
        (Entry::hook32(&bytes).unwrap(), Entry::hook32(&[0x0C, 0xC1, 0, 0]).unwrap());
    let around =
        EventContext { tid: 7, executable: "/bin/x", log: "all.twx", ..EventContext::default() };
    let mut machine = Machine::default();
    let mut format = || {
        let lines = machine.format(&compiled.program, &known, &around).iter().count();
        machine.format(&compiled.program, &unknown, &around);
        lines
    };
    // The first events make the buffers grow.
    assert_eq!((format(), format()), (2, 2));
    let before = counted();
    let lines: usize = (0..100).map(|_| format()).sum();
    assert_eq!(counted() - before, 0);
    assert_eq!(lines, 200);
    let text = machine.format(&compiled.program, &known, &around).text();
    assert!(text.contains("<ERROR all.twx at byte 0, trace id 0AA>"), "{text}");
}
