//! Waits for bytes with a time limit.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Waits until a read of the file descriptor would not block. Returns false if that takes longer
/// than `limit`.
pub(super) fn is_readable(from: &impl AsFd, limit: Duration) -> io::Result<bool> {
    let mut fds = [PollFd::new(from, PollFlags::IN)];
    // If the system cannot express the limit, wait without a limit.
    let limit = Timespec::try_from(limit).ok();
    Ok(poll(&mut fds, limit.as_ref())? > 0)
}
