//! Settings of a stream that nobody told: those under which most frames make sense.
//!
//! A stream that is joined late has no configuration record. But frames bear witness: an id has
//! arguments of a known length under some settings and of another under others. For every dialect
//! and every shape of header the sizes are moved, one at a time, as long as more frames fit. The
//! best of all wins if it explains nearly every frame and no event is left that it never explains, and if no
//! other reading explains as much. What no frame speaks of stays as it was.

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::RandomState;
use tracewell_wire::rkh::{
    Configuration, Cutter, Dialect, Field, LONGEST_FRAME, Settings, Unstuffed, checksum, ids,
    unstuff,
};

use super::decoder::schema;

/// Bytes of a stream that are looked at.
pub(super) const LOOKED_AT: usize = 8192;

/// Fewer frames say nothing.
const MIN_FRAMES: usize = 8;

/// Fewer frames of an event may all be damaged.
const MIN_OF_EVENT: usize = 4;

/// What a look at the beginning of a stream says.
pub(super) enum Guess {
    /// A configuration record will tell.
    Told,
    /// Nearly all frames make sense so.
    Found(Dialect, Settings),
    /// All frames make sense with the settings that are usual; other settings explain as much.
    Usual,
    /// There are too few frames.
    TooFew,
    /// Nothing explains the frames, or several settings do.
    Unknown,
}

/// Whole frames at the beginning of a stream.
struct Sample {
    frames: Vec<Vec<u8>>,
    checksum: bool,
}

/// Looks at the first bytes of a stream.
pub(super) fn guess(bytes: &[u8], usual: Dialect, told: &Settings) -> Guess {
    let Some(sample) = Sample::new(bytes) else { return Guess::Told };
    if sample.frames.len() < MIN_FRAMES {
        return Guess::TooFew;
    }
    let told = Settings { checksum: sample.checksum, ..*told };
    let candidates: Vec<_> =
        Dialect::ALL.into_iter().flat_map(|dialect| candidates(&sample, dialect, told)).collect();
    let best = candidates.iter().max_by_key(|candidate| candidate.score);
    let Some(best) = best.filter(|best| best.explains(&sample)) else { return Guess::Unknown };
    let as_told = |other: &Candidate| other.dialect == usual && other.settings == told;
    if !best.has_rival(&candidates) {
        Guess::Found(best.dialect, best.settings)
    } else if candidates.iter().any(|other| other.score == best.score && as_told(other)) {
        Guess::Usual
    } else {
        Guess::Unknown
    }
}

/// True if one of the frames is a configuration record.
pub(super) fn is_told(bytes: &[u8]) -> bool {
    Sample::new(bytes).is_none()
}

impl Sample {
    /// `None` where one of the frames is a configuration record.
    fn new(bytes: &[u8]) -> Option<Self> {
        let mut cutter = Cutter::new(bytes);
        cutter.skip_to_flag();
        let mut frames = Vec::new();
        let mut room = [0; LONGEST_FRAME];
        for cut in cutter {
            let stuffed = bytes.get(cut.start..cut.end).unwrap_or_default();
            let Unstuffed::Frame(length) = unstuff(stuffed, &mut room) else { continue };
            let frame = room.get(..length).unwrap_or_default();
            if Configuration::recognise(frame).is_some() {
                return None;
            }
            frames.push(frame.to_vec());
        }
        let good = frames.iter().filter(|frame| checksum::holds(frame)).count();
        let checksum = 2 * good > frames.len();
        if checksum {
            frames.retain(|frame| checksum::holds(frame));
            frames.iter_mut().for_each(|frame| frame.truncate(frame.len() - 1));
        }
        Some(Self { frames, checksum })
    }

    /// How many neighbours have numbers that follow each other, if a number stands at `at`.
    fn in_sequence(&self, at: usize) -> usize {
        let follows = |pair: &&[Vec<u8>]| match pair {
            [a, b] => a.get(at).zip(b.get(at)).is_some_and(|(a, b)| a.wrapping_add(1) == *b),
            _ => false,
        };
        self.frames.windows(2).filter(follows).count()
    }

    /// How many frames have the same code and the same length.
    fn kinds(&self, id: u8, dialect: Dialect) -> Vec<(u8, usize, usize)> {
        let mut kinds = HashMap::<_, usize, RandomState>::default();
        for frame in &self.frames {
            let Some(bytes) = frame.get(..usize::from(id)) else { continue };
            let number = bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
            if let Some(code) = ids::code(number, id, dialect.has_groups()) {
                *kinds.entry((code, frame.len())).or_default() += 1;
            }
        }
        kinds.into_iter().map(|((code, length), count)| (code, length, count)).collect()
    }
}

