//! A chunk's records as datagrams, whoever carries them.

use tracewell_wire::shark::{DatagramHeader, Record};

use super::Dump;

/// Bytes of the longest datagram.
const LONGEST: usize = DatagramHeader::SIZE + DatagramHeader::MOST_EVENTS as usize * Record::SIZE;

/// Makes datagrams, whose numbers run on over all chunks from 1 for the first.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    sent: u32,
    begun: Option<Begun>,
}

/// A chunk of which some datagrams were sent before one failed.
#[derive(Clone, Copy, Debug)]
struct Begun {
    chunk: u8,
    records: usize,
    last: Record,
}

impl Begun {
    fn of(dump: &Dump<'_>, records: usize) -> Option<Self> {
        let last = dump.records().nth(records.checked_sub(1)?)?;
        Some(Self { chunk: dump.number(), records, last })
    }

    /// Whether the records that were sent are still the chunk's first ones.
    fn is_of(&self, dump: &Dump<'_>) -> bool {
        let last = || dump.records().nth(self.records.checked_sub(1)?);
        self.chunk == dump.number() && last() == Some(self.last)
    }
}

impl Packets {
    /// The number of the last datagram that was sent; 0 before the first.
    pub fn sent(&self) -> u32 {
        self.sent
    }

    /// Gives a chunk's datagrams to `send`, one after the other: of 60 records, the last of fewer. A chunk without
    /// records makes one of no bytes and no number.
    ///
    /// # Errors
    /// The first of `send`. What was sent before it stays sent. The chunk sent once more, unless something else
    /// was sent or recorded over its first records meanwhile, goes on with the datagram that failed, under the
    /// same number: no record comes twice.
    pub fn send<E>(
        &mut self,
        dump: &Dump<'_>,
        mut send: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut done = self.begun.take().filter(|begun| begun.is_of(dump)).map_or(0, |b| b.records);
        let mut records = dump.records().skip(done).peekable();
        if records.peek().is_none() {
            return send(&[]);
        }
        while records.peek().is_some() {
            let mut datagram = [0; LONGEST];
            let number = self.sent.wrapping_add(1);
            let filled = fill(&mut datagram, number, &mut records);
            if let Err(error) = send(filled) {
                self.begun = Begun::of(dump, done);
                return Err(error);
            }
            self.sent = number;
            done += (filled.len() - DatagramHeader::SIZE) / Record::SIZE;
        }
        Ok(())
    }
}

/// Writes a datagram of as many records as it takes.
fn fill<'a>(
    datagram: &'a mut [u8; LONGEST],
    number: u32,
    records: &mut impl Iterator<Item = Record>,
) -> &'a [u8] {
    let (_, body) = datagram.split_at_mut(DatagramHeader::SIZE);
    let mut events = 0;
    // The slots first: taking a record and finding no slot for it would lose it.
    for (slot, record) in body.as_chunks_mut::<{ Record::SIZE }>().0.iter_mut().zip(records) {
        *slot = record.to_bytes();
        events += 1;
    }
    let header = DatagramHeader::new(number, events);
    let _ = header.write(datagram);
    datagram.get(..header.size as usize).unwrap_or_default()
}
