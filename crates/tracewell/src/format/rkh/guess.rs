//! Infers missing settings by searching for the settings with which the largest number of frames
//! can be decoded.
//!
//! A recording that begins in the middle of a stream contains no configuration record. However,
//! each frame has an id and a length, and an event with this id has this length only under some
//! settings. For every dialect and every form of header, the search changes one size at a time, as
//! long as this increases the number of frames that fit. The search accepts the best settings if
//! they explain nearly every frame and at least half of the frames of each frequent event, and if
//! no other settings explain as many frames. Settings that affect no frame keep their defaults.

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::RandomState;
use tracewell_wire::rkh::{
    Configuration, Cutter, Dialect, Field, MAX_FRAME_LEN, Settings, Unstuffed, checksum, ids,
    unstuff,
};

use super::schema;

/// Number of bytes examined at the start of a stream.
pub(super) const SAMPLE_BYTES: usize = 8192;

/// Minimum number of frames for an inference.
const MIN_FRAMES: usize = 8;

/// Settings must explain at least half of the frames of each event that has this number of frames
/// or more. If an event has fewer frames, all of them could be damaged.
const MIN_OF_EVENT: usize = 4;

/// The result of an inference.
pub(super) enum Guess {
    /// The stream contains a configuration record.
    Announced,
    /// These settings explain nearly all frames.
    Found(Dialect, Settings),
    /// The default settings explain the frames, but so do other settings.
    Usual,
    /// There are too few frames.
    TooFew,
    /// No settings explain the frames, or several settings explain them equally well.
    Unknown,
}

/// Whole frames at the beginning of a stream.
struct Sample {
    frames: Vec<Vec<u8>>,
    checksum: bool,
}

/// Infers dialect and settings from the first bytes of a stream.
pub(super) fn guess(bytes: &[u8], usual: Dialect, default: &Settings) -> Guess {
    // The stream contains its settings, so there is nothing to infer.
    let Some(sample) = Sample::new(bytes) else { return Guess::Announced };
    if sample.frames.len() < MIN_FRAMES {
        return Guess::TooFew;
    }
    let default = Settings { checksum: sample.checksum, ..*default };
    let candidates: Vec<_> = Dialect::ALL
        .into_iter()
        .flat_map(|dialect| candidates(&sample, dialect, default))
        .collect();
    let best = candidates.iter().max_by_key(|candidate| candidate.score);
    let Some(best) = best.filter(|best| best.explains(&sample)) else { return Guess::Unknown };
    let is_default = |other: &Candidate| other.dialect == usual && other.settings == default;
    // Accept a unique best interpretation even if it is not the default.
    if !best.has_rival(&candidates) {
        Guess::Found(best.dialect, best.settings)
    } else if candidates.iter().any(|other| other.score == best.score && is_default(other)) {
        Guess::Usual
    } else {
        Guess::Unknown
    }
}

/// Minimum number of bytes for an early inference. Fewer bytes often lack the events that determine
/// the sizes.
const EARLY_BYTES: usize = 4096;

/// Infers dialect and settings from fewer bytes than a full sample. Returns settings only if the
/// first half of the bytes leads to the same settings.
pub(super) fn early(bytes: &[u8], usual: Dialect, default: &Settings) -> Guess {
    if bytes.len() < EARLY_BYTES {
        return Guess::TooFew;
    }
    let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
    match (guess(bytes, usual, default), guess(half, usual, default)) {
        (Guess::Found(dialect, settings), Guess::Found(before, same))
            if (dialect, settings) == (before, same) =>
        {
            Guess::Found(dialect, settings)
        }
        (Guess::Announced, _) => Guess::Announced,
        _ => Guess::TooFew,
    }
}

/// Returns true if one of the frames is a configuration record.
pub(super) fn has_configuration(bytes: &[u8]) -> bool {
    Sample::new(bytes).is_none()
}

