//! A slow model of the recorder, which keeps buffers as lists of whole entries.
//!
//! The model stores no bytes. It computes the size of a frame from the table of entry forms. With
//! each entry, it stores the entry's offset in the ring. To find overwritten entries, it examines
//! all entries.

use tracewell_record::aix::{Counts, LogFull, Mode, Outcome};
use tracewell_wire::aix::Env;

/// The parts of an entry that a reader must return.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    pub tick: u64,
    pub cpu: u16,
    pub env: Env,
    pub id: String,
    pub words: Vec<u64>,
    pub data: Option<Vec<u8>>,
}

impl Item {
    /// Returns the length of the entry's frame in bytes.
    fn size(&self) -> usize {
        let word = if self.env == Env::Bits32 { 4 } else { 8 };
        let data = self.data.as_ref().map_or(0, Vec::len);
        32 + (word * (1 + self.words.len()) + data).next_multiple_of(8)
    }
}

fn size_of(items: &[Item]) -> usize {
    items.iter().map(Item::size).sum()
}

/// Number of bytes that a buffer reserves for hook 006 and TRACE OFF. Hooks 005 and 006 together
/// have the same maximum length.
const RESERVED: usize = 48 + 56;
/// Length of the mark at the front of a ring in bytes.
const FRONT: usize = 56;

/// A list of entries for the log.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Waiting {
    pub items: Vec<Item>,
    pub starts_over: bool,
}

pub struct Reference {
    pub mode: Mode,
    /// Environment of the trace's own entries.
    pub env: Env,
    /// Length of one buffer in bytes. For a ring, this excludes the loss mark.
    pub capacity: usize,
    pub header: usize,
    pub log_size: Option<usize>,
    pub log_full: LogFull,
    pub on: bool,
    pub stopped: bool,
    pub counts: Counts,
    missed_here: u64,
    filling: Waiting,
    /// Entries that can be drained, oldest first.
    pub waiting: Vec<Waiting>,
    /// Sizes of the buffers drained since the log began.
    log: Vec<usize>,
    ring: Vec<(usize, Item)>,
    ring_next: usize,
}

impl Reference {
    pub fn new(mode: Mode, env: Env, capacity: usize, header: usize) -> Self {
        Self {
            mode,
            env,
            capacity,
            header,
            log_size: None,
            log_full: LogFull::Wrap,
            on: false,
            stopped: false,
            counts: Counts::default(),
            missed_here: 0,
            filling: Waiting::default(),
            waiting: Vec::new(),
            log: Vec::new(),
            ring: Vec::new(),
            ring_next: 0,
        }
    }

    /// Returns an entry of the trace itself, in the model's environment.
    fn own(&self, tick: u64, cpu: u16, id: &str, words: &[u64]) -> Item {
        let mut words = words.to_vec();
        if self.env == Env::Bits32 && words.len() > 1 {
            words.resize(5, 0);
        }
        Item { tick, cpu, env: self.env, id: id.to_owned(), words, data: None }
    }

    pub fn put(&mut self, item: Item) -> Outcome {
        let (tick, cpu) = (item.tick, item.cpu);
        let stored = match self.mode {
            Mode::Circular => self.put_in_ring(item),
            Mode::Single => {
                let fits = size_of(&self.filling.items) + item.size() + RESERVED <= self.capacity;
                if fits { self.store(item) } else { self.miss_and_stop(tick, cpu) }
            }
            Mode::Alternate => self.put_in_pair(item),
        };
        if stored { Outcome::Recorded } else { Outcome::Missed }
    }

    pub fn switch(&mut self, on: bool, tick: u64, cpu: u16) {
        let id = if on { "001" } else { "002" };
        self.on = true;
        self.put(self.own(tick, cpu, id, &[0]));
        self.on = on && !self.stopped;
    }

    fn store(&mut self, item: Item) -> bool {
        self.filling.items.push(item);
        self.counts.recorded += 1;
        true
    }

