//! Blocks of a log on their way to its sink: sealed, numbered, kept until the sink took them.

use std::io::{self, Write};
use std::vec::Vec;

use tracewell_wire::native::block::{self, Kind};
use tracewell_wire::native::{PacketHeader, REBASE, RecordHead, WORD, put_words, word};

/// Blocks that the sink did not take yet.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    bytes: Vec<u8>,
    /// How many of the bytes the sink took.
    taken: usize,
    /// Blocks that were ever added: the number of the next one.
    added: u64,
    /// Position in the log behind the last of them.
    offset: u64,
}

impl Blocks {
    /// Whether the log has no block yet.
    pub(super) const fn none_added(&self) -> bool {
        self.added == 0
    }

    /// Position in the log where the next block begins.
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes that are kept, those that the sink took lately among them.
    pub(super) fn kept(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is something for the sink.
    pub(super) fn wait(&self) -> bool {
        self.bytes.len() > self.taken
    }

    /// Adds a block whose body is these words and then these words.
    pub(super) fn add(&mut self, kind: Kind, first: &[u64], second: &[u64]) {
        let start = self.bytes.len();
        let body = self.room((first.len() + second.len()) * WORD);
        let (to_first, to_second) = body.split_at_mut(first.len() * WORD);
        let stored = put_words(to_first, first).and_then(|()| put_words(to_second, second));
        debug_assert!(stored.is_some(), "the room was made for the words");
        self.seal(kind, start);
    }

    /// Adds a block whose body is a word and then bytes, with zeroes to the end of a word.
    pub(super) fn add_text(&mut self, kind: Kind, head: u64, bytes: &[u8]) {
        let start = self.bytes.len();
        let body = self.room(WORD + bytes.len().next_multiple_of(WORD));
        let stored = put_words(body, &[head]);
        debug_assert!(stored.is_some(), "the room was made for the word");
        body[WORD..][..bytes.len()].copy_from_slice(bytes);
        self.seal(kind, start);
    }

    fn room(&mut self, body: usize) -> &mut [u8] {
        let start = self.bytes.len() + block::HEAD;
        self.bytes.resize(start + body, 0);
        &mut self.bytes[start..]
    }

    /// Ends the block that begins at `start` of what is kept.
    fn seal(&mut self, kind: Kind, start: usize) {
        let sealed = block::seal(&mut self.bytes[start..], kind, self.added);
        debug_assert!(sealed.is_some(), "every block made here has a head and whole words");
        self.added += 1;
        self.offset += (self.bytes.len() - start) as u64;
    }

    /// Gives the sink what it did not take yet.
    pub(super) fn write(&mut self, sink: &mut impl Write) -> io::Result<()> {
        while let Some(rest) = self.bytes.get(self.taken..).filter(|rest| !rest.is_empty()) {
            match sink.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => self.taken += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        sink.flush()?;
        self.bytes.clear();
        self.taken = 0;
        Ok(())
    }

    /// Events in blocks of which the sink did not take everything.
    pub(super) fn events_waiting(&self) -> u64 {
        let (mut at, mut events) = (0, 0);
        while let block::Found::Block(found) = block::find(self.bytes.get(at..).unwrap_or_default())
        {
            at += block::HEAD + found.body.len();
            if found.kind == Some(Kind::Packet) && at > self.taken {
                events += records(found.body);
            }
        }
        events
    }
}

fn records(body: &[u8]) -> u64 {
    let (mut at, mut events) = (PacketHeader::WORDS, 0);
    while let Some(word) = word(body, at) {
        let head = RecordHead::unpack(word);
        events += u64::from(head.id != REBASE);
        at += 1 + usize::from(head.words);
    }
    events
}