impl Sample {
    /// Returns `None` if one of the frames is a configuration record.
    fn new(bytes: &[u8]) -> Option<Self> {
        let mut cutter = Cutter::new(bytes);
        cutter.skip_to_flag();
        let mut frames = Vec::new();
        let mut scratch = [0; MAX_FRAME_LEN];
        for cut in cutter {
            let stuffed = bytes.get(cut.start..cut.end).unwrap_or_default();
            let Unstuffed::Frame(length) = unstuff(stuffed, &mut scratch) else { continue };
            let frame = scratch.get(..length).unwrap_or_default();
            if Configuration::recognise(frame).is_some() {
                return None;
            }
            frames.push(frame.to_vec());
        }
        let good = frames.iter().filter(|frame| checksum::holds(frame)).count();
        // In a stream without checksums, one frame in 256 passes this test by chance. In a stream
        // with checksums, nearly all frames pass the test.
        let checksum = 2 * good > frames.len();
        if checksum {
            frames.retain(|frame| checksum::holds(frame));
            frames.iter_mut().for_each(|frame| frame.truncate(frame.len() - 1));
        }
        Some(Self { frames, checksum })
    }

    /// Counts the pairs of adjacent frames with consecutive sequence numbers, if the number is at
    /// offset `at`.
    fn in_sequence(&self, at: usize) -> usize {
        let follows = |pair: &&[Vec<u8>]| match pair {
            [a, b] => a.get(at).zip(b.get(at)).is_some_and(|(a, b)| a.wrapping_add(1) == *b),
            _ => false,
        };
        self.frames.windows(2).filter(follows).count()
    }

    /// Groups the frames by code and length. Returns the code, the length and the number of frames
    /// of each group.
    fn kinds(&self, id: u8, dialect: Dialect) -> Vec<(u8, usize, usize)> {
        let mut kinds = HashMap::<_, usize, RandomState>::default();
        for frame in &self.frames {
            // A frame that is shorter than an id does not fit any settings.
            let Some(bytes) = frame.get(..usize::from(id)) else { continue };
            let number = bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
            if let Some(code) = ids::code(number, id, dialect.has_groups()) {
                *kinds.entry((code, frame.len())).or_default() += 1;
            }
        }
        kinds.into_iter().map(|((code, length), count)| (code, length, count)).collect()
    }
}

/// The degree to which certain settings explain a sample. Scores are compared field by field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// A frame whose length is exactly right gets two points. A frame with a string gets one
    /// point if its length is possible.
    fits: usize,
    /// Pairs of adjacent frames with consecutive sequence numbers.
    in_sequence: usize,
}

/// A dialect and settings with their score.
struct Candidate {
    score: Score,
    dialect: Dialect,
    settings: Settings,
    kinds: Vec<(u8, usize, usize)>,
}

impl Candidate {
    /// Returns true if the settings explain nearly every frame, and at least half of the frames of
    /// each event that has [`MIN_OF_EVENT`] frames or more.
    fn explains(&self, sample: &Sample) -> bool {
        let fields = fields(self.dialect);
        let mut events = HashMap::<_, (usize, usize), RandomState>::default();
        for kind in &self.kinds {
            let (frames, explained) = events.entry(kind.0).or_default();
            *frames += kind.2;
            *explained += fit(kind, fields, &self.settings).map_or(0, |_| kind.2);
        }
        let unexplained =
            events.values().any(|(frames, fit)| *frames >= MIN_OF_EVENT && 2 * fit < *frames);
        // A frame that fits exactly has two points. At least nine of ten frames must fit, which is
        // 18 points per ten frames.
        10 * self.score.fits >= 18 * sample.frames.len() && !unexplained
    }

    /// Returns true if another candidate has the same score and decodes the frames differently.
    fn has_rival(&self, candidates: &[Self]) -> bool {
        let rival = |other: &&Self| other.score == self.score && other.reading() != self.reading();
        candidates.iter().any(|other| rival(&other))
    }

