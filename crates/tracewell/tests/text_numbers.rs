//! Tests that a text buffer writes numbers exactly as the standard library does. The tests cover
//! numbers of every length.

use tracewell::text::{Reservation, TextBuffer};

/// The numbers next to each power of ten, numbers with varied digits, and the two largest numbers.
fn numbers() -> impl Iterator<Item = u64> {
    let powers = (0..20).map(|power| 10_u64.pow(power));
    let ends = powers.flat_map(|power| [power - 1, power, power + 1]);
    let digits = (1..=19).map(|length| 1_234_567_890_123_456_789 / 10_u64.pow(19 - length));
    ends.chain(digits).chain([u64::MAX, u64::MAX - 1])
}

fn written(write: impl for<'a> Fn(Reservation<'a>) -> Reservation<'a>) -> String {
    let mut buffer = TextBuffer::default();
    write(buffer.room(8 * Reservation::NUMBER)).done();
    buffer.as_text().into_owned()
}

#[test]
fn numbers_have_the_digits_of_the_standard_library() {
    for number in numbers() {
        assert_eq!(written(|out| out.decimal(number)), number.to_string());
        let signed = number.cast_signed();
        assert_eq!(written(|out| out.signed(signed)), signed.to_string());
        assert_eq!(
            written(|out| out.signed(signed.wrapping_neg())),
            signed.wrapping_neg().to_string()
        );
        let (low, high) = (number & u64::from(u32::MAX), number);
        assert_eq!(written(|out| out.hexadecimal(low, 8)), format!("{low:08X}"));
        assert_eq!(written(|out| out.hexadecimal(high, 16)), format!("{high:016X}"));
        for bytes in 1..=8 {
            let part = number & (u64::MAX >> (64 - 8 * bytes));
            let expected = format!("{part:0width$X}", width = 2 * bytes);
            assert_eq!(written(|out| out.hexadecimal_bytes(number, bytes)), expected);
        }
    }
    for number in 0..1000 {
        assert_eq!(written(|out| out.decimal(number)), number.to_string());
        assert_eq!(written(|out| out.thousandths(number)), format!(".{number:03}"));
    }
}

#[test]
fn fields_have_their_width_and_longer_numbers_are_not_cut() {
    for number in numbers() {
        let seconds = format!("{}.{:09}", number / 1_000_000_000, number % 1_000_000_000);
        let milliseconds = format!("{}.{:06}", number / 1_000_000, number % 1_000_000);
        for width in [0, 1, 2, 5, 9, 10, 12, 16] {
            assert_eq!(written(|out| out.right(number, width)), format!("{number:>width$}"));
            assert_eq!(written(|out| out.seconds(number, width)), format!("{seconds:>width$}"));
            // In a left-aligned field, at least one space follows the number.
            let left = |text: &str| format!("{text:<width$}", width = width.max(text.len() + 1));
            assert_eq!(written(|out| out.left(number, width)), left(&number.to_string()));
            assert_eq!(written(|out| out.seconds_left(number, width)), left(&seconds));
            assert_eq!(written(|out| out.milliseconds_left(number, width)), left(&milliseconds));
        }
    }
}
