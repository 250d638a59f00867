//! Reading a file descriptor with a time limit.

use std::io::{self, Read};
use std::os::fd::AsFd;

use super::pace::TICK;
use crate::input::is_readable;

/// A file descriptor whose reads end after a tick with [`io::ErrorKind::WouldBlock`] where nothing came.
#[derive(Debug)]
pub(super) struct Polled<F>(pub(super) F);

impl<F: AsFd> Read for Polled<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match is_readable(&self.0, TICK)? {
            false => Err(io::ErrorKind::WouldBlock.into()),
            true => Ok(rustix::io::read(&self.0, buffer)?),
        }
    }
}