    /// Returns the interpretation of each kind of frame.
    fn reading(&self) -> Vec<Reading> {
        let (schema, fields, s) = (schema(self.dialect), fields(self.dialect), &self.settings);
        let read = |(code, ..): &(u8, usize, usize)| {
            let fields = fields.get(usize::from(*code))?.as_ref()?;
            // Arguments that the settings omit have no bytes, so they do not help to choose an
            // interpretation.
            let present = fields.iter().filter(|field| field.condition.holds(s));
            let sizes = present.map(|field| field.field_type.bytes(s)).collect();
            let label = &schema.event(u32::from(*code)).label;
            let name = label.rsplit(' ').next().map(str::to_owned);
            Some((usize::from(s.id) << 8 | s.header(), s.sequence, name, sizes))
        };
        let mut reading: Vec<_> = self.kinds.iter().filter_map(read).collect();
        reading.sort();
        reading
    }
}

/// The interpretation of a kind of frame. The first field combines the sizes of the id and of the
/// header. The other fields are a flag for sequence numbers, the event's name within its group, and
/// the sizes of the event's arguments.
type Reading = (usize, bool, Option<String>, Vec<Option<u8>>);

/// The arguments of each event of a dialect.
type Fields = Vec<Option<Vec<Field>>>;

/// Returns a table from event code to arguments for a dialect. The table is parsed once per
/// process.
fn fields(dialect: Dialect) -> &'static Fields {
    static FIELDS: [OnceLock<Fields>; Dialect::ALL.len()] =
        [const { OnceLock::new() }; Dialect::ALL.len()];
    let make = || {
        let schema = schema(dialect);
        let fields = (0..256).map(|code| {
            let event = schema.event(code);
            let known = event.family != "unknown";
            known.then(|| event.args.iter().filter_map(|arg| arg.encoding.parse().ok()).collect())
        });
        fields.collect()
    };
    FIELDS[dialect as usize].get_or_init(make)
}

/// Returns a candidate for each form of header that can explain the sample. The candidate has the
/// best sizes for this form.
fn candidates(sample: &Sample, dialect: Dialect, default: Settings) -> Vec<Candidate> {
    let fields = fields(dialect);
    // The width of ids became a setting in version 2.4.5.
    let widths: &[u8] = if dialect >= Dialect::V2_4_5 { &[1, 2, 4] } else { &[1] };
    let mut found = Vec::new();
    for &id in widths {
        let kinds = sample.kinds(id, dialect);
        let in_sequence = sample.in_sequence(usize::from(id));
        for (sequence, stamp) in HEADERS {
            // Most adjacent frames have consecutive numbers; losses are rare.
            if sequence && 2 * in_sequence <= sample.frames.len() {
                continue;
            }
            let start = Settings { id, sequence, stamp, ..default };
            if !can_explain(&kinds, fields, &start, sample.frames.len()) {
                continue;
            }
            let (fits, settings) = climb(&kinds, fields, start);
            let in_sequence = if sequence { in_sequence } else { 0 };
            let score = Score { fits, in_sequence };
            found.push(Candidate { score, dialect, settings, kinds: kinds.clone() });
        }
    }
    found
}

/// Returns true if, with this header and suitable argument sizes, at least nine of ten frames can
/// fit. This test excludes most headers quickly.
fn can_explain(
    kinds: &[(u8, usize, usize)],
    fields: &Fields,
    header: &Settings,
    frames: usize,
) -> bool {
    let all = |size: u8, on: bool| Settings {
        pointer: size.max(2),
        function: size.max(2),
        signal: size,
        event_size: size,
        block_count: size,
        block_size: size,
        queue_count: size,
        timer_ticks: size,
        sender: on,
        queue_low_water: on,
        pool_low_water: on,
        ..*header
    };
    // A larger size never shortens a frame. So the smallest sizes yield the shortest frames, and
    // the largest sizes yield the longest frames.
    let (least, most) = (all(1, false), all(4, true));
    let could_fit = |&&(code, length, _): &&(u8, usize, usize)| {
        let Some(Some(fields)) = fields.get(usize::from(code)) else { return false };
        let (shortest, _) = expected(fields, &least);
        let (longest, text) = expected(fields, &most);
        shortest <= length && (text || length <= longest)
    };
    let fitting: usize = kinds.iter().filter(could_fit).map(|(_, _, count)| 2 * count).sum();
    10 * fitting >= 18 * frames
}