    fn miss(&mut self) -> bool {
        self.counts.buffer_wraps += u64::from(self.missed_here == 0);
        self.missed_here += 1;
        self.counts.missed += 1;
        false
    }

    fn miss_and_stop(&mut self, tick: u64, cpu: u16) -> bool {
        self.miss();
        self.close(tick, cpu);
        false
    }

    fn mark(&mut self, tick: u64, cpu: u16) {
        if self.missed_here > 0 {
            let words = [self.counts.buffer_wraps, self.missed_here];
            self.store(self.own(tick, cpu, "006", &words));
            self.missed_here = 0;
        }
    }

    fn put_in_pair(&mut self, item: Item) -> bool {
        let (tick, cpu) = (item.tick, item.cpu);
        let mark = if self.missed_here > 0 { 56 } else { 0 };
        let used = size_of(&self.filling.items);
        if used + mark + item.size() + RESERVED > self.capacity {
            let fits_empty = 2 * RESERVED + item.size() <= self.capacity;
            if !fits_empty || !self.waiting.is_empty() {
                return self.miss();
            }
            self.log.push(used);
            let log = self.header + self.log.iter().sum::<usize>();
            let full = self.log_size.is_some_and(|size| log + self.capacity > size);
            if full && self.log_full == LogFull::Stop {
                return self.miss_and_stop(tick, cpu);
            }
            self.waiting.push(std::mem::take(&mut self.filling));
            if full {
                self.log.clear();
                self.filling.starts_over = true;
                self.counts.log_wraps += 1;
                self.store(self.own(tick, cpu, "005", &[self.counts.log_wraps]));
            }
        }
        self.mark(tick, cpu);
        self.store(item)
    }

    fn put_in_ring(&mut self, item: Item) -> bool {
        let size = item.size();
        if size > self.capacity {
            self.counts.missed += 1;
            return false;
        }
        let alive = self.ring.len();
        if self.ring_next + size > self.capacity {
            let next = self.ring_next;
            self.ring.retain(|(at, _)| *at < next);
            self.ring_next = 0;
            self.counts.buffer_wraps += 1;
        }
        let (start, end) = (self.ring_next, self.ring_next + size);
        self.ring.retain(|(at, item)| at + item.size() <= start || *at >= end);
        self.counts.overwritten += (alive - self.ring.len()) as u64;
        self.ring.push((start, item));
        self.ring_next = end;
        self.counts.recorded += 1;
        true
    }

    /// Stops the trace. Records TRACE OFF if the trace was on, and makes all remaining entries
    /// available for draining.
    pub fn close(&mut self, tick: u64, cpu: u16) {
        let was_on = std::mem::take(&mut self.on);
        self.stopped = true;
        self.mark(tick, cpu);
        if was_on {
            let off = self.own(tick, cpu, "002", &[0]);
            if self.mode == Mode::Circular {
                self.put_in_ring(off)
            } else {
                self.store(off)
            };
        }
        let last = match self.mode {
            Mode::Circular => self.unrolled(),
            _ => std::mem::take(&mut self.filling),
        };
        self.waiting.push(last);
        self.waiting.retain(|waiting| !waiting.items.is_empty());
    }

    fn unrolled(&mut self) -> Waiting {
        let mut items: Vec<_> = self.ring.drain(..).map(|(_, item)| item).collect();
        let lost = self.counts.overwritten + self.counts.missed;
        if let (1.., Some(Item { tick, cpu, .. })) = (lost, items.first()) {
            let mark = self.own(*tick, *cpu, "006", &[self.counts.buffer_wraps, lost]);
            items.insert(0, mark);
            self.counts.recorded += 1;
        }
        Waiting { items, starts_over: false }
    }

    /// Returns the number of bytes before the first entry of a ring; 0 in other modes.
    pub fn front(mode: Mode) -> usize {
        if mode == Mode::Circular { FRONT } else { 0 }
    }
}
