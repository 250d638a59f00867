//! Builds strings on several threads and writes them in order.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};

use super::TextBuffer;

/// Maximum number of strings per thread that are being built or wait to be written.
const TEXTS_PER_THREAD: usize = 4;

/// Maximum number of threads. No machine benefits from more threads.
pub const MAX_THREADS: usize = 256;

/// Returns the number of threads for a number that a user chose; 0 means one per processor.
///
/// ```
/// assert_eq!(tracewell::text::thread_count(3), 3);
/// assert!(tracewell::text::thread_count(0) >= 1);
/// ```
pub fn thread_count(chosen: usize) -> usize {
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    if chosen == 0 { processors() } else { chosen }.min(MAX_THREADS)
}

/// The buffers of [`write_in_order`]. Keep them between calls: the memory of a new buffer is not in
/// the processor's cache, and the kernel has to provide it.
#[derive(Debug, Default)]
pub struct TextBuffers {
    /// The empty buffers of each maker. A maker gets only the buffers that it filled before, so
    /// that they stay in the cache of one core.
    free: Vec<Vec<TextBuffer>>,
}

/// Builds `count` strings and writes them in order. Each maker belongs to one thread. `make`
/// appends the string with the given number to an empty buffer. The caller's thread uses the first
/// maker, and calls `write`. At most four strings per thread are in memory.
///
/// If the system cannot create enough threads, the existing threads build all strings.
///
/// ```
/// use tracewell::text::{TextBuffers, write_in_order};
///
/// let mut all = Vec::new();
/// write_in_order(
///     4,
///     (&mut [(), ()], &mut TextBuffers::default()),
///     |(), number, text| text.decimal(number as u64),
///     |text| Ok(all.extend_from_slice(text)),
/// )?;
/// assert_eq!(all, b"0123");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Returns the first error of `write`. After this error, no further string is built.
pub fn write_in_order<M: Send>(
    count: usize,
    (makers, buffers): (&mut [M], &mut TextBuffers),
    make: impl Fn(&mut M, usize, &mut TextBuffer) + Sync,
    mut write: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    buffers.free.resize_with(makers.len(), Vec::new);
    let state =
        State { makers: buffers.free.drain(..).map(Texts::of).collect(), ..State::default() };
    let shared = Shared { count, state: Mutex::new(state), changed: Condvar::new() };
    let Some((own, others)) = makers.split_first_mut() else { return Ok(()) };
    let result = thread::scope(|scope| {
        // If `write` fails or panics, this ends the other threads. The scope waits for them.
        let _stop = StopOnDrop(&shared);
        for (maker, index) in others.iter_mut().zip(1..) {
            let (shared, make) = (&shared, &make);
            let work = move || {
                let _stop = StopOnPanic(shared);
                while let Some((number, mut text)) = shared.next(index) {
                    make(maker, number, &mut text);
                    shared.made(number, Made { text, maker: index });
                }
            };
            if Builder::new().spawn_scoped(scope, work).is_err() {
                // The existing threads do the work. At least this one exists.
                break;
            }
        }
        // This thread writes as soon as the next string is complete, and makes strings until then.
        loop {
            match shared.own_step() {
                Step::Write(made) => {
                    write(made.text.as_bytes())?;
                    shared.written(made);
                }
                Step::Make(number, mut text) => {
                    make(own, number, &mut text);
                    shared.made(number, Made { text, maker: OWN });
                }
                Step::Done => return Ok(()),
            }
        }
    });
    let state = shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    buffers.free.extend(state.makers.into_iter().map(|texts| texts.free));
    result
}

/// Index of the maker of the thread that writes.
const OWN: usize = 0;

/// The next step of the thread that writes.
enum Step {
    Write(Made),
    Make(usize, TextBuffer),
    Done,
}

/// A string that waits to be written, and the index of its maker.
struct Made {
    text: TextBuffer,
    maker: usize,
}

/// The strings that the threads share.
struct Shared {
    count: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Number of the next string to build.
    next: usize,
    /// Number of strings that were written.
    written: usize,
    /// Strings that wait to be written.
    made: BTreeMap<usize, Made>,
    makers: Vec<Texts>,
    /// Number of threads that wait for a change.
    waiting: usize,
    /// True if no further string is needed.
    stopped: bool,
}

/// The strings of one maker.
struct Texts {
    free: Vec<TextBuffer>,
    /// Number of strings that are being built or wait to be written.
    pending: usize,
}

impl Texts {
    fn of(free: Vec<TextBuffer>) -> Self {
        Self { free, pending: 0 }
    }
}