/// The possible forms of the part of a header that follows the id. The first value of each form is
/// true if there is a sequence number; the second value is the size of the timestamp in bytes.
const HEADERS: [(bool, u8); 8] =
    [(false, 0), (false, 1), (false, 2), (false, 4), (true, 0), (true, 1), (true, 2), (true, 4)];

/// Changes one setting at a time, as long as this increases the number of frames that fit.
fn climb(kinds: &[(u8, usize, usize)], fields: &Fields, start: Settings) -> (usize, Settings) {
    let mut best = (fits(kinds, fields, &start), start);
    loop {
        let mut better = best;
        for neighbour in neighbours(&best.1) {
            let fits = fits(kinds, fields, &neighbour);
            if fits > better.0 {
                better = (fits, neighbour);
            }
        }
        // No neighbouring settings are better, so this is a local maximum. The loop ends because
        // each iteration improves the score.
        if better.0 == best.0 {
            return best;
        }
        best = better;
    }
}

/// Returns variants of the given settings, each with another size or another value of a switch.
/// Some variants change two settings at once: the sizes of both kinds of pointers, or the size of a
/// count and the switch for a low-water mark. In some cases, only both changes together improve the
/// score. For example, one 4-byte count is as long as two 2-byte counts.
fn neighbours(from: &Settings) -> Vec<Settings> {
    let sizes: [fn(&mut Settings, u8); 6] = [
        |s, size| s.signal = size,
        |s, size| s.event_size = size,
        |s, size| s.block_count = size,
        |s, size| s.block_size = size,
        |s, size| s.queue_count = size,
        |s, size| s.timer_ticks = size,
    ];
    let switches: [fn(&mut Settings); 10] = [
        |s| (s.block_count, s.pool_low_water) = (1, !s.pool_low_water),
        |s| (s.block_count, s.pool_low_water) = (2, !s.pool_low_water),
        |s| (s.queue_count, s.queue_low_water) = (1, !s.queue_low_water),
        |s| (s.queue_count, s.queue_low_water) = (2, !s.queue_low_water),
        |s| s.sender = !s.sender,
        |s| s.queue_low_water = !s.queue_low_water,
        |s| s.pool_low_water = !s.pool_low_water,
        // Pointers have 2 or 4 bytes, so 6 minus one size is the other.
        |s| s.pointer = 6 - s.pointer,
        |s| s.function = 6 - s.function,
        |s| (s.pointer, s.function) = (6 - s.pointer, 6 - s.function),
    ];
    let changed = |change: &dyn Fn(&mut Settings)| {
        let mut settings = *from;
        change(&mut settings);
        settings
    };
    // Sizes are 1, 2 or 4 bytes. The present size is tried again, which changes nothing.
    let resized = sizes.iter().flat_map(|set| [1, 2, 4].map(|size| changed(&|s| set(s, size))));
    let switched = switches.iter().map(|switch| changed(&|s| switch(s)));
    resized.chain(switched).collect()
}

/// Returns the combined score over all kinds of frames; see [`Score::fits`].
fn fits(kinds: &[(u8, usize, usize)], fields: &Fields, settings: &Settings) -> usize {
    kinds.iter().filter_map(|kind| fit(kind, fields, settings)).sum()
}

/// Returns the score of one kind of frame, or `None` if its length is impossible.
fn fit(kind: &(u8, usize, usize), fields: &Fields, settings: &Settings) -> Option<usize> {
    let &(code, length, count) = kind;
    let (expected, text) = expected(fields.get(usize::from(code))?.as_ref()?, settings);
    match text {
        // An exact length is stronger evidence than a minimum length, so it counts twice.
        false if length == expected => Some(2 * count),
        true if length >= expected => Some(count),
        _ => None,
    }
}

