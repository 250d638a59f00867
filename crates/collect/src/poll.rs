//! Reads a file descriptor with a time limit.

use std::io::{self, Read};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::pace::TICK;

/// A file descriptor whose reads fail with [`io::ErrorKind::WouldBlock`] after a tick without data.
#[derive(Debug)]
pub(crate) struct Polled<F>(pub(crate) F);

impl<F: AsFd> Read for Polled<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut fds = [PollFd::new(&self.0, PollFlags::IN)];
        // If the system cannot represent the limit, the wait has no limit.
        let limit = Timespec::try_from(TICK).ok();
        match poll(&mut fds, limit.as_ref())? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            _ => Ok(rustix::io::read(&self.0, buffer)?),
        }
    }
}