impl State {
    /// Returns a buffer and the number of the next string to build, unless too many strings of this
    /// maker are waiting.
    fn take(&mut self, count: usize, maker: usize) -> Option<(usize, TextBuffer)> {
        let texts = self.makers.get_mut(maker)?;
        if self.next >= count || texts.pending >= TEXTS_PER_THREAD {
            return None;
        }
        texts.pending += 1;
        self.next += 1;
        Some((self.next - 1, texts.free.pop().unwrap_or_default()))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.waiting += 1;
        let mut state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state
    }

    /// Unlocks the state and wakes the waiting threads. If no thread waits, this function needs no
    /// system call.
    fn notify(&self, state: MutexGuard<'_, State>) {
        let any = state.waiting > 0;
        drop(state);
        if any {
            self.changed.notify_all();
        }
    }

    /// Waits for the next string to build. Returns `None` if there is none.
    fn next(&self, maker: usize) -> Option<(usize, TextBuffer)> {
        let mut state = self.lock();
        loop {
            if state.stopped || state.next >= self.count {
                return None;
            }
            if let Some(taken) = state.take(self.count, maker) {
                return Some(taken);
            }
            // The strings that wait must be written before more are built.
            state = self.wait(state);
        }
    }

    fn made(&self, number: usize, made: Made) {
        let mut state = self.lock();
        state.made.insert(number, made);
        if number == state.written {
            self.notify(state);
        }
    }

    /// Returns the next step of the thread that writes: to write the next text if it is ready,
    /// otherwise to build a text.
    fn own_step(&self) -> Step {
        let mut state = self.lock();
        loop {
            let written = state.written;
            if state.stopped || written >= self.count {
                return Step::Done;
            }
            if let Some(made) = state.made.remove(&written) {
                return Step::Write(made);
            }
            if let Some((number, text)) = state.take(self.count, OWN) {
                return Step::Make(number, text);
            }
            state = self.wait(state);
        }
    }

    fn written(&self, Made { mut text, maker }: Made) {
        text.truncate(0);
        let mut state = self.lock();
        state.written += 1;
        if let Some(texts) = state.makers.get_mut(maker) {
            texts.pending -= 1;
            texts.free.push(text);
        }
        self.notify(state);
    }

    fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        self.notify(state);
    }
}

/// Ends the other threads when the thread that writes has finished or failed.
struct StopOnDrop<'a>(&'a Shared);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Ends all threads if one of them panics, because the string of that thread will never be
/// complete.
struct StopOnPanic<'a>(&'a Shared);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Builds the strings `0`, `1`, … in parallel, on this number of threads.
    fn numbers(count: usize, threads: usize) -> String {
        let mut all = Vec::new();
        let make = |(): &mut (), number: usize, text: &mut TextBuffer| {
            text.decimal(number as u64);
            text.byte(b' ');
        };
        let mut makers = vec![(); threads];
        write_in_order(count, (&mut makers, &mut TextBuffers::default()), make, |text| {
            all.extend_from_slice(text);
            Ok(())
        })
        .unwrap();
        String::from_utf8(all).unwrap()
    }

    #[test]
    fn texts_are_in_order_for_any_number_of_threads() {
        for count in [0, 1, 2, 7, 500] {
            let expected: String = (0..count).map(|number| format!("{number} ")).collect();
            for threads in [1, 2, 3, 8] {
                assert_eq!(numbers(count, threads), expected, "{count} texts, {threads} threads");
            }
        }
    }

    #[test]
    fn no_text_is_made_after_an_error_and_few_are_ahead() {
        for threads in [1, 2, 8] {
            let made = AtomicUsize::new(0);
            let make = |(): &mut (), _: usize, _: &mut TextBuffer| {
                made.fetch_add(1, Ordering::Relaxed);
            };
            let mut written = 0;
            let (mut makers, mut buffers) = (vec![(); threads], TextBuffers::default());
            let result = write_in_order(100_000, (&mut makers, &mut buffers), make, |_| {
                let ahead = made.load(Ordering::Relaxed) - written;
                assert!(ahead <= TEXTS_PER_THREAD * threads, "{ahead} texts ahead");
                written += 1;
                if written == 10 { Err(io::Error::other("full")) } else { Ok(()) }
            });
            assert_eq!(result.unwrap_err().to_string(), "full");
            let made = made.into_inner();
            assert!(made <= 9 + TEXTS_PER_THREAD * threads, "{made} made on {threads} threads");
        }
    }

    #[test]
    fn a_panic_of_one_thread_ends_all() {
        let make = |(): &mut (), number: usize, _: &mut TextBuffer| {
            assert!(number != 20, "text 20");
        };
        let run =
            || write_in_order(1000, (&mut [(); 3], &mut TextBuffers::default()), make, |_| Ok(()));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
