//! The cases of a sample, each with a name that is unique in the table of the dialect.
//!
//! A sample is decoded:
//!
//! * as it is, with each set of options;
//! * after one to three random edits, with the sets of options in turn. If records have checksums,
//!   the checksums of every second case are corrected;
//! * in sweeps, which are many small edits with one row together: a sweep truncates the sample at
//!   each position of a stretch, or changes each byte of a stretch.

use crate::answer::{Answer, Arrival, answer};
use crate::edits::{Edit, Random};
use crate::samples::Sample;

/// Number of cases with random edits per sample.
const RANDOM: usize = 24;

/// Number of bytes of a sample that are swept one by one.
const HEAD: usize = 64;

/// Maximum number of the later bytes that are swept.
const STRETCH: usize = 48;

/// The name of a sweep, and its edit at a position.
type Sweep = (&'static str, fn(usize) -> Edit);

const SWEEPS: [Sweep; 4] = [
    ("cut", Edit::Cut),
    ("add 1", |at| Edit::Add { at, number: 1 }),
    ("subtract 1", |at| Edit::Add { at, number: 255 }),
    ("flip 7", |at| Edit::Flip { at, bit: 7 }),
];

/// Inputs that have one row together.
pub(crate) struct Case<'a> {
    pub(crate) name: String,
    pub(crate) sample: &'a Sample,
    options: &'static [&'static str],
    /// True if the checksums are corrected after the edits.
    sealed: bool,
    /// One input for each of these lists.
    pub(crate) inputs: Vec<Vec<Edit>>,
}

impl Case<'_> {
    /// Returns the answers of a decoder to one of the inputs.
    pub(crate) fn answer(&self, edits: &[Edit], arrival: Arrival, lines: bool) -> Answer {
        let mut bytes = self.sample.bytes.clone();
        edits.iter().for_each(|edit| edit.apply(&mut bytes));
        if let (true, Some(seal)) = (self.sealed, self.sample.seal) {
            bytes = seal(&self.sample.bytes, bytes);
        }
        answer(self.sample, self.options, &bytes, arrival, lines)
    }
}

/// Returns the cases of a sample.
pub(crate) fn of(sample: &Sample) -> Vec<Case<'_>> {
    let positions = positions(&sample.bytes);
    let mut cases = Vec::new();
    for options in sample.options {
        let name = [&["as it is"], *options].concat().join(" ");
        cases.push(case(sample, &name, options, false, vec![Vec::new()]));
    }
    let mut random = Random::of(sample.name);
    for number in 0..RANDOM {
        let sealed = sample.seal.is_some() && number % 2 == 0;
        let count = 1 + random.below(3);
        let mut edits = Vec::new();
        while edits.len() < count {
            let edit = random.edit(&positions);
            // Corrected checksums need records at known positions.
            if !sealed || sample.seals_anything || edit.keeps_positions() {
                edits.push(edit);
            }
        }
        let options = sample.options[number % sample.options.len()];
        let texts: Vec<_> = edits.iter().map(Edit::to_string).collect();
        let name = [&[&*texts.join(", ")], options].concat().join(" ");
        cases.push(case(sample, &name, options, sealed, vec![edits]));
    }
    for (what, edit) in SWEEPS.iter().filter(|_| sample.swept) {
        for stretch in stretches(&positions) {
            let (first, last) = (stretch[0], stretch[stretch.len() - 1]);
            let name = format!("{what} at {first} to {last} ({} times)", stretch.len());
            let inputs = stretch.into_iter().map(|at| vec![edit(at)]).collect();
            let sealed = sample.seal.is_some() && *what != "cut";
            cases.push(case(sample, &name, sample.options[0], sealed, inputs));
        }
    }
    cases
}

/// Returns the positions that edits may change. They leave out long stretches of zeros, which are
/// most of a stream's memory.
fn positions(bytes: &[u8]) -> Vec<usize> {
    let has_data = |at: &usize| {
        let around = at.saturating_sub(16)..bytes.len().min(at + 16);
        bytes[around].iter().any(|byte| *byte != 0)
    };
    (0..bytes.len()).filter(has_data).collect()
}

/// Returns the positions of each sweep.
fn stretches(positions: &[usize]) -> Vec<Vec<usize>> {
    let (head, rest) = positions.split_at(positions.len().min(HEAD));
    // An odd step reaches each byte of a word or record.
    let step = rest.len().div_ceil(STRETCH) | 1;
    let rest: Vec<_> = rest.iter().copied().step_by(step).collect();
    [head, &rest].into_iter().filter(|all| !all.is_empty()).map(<[usize]>::to_vec).collect()
}

fn case<'a>(
    sample: &'a Sample,
    name: &str,
    options: &'static [&'static str],
    sealed: bool,
    inputs: Vec<Vec<Edit>>,
) -> Case<'a> {
    let end = if sealed { ", checksums corrected" } else { "" };
    Case { name: format!("{}: {name}{end}", sample.name), sample, options, sealed, inputs }
}