/// Returns the minimum length of a frame with these arguments, and true if the frame has a string
/// that can make it longer.
fn expected(fields: &[Field], settings: &Settings) -> (usize, bool) {
    let (mut expected, mut text) = (settings.header(), false);
    for field in fields.iter().filter(|field| field.condition.holds(settings)) {
        match field.field_type.bytes(settings) {
            Some(bytes) => expected += usize::from(bytes),
            None => text = true,
        }
    }
    (expected, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a kind of frame whose length is exact, and one that contains a string. Each is a
    /// code with its minimum length.
    fn kinds() -> [(u8, usize); 2] {
        let settings = Settings::default();
        [false, true].map(|has_text| {
            let mut kinds =
                fields(Dialect::V3_4).iter().enumerate().filter_map(|(code, fields)| {
                    let (length, text) = expected(fields.as_ref()?, &settings);
                    (text == has_text).then_some((code as u8, length))
                });
            kinds.next().unwrap()
        })
    }

    #[test]
    fn a_frame_of_exact_length_counts_twice() {
        let fit =
            |code, length| fit(&(code, length, 5), fields(Dialect::V3_4), &Settings::default());
        let [(exact, length), (text, least)] = kinds();
        assert_eq!([length - 1, length, length + 1].map(|l| fit(exact, l)), [None, Some(10), None]);
        assert_eq!([least - 1, least, least + 1].map(|l| fit(text, l)), [None, Some(5), Some(5)]);
    }

    #[test]
    fn neighbours_include_each_change_of_one_setting() {
        // With counts of four bytes, no change of two settings has the effect of a switch alone.
        let from = Settings { block_count: 4, queue_count: 4, ..Settings::default() };
        let one = [
            Settings { signal: 1, ..from },
            Settings { signal: 2, ..from },
            Settings { signal: 4, ..from },
            Settings { event_size: 1, ..from },
            Settings { block_count: 1, ..from },
            Settings { block_size: 1, ..from },
            Settings { queue_count: 1, ..from },
            Settings { timer_ticks: 1, ..from },
            Settings { sender: !from.sender, ..from },
            Settings { queue_low_water: !from.queue_low_water, ..from },
            Settings { pool_low_water: !from.pool_low_water, ..from },
            Settings { pointer: 2, ..from },
            Settings { function: 2, ..from },
            Settings { pointer: 2, function: 2, ..from },
        ];
        let found = neighbours(&from);
        for settings in one {
            assert!(found.contains(&settings), "{settings:?}");
        }
    }

    #[test]
    fn a_frame_fits_a_header_from_its_least_to_its_largest_length() {
        let least = Settings {
            pointer: 2,
            function: 2,
            signal: 1,
            event_size: 1,
            block_count: 1,
            block_size: 1,
            queue_count: 1,
            timer_ticks: 1,
            sender: false,
            queue_low_water: false,
            pool_low_water: false,
            ..Settings::default()
        };
        let most = Settings {
            pointer: 4,
            function: 4,
            signal: 4,
            event_size: 4,
            block_count: 4,
            block_size: 4,
            queue_count: 4,
            timer_ticks: 4,
            sender: true,
            queue_low_water: true,
            pool_low_water: true,
            ..Settings::default()
        };
        for dialect in Dialect::ALL {
            let table = fields(dialect);
            for (code, event) in table.iter().enumerate() {
                let Some(event) = event else { continue };
                let [(shortest, _), (longest, text)] =
                    [least, most].map(|settings| expected(event, &settings));
                for header in [least, most] {
                    let lengths = [shortest - 1, shortest, longest, longest + 1];
                    let fits = lengths
                        .map(|length| can_explain(&[(code as u8, length, 1)], table, &header, 1));
                    assert_eq!(fits, [false, true, true, text], "{dialect} {code:#x}");
                }
            }
        }
    }

    #[test]
    fn nine_of_ten_frames_explain_a_stream() {
        let [(code, length), _] = kinds();
        let can_explain = |fitting: usize, others: usize| {
            let kinds = [(code, length, fitting), (code, 200, others)];
            let fields = fields(Dialect::V3_4);
            can_explain(&kinds, fields, &Settings::default(), fitting + others)
        };
        assert!(can_explain(9, 1) && can_explain(90, 10));
        assert!(!can_explain(89, 10) && !can_explain(8, 1));
    }
}
