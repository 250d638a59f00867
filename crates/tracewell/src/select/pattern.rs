//! Matches patterns with `*` and `?`, and parses keys as numbers.

use std::str::Chars;

/// Returns true if a text matches a pattern in which `*` matches any text and `?` any character.
/// Case is ignored, and a space equals `_`. The time is at most proportional to the product of both
/// lengths. Nothing is allocated.
pub(crate) fn like(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // The pattern after the last `*`, and the text after the characters that this `*` matches so
    // far.
    let mut star: Option<(Chars<'_>, Chars<'_>)> = None;
    loop {
        let before = text.clone();
        match (pattern.next(), text.next()) {
            (Some('*'), _) => {
                star = Some((pattern.clone(), before.clone()));
                text = before;
            }
            (Some(wanted), Some(found)) if wanted == '?' || same(wanted, found) => {}
            (None, None) => return true,
            _ => {
                // On a mismatch, let the last `*` match one more character. Earlier stars need no
                // retry: if the pattern matches at all, it also matches when each of them matches
                // as few characters as possible.
                let Some((after_star, rest)) = &mut star else { return false };
                if rest.next().is_none() {
                    return false;
                }
                (pattern, text) = (after_star.clone(), rest.clone());
            }
        }
    }
}

/// Returns true if two characters are equal. Case is ignored, and a space equals `_`.
pub(super) fn same(a: char, b: char) -> bool {
    let is_blank = |c: char| c == ' ' || c == '_';
    a == b || (is_blank(a) && is_blank(b)) || a.to_lowercase().eq(b.to_lowercase())
}

/// Parses a pattern as a number, decimal or hexadecimal with `0x`.
pub(super) fn key(pattern: &str) -> Option<u64> {
    match pattern.strip_prefix("0x").or_else(|| pattern.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => pattern.parse().ok(),
    }
}

/// Parses a hook id of AIX trace: three or four hexadecimal digits, with or without `0x`. A number
/// of three digits stands for the same number with a zero appended: `0AB` is `0AB0`.
pub(super) fn hook_id(pattern: &str) -> Option<u32> {
    let digits = pattern.strip_prefix("0x").or_else(|| pattern.strip_prefix("0X"));
    let digits = digits.unwrap_or(pattern);
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let value = u32::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal)?;
    match digits.len() {
        3 => Some(value << 4),
        4 => Some(value),
        _ => None,
    }
}

/// Returns true if a pattern is this number, decimal or hexadecimal with `0x`.
pub(crate) fn is_key(pattern: &str, key: u64) -> bool {
    self::key(pattern) == Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(like("tx_*_get", "TX_SEMAPHORE_GET"));
        assert!(like("*", "") && like("low", "Low") && like("a*a", "a a a"));
        assert!(!like("low", "slow") && !like("lo", "low") && !like("a*a", "a"));
        assert!(!like("tx_*_get", "tx_semaphore_get_2"));
        assert!(like("SM_TRN", "SM TRN") && like("main queue", "Main_Queue"));
        assert!(like("*aa", "aaa") && like("*000", "log0000") && like("a*b*c", "a-b-b-c"));
        assert!(!like("aa*aa", "aaa") && !like("a*b*c", "a-c"));
    }

    #[test]
    fn a_question_mark_stands_for_one_character() {
        assert!(like("s?", "S1") && like("???", "äöü") && like("*?", "x") && like("a?c*", "abcd"));
        assert!(!like("s?", "S") && !like("s?", "S12") && !like("*?", ""));
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let text = "a".repeat(20_000);
        assert!(!like(&format!("{}b", "a*".repeat(50)), &text));
    }
}
