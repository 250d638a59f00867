//! Generates template files for the benchmarks.

use std::fmt::Write;

/// Returns a template for each event id up to 0x3FF and for the first user events. Each prints five
/// fields and one word of a switch.
pub fn five_fields() -> String {
    let mut text = String::new();
    for id in (0..0x400).chain(0x1000..0x1100) {
        let _ = writeln!(
            text,
            "{id:04X} 1.0 L=KERN \"event {id}\" \"object=\" X4 \"value=\" U4 \"at=\" $D3%X4 \
             \"low=\" $D2%D1 \"tid=\" $TID%X4 $D4%U1, 0 \"none\", 1 \"one\", 2 \"two\", \\* \"many\""
        );
    }
    text
}

/// Returns `stanzas` templates of about 200 bytes each, in the style of AIX's trace format files.
pub fn many(stanzas: u32) -> String {
    let mut text = String::new();
    for number in 0..stanzas {
        let id = 0x1000 + number;
        let _ = writeln!(
            text,
            "{id:04X} 1.{number} L=SVC \"service {number}\" \\\n  \
             {{{{ $count = U2 $rest = $HL - $count * 4 }}}} \"unit=\" $D1%U4 \"flags=\" \\\n  \
             BITFLAGS $D2, 0001 \"READ \" 0002 \"WRITE \", & 00F0 0010 \"SYNC \" \\\n  \
             G4 X1, 00 \"open\", 01 \"close\", 02 {{\"count \" $count%D4}}, \\* \"other\" \\\n  \
             LOOP $count {{X4 \"/\" D4}} \\n \"rest \" $rest"
        );
    }
    text
}
