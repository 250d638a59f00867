//! Waiting for bytes with a time limit.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Returns true if a read of the file descriptor does not wait; false if that is not so within `limit`.
pub(crate) fn is_readable(from: &impl AsFd, limit: Duration) -> io::Result<bool> {
    let mut fds = [PollFd::new(from, PollFlags::IN)];
    // A limit that the system cannot express is as good as none.
    let limit = Timespec::try_from(limit).ok();
    Ok(poll(&mut fds, limit.as_ref())? > 0)
}
