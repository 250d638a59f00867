//! Finds the thread of each event, and the program that this thread runs.
//!
//! A frame usually contains its thread and process. If not, the thread is that of the latest
//! dispatch on the frame's processor (hooks 106 and 10C), and the process is the one that a frame
//! or hook named last for this thread. Hooks also announce new programs (exec, 134), processes
//! (fork, 139) and threads (465). AIX does not document the data words of these hooks. This module
//! expects the data words that the guide specifies for users of Tracewell's recorder.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::aix::{Entry, FrameHeader, ids};

use crate::model::{Context, ContextId, ContextKind, Lifetime, Object, ObjectId, Processor, Trace};
use crate::text::shown;

/// Type codes of objects in the schema.
pub(super) const PROCESS: u32 = 1;
pub(super) const THREAD: u32 = 2;

/// Maximum number of processors whose running thread is stored. Without a limit, a damaged number
/// could fill memory.
const MAX_PROCESSORS: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Processes {
    /// The thread that is running on each processor, according to the processor's latest dispatch.
    running: Vec<Option<u64>>,
    processes: HashMap<u64, Process, RandomState>,
    threads: HashMap<u64, Thread, RandomState>,
    unknown: Option<ContextId>,
}

#[derive(Debug, Default)]
struct Process {
    path: Vec<u8>,
    object: Option<ObjectId>,
    /// Number of programs that the process has run.
    program: u32,
}

#[derive(Debug, Default)]
struct Thread {
    pid: Option<u64>,
    context: Option<ContextId>,
    /// The program of the context.
    program: Program,
}

/// A program that a process runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Program {
    pid: Option<u64>,
    /// Number of programs that the process has run so far; 0 if no program is known.
    number: u32,
}

impl Processes {
    /// Returns the context of an event, and stores the thread and process of its frame header.
    pub(super) fn context(
        &mut self,
        trace: &mut Trace,
        head: &FrameHeader,
        ticks: u64,
    ) -> ContextId {
        match self.thread_of(head) {
            Some(tid) => self.thread(trace, tid, head.pid, ticks),
            None => self.unknown(trace),
        }
    }

    /// Returns the thread that recorded an entry.
    fn thread_of(&self, head: &FrameHeader) -> Option<u64> {
        head.tid.or_else(|| self.running.get(usize::from(head.cpu)).copied().flatten())
    }

    /// Returns the process that recorded an entry.
    fn process_of(&self, head: &FrameHeader) -> Option<u64> {
        head.pid.or_else(|| self.threads.get(&self.thread_of(head)?)?.pid)
    }

    /// Handles hooks that change threads, processes or programs. The change applies to the next
    /// event and later ones.
    pub(super) fn follow(
        &mut self,
        trace: &mut Trace,
        head: &FrameHeader,
        entry: &Entry<'_>,
        ticks: u64,
    ) {
        let word = |number| entry.word(number);
        match entry.id() {
            ids::DISPATCH | ids::DISPATCH_IDLE => {
                trace.processor = Processor::Switches;
                let cpu = usize::from(head.cpu);
                // Ignore damaged processor numbers, so that they cannot fill memory.
                if let Some(tid) = word(1).filter(|_| cpu < MAX_PROCESSORS) {
                    if self.running.len() <= cpu {
                        self.running.resize(cpu + 1, None);
                    }
                    self.running[cpu] = Some(tid);
                    if let Some(pid) = word(2) {
                        self.threads.entry(tid).or_default().pid = Some(pid);
                    }
                }
            }
            ids::FORK => {
                if let (Some(child), Some(tid)) = (word(1), word(2)) {
                    // A new process runs its parent's program until an exec.
                    let parent = self.process_of(head).and_then(|pid| self.processes.get(&pid));
                    let path = parent.map(|parent| parent.path.clone()).unwrap_or_default();
                    self.threads.insert(tid, Thread { pid: Some(child), ..Thread::default() });
                    self.program(trace, child, path, ticks);
                }
            }
            ids::THREAD_CREATE => {
                if let (Some(tid), Some(pid)) = (word(1), word(2)) {
                    self.threads.insert(tid, Thread { pid: Some(pid), ..Thread::default() });
                }
            }
            ids::EXEC if entry.is_generic() => {
                // The path follows the word with the process id.
                let skipped = entry.env().word_bytes();
                let path = entry.variable_data().get(skipped..).unwrap_or_default();
                let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
                if let Some(pid) = word(1) {
                    self.program(trace, pid, path.to_vec(), ticks);
                }
            }
            _ => {}
        }
    }

    /// Stores that a process runs the program `path` from `ticks` on.
    fn program(&mut self, trace: &mut Trace, pid: u64, path: Vec<u8>, ticks: u64) {
        let process = self.processes.entry(pid).or_default();
        // The name of the previous program is valid up to the previous tick.
        if let Some((before, last)) = process.object.zip(ticks.checked_sub(1)) {
            trace.objects.delete(before, last);
        }
        let label = text(&path);
        process.object = Some(trace.objects.add(Object {
            key: pid,
            kind: PROCESS,
            name: path.clone(),
            label: if label.is_empty() { format!("pid {pid}") } else { label },
            parameters: Vec::new(),
            priority: None,
            alive: None,
            lifetime: Lifetime { from: Some(ticks), ..Lifetime::default() },
            record: Vec::new(),
        }));
        process.path = path;
        process.program += 1;
    }

    /// Returns the context of a thread. `pid` is the thread's process, if the frame contains it.
    fn thread(&mut self, trace: &mut Trace, tid: u64, pid: Option<u64>, ticks: u64) -> ContextId {
        let thread = self.threads.entry(tid).or_default();
        thread.pid = pid.or(thread.pid);
        let process = thread.pid.and_then(|pid| self.processes.get(&pid));
        let number = process.map_or(0, |process| process.program);
        let program = Program { pid: thread.pid, number };
        let before = std::mem::replace(&mut thread.program, program);
        // After an exec, the thread gets another context, named after the new program. A thread of
        // another process is another thread with the same id. If the process of a thread becomes
        // known, but not its program, the thread is still the same.
        let is_same = before == program || (before.pid.is_none() && number == 0);
        if let Some(context) = thread.context.filter(|_| is_same) {
            return context;
        }
        let path = process.map(|process| process.path.as_slice()).unwrap_or_default();
        let file = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let name = if file.is_empty() { format!("tid {tid}") } else { text(file) };
        let object = trace.objects.add(Object {
            key: tid,
            kind: THREAD,
            name: file.to_vec(),
            label: name.clone(),
            parameters: thread.pid.into_iter().collect(),
            priority: None,
            alive: None,
            lifetime: Lifetime { from: Some(ticks), ..Lifetime::default() },
            record: Vec::new(),
        });
        let context = trace.contexts.replace(Context {
            key: tid,
            key_text: tid.to_string(),
            kind: ContextKind::Thread,
            name,
            object: Some(object),
        });
        thread.context = Some(context);
        context
    }

    fn unknown(&mut self, trace: &mut Trace) -> ContextId {
        *self.unknown.get_or_insert_with(|| {
            trace.contexts.add(Context {
                // AIX never uses this thread id.
                key: u64::MAX,
                key_text: "-".to_owned(),
                kind: ContextKind::Unknown,
                name: "unknown".to_owned(),
                object: None,
            })
        })
    }
}

/// Returns a name with unprintable bytes escaped.
fn text(name: &[u8]) -> String {
    shown(name).into_owned()
}
