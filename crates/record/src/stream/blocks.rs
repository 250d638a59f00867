//! The pending blocks of a log: each block is sealed and numbered, and stays in memory until the
//! sink has accepted it.

use std::io::{self, Write};
use std::vec::Vec;

use tracewell_wire::native::block::{self, Kind};
use tracewell_wire::native::{PacketHeader, REBASE, RecordHeader, WORD, put_words, word};

/// Blocks that the sink has not completely accepted yet.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    bytes: Vec<u8>,
    /// Number of bytes that the sink has accepted.
    written: usize,
    /// Number of blocks added so far, which is also the number of the next block.
    added: u64,
    /// Position in the log after the last block.
    offset: u64,
}

impl Blocks {
    /// Returns true if the log has no block yet.
    pub(super) const fn none_added(&self) -> bool {
        self.added == 0
    }

    /// Returns the position in the log at which the next block begins.
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the number of bytes in memory. Bytes that the sink has accepted stay in memory until
    /// the sink has accepted all bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns true if the sink has not accepted all bytes.
    pub(super) fn are_pending(&self) -> bool {
        self.bytes.len() > self.written
    }

    /// Adds a block. The body consists of the words in `first`, followed by the words in `second`.
    pub(super) fn add(&mut self, kind: Kind, first: &[u64], second: &[u64]) {
        let start = self.bytes.len();
        let body = self.extend((first.len() + second.len()) * WORD);
        let (to_first, to_second) = body.split_at_mut(first.len() * WORD);
        let stored = put_words(to_first, first).and_then(|()| put_words(to_second, second));
        debug_assert!(stored.is_some(), "the body has room for the words");
        self.seal(kind, start);
    }

    /// Adds a block whose body consists of the word `head` followed by `bytes`, padded with zeros
    /// to whole words.
    pub(super) fn add_text(&mut self, kind: Kind, head: u64, bytes: &[u8]) {
        let start = self.bytes.len();
        let body = self.extend(WORD + bytes.len().next_multiple_of(WORD));
        let stored = put_words(body, &[head]);
        debug_assert!(stored.is_some(), "the body has room for the word");
        body[WORD..][..bytes.len()].copy_from_slice(bytes);
        self.seal(kind, start);
    }

    /// Appends an empty block and returns its body of `body` bytes.
    fn extend(&mut self, body: usize) -> &mut [u8] {
        let start = self.bytes.len() + block::HEAD;
        self.bytes.resize(start + body, 0);
        &mut self.bytes[start..]
    }

    /// Completes the block that begins at byte `start`: fills in its header.
    fn seal(&mut self, kind: Kind, start: usize) {
        let sealed = block::seal(&mut self.bytes[start..], kind, self.added);
        debug_assert!(sealed.is_some(), "every block built here has a header and whole words");
        self.added += 1;
        self.offset += (self.bytes.len() - start) as u64;
    }

    /// Writes the pending bytes to the sink.
    pub(super) fn write(&mut self, sink: &mut impl Write) -> io::Result<()> {
        while let Some(rest) = self.bytes.get(self.written..).filter(|rest| !rest.is_empty()) {
            match sink.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                // After an error, the next call continues after the bytes that the sink accepted.
                Ok(written) => self.written += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        sink.flush()?;
        self.bytes.clear();
        self.written = 0;
        Ok(())
    }

    /// Returns the number of events in blocks that the sink has not completely accepted.
    pub(super) fn pending_events(&self) -> u64 {
        let (mut at, mut events) = (0, 0);
        while let block::Lookup::Block(found) =
            block::find(self.bytes.get(at..).unwrap_or_default())
        {
            at += block::HEAD + found.body.len();
            // A block counts until its last byte has been written.
            if found.kind == Some(Kind::Packet) && at > self.written {
                events += records(found.body);
            }
        }
        events
    }
}

/// Returns the number of events in the body of a packet block.
fn records(body: &[u8]) -> u64 {
    let (mut at, mut events) = (PacketHeader::WORDS, 0);
    while let Some(word) = word(body, at) {
        let head = RecordHeader::unpack(word);
        events += u64::from(head.id != REBASE);
        at += 1 + usize::from(head.words);
    }
    events
}
