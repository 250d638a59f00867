//! Packs a chunk's records into datagrams, for any transport.

use tracewell_wire::shark::{DatagramHeader, Record};

use super::Dump;

/// Size of the longest datagram in bytes.
const MAX_LEN: usize = DatagramHeader::SIZE + DatagramHeader::MAX_EVENTS as usize * Record::SIZE;

/// Builds datagrams. Their sequence numbers start at 1 and continue over all chunks.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    sent: u32,
    begun: Option<Begun>,
}

/// A chunk that was sent only in part, because the sender failed at a datagram.
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

    /// Returns true if the records that were sent are still the first records of `dump`.
    fn is_of(&self, dump: &Dump<'_>) -> bool {
        let last = || dump.records().nth(self.records.checked_sub(1)?);
        self.chunk == dump.number() && last() == Some(self.last)
    }
}

impl Packets {
    /// Returns the sequence number of the last datagram that was sent, or 0 before the first.
    pub fn sent(&self) -> u32 {
        self.sent
    }

    /// Passes a chunk's datagrams to `send`, one at a time. Each datagram contains 60 records,
    /// except that the last datagram may contain fewer. For a chunk without records, passes one
    /// empty datagram, which has no number.
    ///
    /// # Errors
    /// Returns the first error of `send`. If the next call sends the same chunk, and the chunk's
    /// first records have not been overwritten, the call continues with the failed datagram. So no
    /// record is sent twice, and the datagram keeps its number.
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
            let mut datagram = [0; MAX_LEN];
            let number = self.sent.wrapping_add(1);
            let filled = fill(&mut datagram, number, &mut records);
            if let Err(error) = send(filled) {
                self.begun = Begun::of(dump, done);
                return Err(error);
            }
            // A failed datagram keeps its number, so count it only now.
            self.sent = number;
            done += (filled.len() - DatagramHeader::SIZE) / Record::SIZE;
        }
        Ok(())
    }
}

/// Fills a datagram with as many records as fit.
fn fill<'a>(
    datagram: &'a mut [u8; MAX_LEN],
    number: u32,
    records: &mut impl Iterator<Item = Record>,
) -> &'a [u8] {
    let (_, body) = datagram.split_at_mut(DatagramHeader::SIZE);
    let mut events = 0;
    // `zip` must advance the slots first: otherwise a record without a slot would be lost.
    for (slot, record) in body.as_chunks_mut::<{ Record::SIZE }>().0.iter_mut().zip(records) {
        *slot = record.to_bytes();
        events += 1;
    }
    let header = DatagramHeader::new(number, events);
    let _ = header.write(datagram);
    datagram.get(..header.size as usize).unwrap_or_default()
}