/// How much of a sample makes sense; compared field by field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// Two for a frame of exactly the right length, one for a text that may have it.
    fits: usize,
    /// Neighbours whose numbers follow each other.
    in_sequence: usize,
}

/// Settings, and what they make of a sample.
struct Candidate {
    score: Score,
    dialect: Dialect,
    settings: Settings,
    kinds: Vec<(u8, usize, usize)>,
}

impl Candidate {
    /// True if nearly every frame makes sense, and some of each event.
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
        // A frame that fits counts two.
        10 * self.score.fits >= 18 * sample.frames.len() && !unexplained
    }

    /// True if another dialect, or another header, explains as much and reads the frames differently.
    fn has_rival(&self, candidates: &[Self]) -> bool {
        let rival = |other: &&Self| other.score == self.score && other.reading() != self.reading();
        candidates.iter().any(|other| rival(&other))
    }

    /// What is read of each kind of frame: the header, the event's name in its group, the arguments.
    fn reading(&self) -> Vec<Reading> {
        let (schema, fields, s) = (schema(self.dialect), fields(self.dialect), &self.settings);
        let read = |(code, ..): &(u8, usize, usize)| {
            let fields = fields.get(usize::from(*code))?.as_ref()?;
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

/// How a kind of frames is read: id and header, whether numbers are in it, the event's name, its arguments.
type Reading = (usize, bool, Option<String>, Vec<Option<u8>>);

/// The arguments of each event of a dialect.
type Fields = Vec<Option<Vec<Field>>>;

/// The arguments of the events of a dialect by their codes, made once.
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

/// The best sizes for each shape of header.
fn candidates(sample: &Sample, dialect: Dialect, told: Settings) -> Vec<Candidate> {
    let fields = fields(dialect);
    // The width of ids became a setting with 2.4.5.
    let widths: &[u8] = if dialect >= Dialect::V2_4_5 { &[1, 2, 4] } else { &[1] };
    let mut found = Vec::new();
    for &id in widths {
        let kinds = sample.kinds(id, dialect);
        let in_sequence = sample.in_sequence(usize::from(id));
        for (sequence, stamp) in HEADERS {
            // Numbers of neighbours follow each other, but for losses.
            if sequence && 2 * in_sequence <= sample.frames.len() {
                continue;
            }
            let start = Settings { id, sequence, stamp, ..told };
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

/// False if no sizes at all make nearly all frames fit behind this header: most headers need no closer look.
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

/// What may stand between id and arguments: whether a number, and how many bytes of a stamp.
const HEADERS: [(bool, u8); 8] =
    [(false, 0), (false, 1), (false, 2), (false, 4), (true, 0), (true, 1), (true, 2), (true, 4)];

/// Moves one setting at a time as long as more frames fit.
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
        if better.0 == best.0 {
            return best;
        }
        best = better;
    }
}

/// The settings that differ in one size or one switch, or in a count and its low-water mark: a count
/// of four bytes looks like two counts of two.
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
        |s| s.pointer = 6 - s.pointer,
        |s| s.function = 6 - s.function,
        |s| (s.pointer, s.function) = (6 - s.pointer, 6 - s.function),
    ];
    let changed = |change: &dyn Fn(&mut Settings)| {
        let mut settings = *from;
        change(&mut settings);
        settings
    };
    let resized = sizes.iter().flat_map(|set| [1, 2, 4].map(|size| changed(&|s| set(s, size))));
    let switched = switches.iter().map(|switch| changed(&|s| switch(s)));
    resized.chain(switched).collect()
}

/// Two for each frame of the right length, one for each that has a text in it and may have it.
fn fits(kinds: &[(u8, usize, usize)], fields: &Fields, settings: &Settings) -> usize {
    kinds.iter().filter_map(|kind| fit(kind, fields, settings)).sum()
}

fn fit(kind: &(u8, usize, usize), fields: &Fields, settings: &Settings) -> Option<usize> {
    let &(code, length, count) = kind;
    let (expected, text) = expected(fields.get(usize::from(code))?.as_ref()?, settings);
    match text {
        false if length == expected => Some(2 * count),
        true if length >= expected => Some(count),
        _ => None,
    }
}

/// The length of a frame with these arguments, and true if it has a text, which makes it longer.
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
