//! Finds cases that are never reached, and overlapping flags.

use crate::source::Finding;
use crate::template::syntax::{
    Code, Flag, FlagTest, Flags, Macro, Number, Pattern, Size, Switch, Value, ValueKind,
};

/// Warns about unreachable cases in a switch.
pub(super) fn cases(switch: &Switch, findings: &mut Vec<Finding>) {
    let bits = widest(&switch.value);
    let is_text = is_text(&switch.value);
    let mut seen = Vec::new();
    let mut any = false;
    mixed_bases(switch, findings);
    for case in &switch.cases {
        let mut warn = |message: String| findings.push(Finding::warning(case.span, message));
        // Everything after `\*` is unreachable, so omit other warnings for it.
        if any {
            warn("this case is never reached: an earlier \\* matches everything".to_owned());
            continue;
        }
        if seen.contains(&&case.pattern) {
            let value = match &case.pattern {
                Pattern::Number(number) => format!(", {}", in_both_bases(number)),
                _ => String::new(),
            };
            warn(format!("this case is never reached: an earlier case has the same value{value}"));
        }
        match &case.pattern {
            Pattern::Any => any = true,
            Pattern::Text(_) if is_text == Some(false) => {
                warn("this case is never reached: the value is a number, not a text".to_owned());
            }
            Pattern::Number(number) if too_wide(number, bits) => {
                warn(format!("{} has more bits than the {bits} of the value", number.text));
            }
            Pattern::Text(_) | Pattern::Number(_) => {}
        }
        seen.push(&case.pattern);
    }
}

/// Warns about a switch in which some numbers are decimal and others hexadecimal. This can happen
/// only if the value does not determine the base.
fn mixed_bases(switch: &Switch, findings: &mut Vec<Finding>) {
    let numbers = || {
        switch.cases.iter().filter_map(|case| match &case.pattern {
            Pattern::Number(number) => Some((number, case.span)),
            _ => None,
        })
    };
    let is_decimal = |number: &Number| {
        // Digits that have the same value in both bases, such as 7, do not show the base.
        let hexadecimal = u64::from_str_radix(&number.text, 16);
        number.text.parse() == Ok(number.value) && hexadecimal != Ok(number.value)
    };
    let is_hexadecimal = |number: &Number| {
        let has_letters = number.text.contains(|c: char| c.is_ascii_alphabetic());
        has_letters && u64::from_str_radix(&number.text, 16).is_ok()
    };
    let decimal = numbers().find(|(number, _)| is_decimal(number));
    let hexadecimal = numbers().find(|(number, _)| is_hexadecimal(number));
    let (Some((decimal, span)), Some((hexadecimal, _))) = (decimal, hexadecimal) else { return };
    let message = format!(
        "{} is decimal here: {}; {} is hexadecimal: {}; write 0x, or set the base with %X4",
        decimal.text,
        in_both_bases(decimal),
        hexadecimal.text,
        in_both_bases(hexadecimal)
    );
    findings.push(Finding::warning(span, message));
}

fn in_both_bases(number: &Number) -> String {
    format!("{} = 0x{:X}", number.value.cast_signed(), number.value)
}

/// Warns about overlapping and impossible flags.
pub(super) fn flags(flags: &Flags, findings: &mut Vec<Finding>) {
    let bits = widest(&flags.value);
    let mut seen: Vec<&Flag> = Vec::new();
    for flag in &flags.flags {
        let mut warn = |message: String| findings.push(Finding::warning(flag.span, message));
        match &flag.test {
            FlagTest::Bits(value) if too_wide(value, bits) => {
                warn(format!("{} has more bits than the {bits} of the value", value.text));
            }
            FlagTest::Field(mask, field) if field.value & !mask.value != 0 => {
                warn(format!("never printed: {} has bits outside {}", field.text, mask.text));
            }
            _ => {}
        }
        if let Some(other) = seen.iter().find(|other| overlap(&other.test, &flag.test)) {
            let other = match &other.test {
                FlagTest::Bits(value) => value.text.clone(),
                FlagTest::Field(mask, field) => format!("& {} {}", mask.text, field.text),
            };
            warn(format!("overlaps with the earlier flag {other}"));
        }
        seen.push(flag);
    }
}

/// Returns true if two flags test the same bits and can be true at the same time.
fn overlap(a: &FlagTest, b: &FlagTest) -> bool {
    match (a, b) {
        (FlagTest::Bits(a), FlagTest::Bits(b)) => a.value & b.value != 0,
        (FlagTest::Field(mask, field), FlagTest::Field(other, value)) => {
            let common = mask.value & other.value;
            common != 0 && field.value & common == value.value & common
        }
        // One flag tests a field, and the other flag tests single bits. The flags overlap if they
        // share a bit.
        (FlagTest::Bits(bits), FlagTest::Field(mask, _))
        | (FlagTest::Field(mask, _), FlagTest::Bits(bits)) => bits.value & mask.value != 0,
    }
}

/// Returns true if a number needs more bits than the value has.
fn too_wide(number: &Number, bits: u32) -> bool {
    !number.text.starts_with('-') && bits < 64 && number.value >> bits != 0
}

/// Returns the maximum number of bits in a value.
fn widest(value: &Value) -> u32 {
    let code = match &value.kind {
        ValueKind::Code(code) | ValueKind::Macro(Macro { code: Some(code), .. }) => *code,
        ValueKind::Macro(Macro { name, .. }) => {
            return if matches!(name.as_str(), "HD" | "HT") { 16 } else { 64 };
        }
    };
    match code {
        Code::Hex(Size::Bytes(bytes))
        | Code::Signed(Size::Bytes(bytes))
        | Code::Unsigned(Size::Bytes(bytes)) => 8 * u32::from(bytes),
        Code::Octal(bytes) | Code::Errno(bytes) => 8 * u32::from(bytes),
        Code::HexByte | Code::Character => 8,
        Code::HookType => 16,
        Code::Time | Code::Process | Code::Float => 32,
        Code::Bits(field) => u32::try_from(field.total()).unwrap_or(64).min(64),
        _ => 64,
    }
}

/// Returns true if a value is text, and `None` if this is known only at run time.
fn is_text(value: &Value) -> Option<bool> {
    match &value.kind {
        ValueKind::Code(code) => Some(code.is_text()),
        ValueKind::Macro(_) => None,
    }
}
