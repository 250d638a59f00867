//! Reading a file descriptor with a time limit.

use std::io::{self, Read};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::pace::TICK;

/// A file descriptor whose reads end after a tick with [`io::ErrorKind::WouldBlock`] where nothing came.
#[derive(Debug)]
pub(super) struct Polled<F>(pub(super) F);

impl<F: AsFd> Read for Polled<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut fds = [PollFd::new(&self.0, PollFlags::IN)];
        // A tick is far from the limits.
        let limit = Timespec::try_from(TICK).ok();
        match poll(&mut fds, limit.as_ref())? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            _ => Ok(rustix::io::read(&self.0, buffer)?),
        }
    }
}
