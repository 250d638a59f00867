//! Creates the area of another process, including the streams and names that the process inherits.
//!
//! A process that is about to be traced can be a forked child that has not called the library since
//! the fork. In that case it uses its parent's event ids, which are in the parent's area. A process
//! that was started by a different program has no event ids yet.

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

/// Maximum number of ancestors to check.
const MAX_GENERATIONS: usize = 16;

/// Creates the area of another process, and makes that process search for the area.
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

/// Returns the name space of the nearest ancestor that has an area and runs the same program.
fn names_of_ancestor(registry: &Registry, process: Process) -> Option<OwnedFd> {
    let program = program(process)?;
    let ancestors = successors(process.parent(), |process| process.parent());
    let same = |ancestor: &Process| self::program(*ancestor).as_ref() == Some(&program);
    // A different program has event ids of its own, so the search ends there.
    let mut ancestors = ancestors.take(MAX_GENERATIONS).take_while(same);
    let area = ancestors.find_map(|ancestor| registry.area(ancestor).ok())?;
    let mut nonce = [0];
    sys::read_words(area.as_fd(), at::NAMES, &mut nonce);
    registry.names(nonce[0]).ok()
}

/// Returns the path of a process's executable.
fn program(process: Process) -> Option<PathBuf> {
    read_link(format!("/proc/{}/exe", process.id)).ok()
}
