//! A summary as bytes, for a cache.

use super::sample::Sample;
use super::{LockPart, Parts, Summary};
use crate::analysis::machines;
use crate::analysis::scheduling::Figures;
use crate::analysis::stored::{Stored, stored_structs};
use crate::analysis::tracks::Tracks;

stored_structs! {
    Parts { cores, contexts, locks, marks, arrows }
    LockPart { holder, waits }
}

impl<T: Stored> Stored for Sample<T> {
    fn put(&self, out: &mut Vec<u8>) {
        let Self { list, added, stride } = self;
        list.put(out);
        added.put(out);
        stride.put(out);
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        let (list, added, stride) = (Vec::<T>::take(input)?, u64::take(input)?, u64::take(input)?);
        (added >= list.len() as u64 && stride > 0).then_some(Self { list, added, stride })
    }
}

/// The bytes contain what [`Summary::tracks`] returns. They do not contain findings, reasons and
/// figures: these lists are empty after reading.
impl Stored for Summary {
    fn put(&self, out: &mut Vec<u8>) {
        let Self { rest, parts } = self;
        let Tracks { span, cores, contexts, jobs, locks, gaps, left_out, .. } = rest;
        span.put(out);
        cores.put(out);
        contexts.put(out);
        jobs.put(out);
        locks.put(out);
        gaps.put(out);
        left_out.put(out);
        parts.put(out);
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        let rest = Tracks {
            span: Stored::take(input)?,
            cores: Stored::take(input)?,
            contexts: Stored::take(input)?,
            jobs: Stored::take(input)?,
            locks: Stored::take(input)?,
            gaps: Stored::take(input)?,
            left_out: Stored::take(input)?,
            marks: Vec::new(),
            arrows: Vec::new(),
            levels: Vec::new(),
            machines: Vec::new(),
            spans: Vec::new(),
            findings: Vec::new(),
            reasons: Vec::new(),
            figures: Figures::default(),
            machine_figures: machines::Figures::default(),
        };
        Some(Self { rest, parts: Stored::take(input)? })
    }
}
