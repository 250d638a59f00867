//! Writes durations with a unit.

/// Returns a duration as text, such as `1.5 ms`. The unit is the largest one that is not longer
/// than the duration.
pub(crate) fn spoken_time(ns: u64) -> String {
    let units = [(1_000_000_000, "s", 9), (1_000_000, "ms", 6), (1000, "us", 3), (1, "ns", 0)];
    let (scale, unit, digits) =
        units.into_iter().find(|(scale, ..)| ns >= *scale).unwrap_or((1, "ns", 0));
    let fraction = format!("{:0digits$}", ns % scale);
    // Whole nanoseconds have no fraction, so ignore the `0` that the format above yields for them.
    let fraction = if scale == 1 { "" } else { fraction.trim_end_matches('0') };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction} {unit}", ns / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_their_largest_unit() {
        let times = [0, 999, 1500, 2_000_000, 1_000_000_001];
        let shown = ["0 ns", "999 ns", "1.5 us", "2 ms", "1.000000001 s"];
        assert_eq!(times.map(spoken_time), shown);
    }
}
