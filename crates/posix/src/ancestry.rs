//! The area of a process that has not made one itself, with what the process inherits.
//!
//! A process that is about to be traced may be the child of a fork that has not called the library since. Its
//! ids are those of its parent, which the parent's area leads to. A program that was started by another
//! program has no ids yet.

use std::fs::read_link;
use std::iter::successors;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use tracewell_wire::posix::area::{SLOTS, at};

use crate::local;
use crate::names::NameFile;
use crate::process::Process;
use crate::registry::Registry;
use crate::sys::{self, Errno};

/// Ancestors that are asked.
const MAX_GENERATIONS: usize = 16;

/// Makes the area of another process, and has that process look for it.
pub(crate) fn make_area(registry: &Registry, process: Process) -> Result<OwnedFd, Errno> {
    let (slots, shared) = local::parents_slots(registry, process);
    let area = if slots.iter().any(|nonce| *nonce != 0) && registry.names(shared).is_ok() {
        registry.make_area(process, shared, &slots)?
    } else {
        let (nonce, file) = registry.make_names()?;
        if let Some(names) = names_of_ancestor(registry, process) {
            NameFile(file.as_fd()).copy_from(NameFile(names.as_fd()))?;
        }
        registry.make_area(process, nonce, &[0; SLOTS])?
    };
    registry.call_all();
    Ok(area)
}

/// The names of the nearest ancestor that has an area and runs the same program.
fn names_of_ancestor(registry: &Registry, process: Process) -> Option<OwnedFd> {
    let program = program(process)?;
    let ancestors = successors(process.parent(), |process| process.parent());
    let same = |ancestor: &Process| self::program(*ancestor).as_ref() == Some(&program);
    let mut ancestors = ancestors.take(MAX_GENERATIONS).take_while(same);
    let area = ancestors.find_map(|ancestor| registry.area(ancestor).ok())?;
    let mut nonce = [0];
    sys::read_words(area.as_fd(), at::NAMES, &mut nonce);
    registry.names(nonce[0]).ok()
}

/// The file that a process runs.
fn program(process: Process) -> Option<PathBuf> {
    read_link(format!("/proc/{}/exe", process.id)).ok()
}
