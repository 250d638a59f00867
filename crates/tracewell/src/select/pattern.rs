//! Names with `*`, and keys as numbers.

/// Whether a text is like a pattern in which `*` stands for any text; case does not count.
pub(super) fn like(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_lowercase(), text.to_lowercase());
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    // Both ends first, so that what is between them is searched only there.
    let between = text.strip_prefix(first).and_then(|text| text.strip_suffix(last));
    between.is_some_and(|between| {
        let mut rest = between;
        middle.split('*').all(|part| match rest.find(part) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                true
            }
            None => false,
        })
    })
}

/// Whether a pattern is this number, decimal or hexadecimal with `0x`.
pub(super) fn is_key(pattern: &str, key: u64) -> bool {
    match pattern.strip_prefix("0x").or_else(|| pattern.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16) == Ok(key),
        None => pattern.parse() == Ok(key),
    }
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
        assert!(like("*aa", "aaa") && like("*000", "log0000") && like("a*b*c", "a-b-b-c"));
        assert!(!like("aa*aa", "aaa") && !like("a*b*c", "a-c"));
    }
}
