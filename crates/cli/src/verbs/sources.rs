//! Opens live sources, prints notices about them, and stops reading them at a signal. `collect` and
//! `--follow` of other verbs use this module.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tracewell_collect::{Notice, Reader, Source};

use crate::outcome::{Failure, note, warn};

/// Opens a source.
pub(super) fn open(source: &Source) -> Result<Reader, Failure> {
    source.open().map_err(|error| Failure::io(Path::new(&source.to_string()), &error))
}

/// Prints events of a source, such as connections. A listening address is at the end of the line,
/// so that scripts can find it.
pub(super) fn print_notice(name: &str, notice: &Notice<'_>) {
    match notice {
        Notice::Listening(_) => note!("{notice}"),
        Notice::Opened(_) | Notice::Closed { error: None, .. } | Notice::NoEventYet(_) => {
            note!("{name}: {notice}")
        }
        Notice::Closed { .. } | Notice::Trying(_) | Notice::Restarted => warn!("{name}: {notice}"),
        Notice::Dropping | Notice::DisplayOverrun => warn!("{name}: {notice}"),
        Notice::Unrecognised | Notice::NotShown(_) => warn!("{name}: {notice}"),
    }
}

/// Returns a flag that SIGINT and SIGTERM set. The second signal ends the program at once.
pub(super) fn stop_signal() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 4, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
