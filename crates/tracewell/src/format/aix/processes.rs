//! Which thread an event is of, and which program that thread runs.
//!
//! A frame names its thread and process, or the events on its processor do: dispatch (106, 10C) says
//! who runs from there on. Programs come from exec (134), processes from fork (139), threads from
//! their creation (465). What AIX keeps in the data words of these hooks is not public; the words
//! here are those that Tracewell's own recorder is told to write (see the guide).

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::aix::{Entry, FrameHead, ids};

use crate::model::{Context, ContextId, ContextKind, Lifetime, Object, ObjectId, Processor, Trace};
use crate::text::shown;

/// Type codes of objects in the schema.
pub(super) const PROCESS: u32 = 1;
pub(super) const THREAD: u32 = 2;

/// Processors whose running thread is remembered; a damaged number must not fill memory.
const MOST_PROCESSORS: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Processes {
    /// Thread and process that run on each processor.
    running: Vec<Option<(u64, Option<u64>)>>,
    processes: HashMap<u64, Process, RandomState>,
    threads: HashMap<u64, Thread, RandomState>,
    unknown: Option<ContextId>,
}

#[derive(Debug, Default)]
struct Process {
    path: Vec<u8>,
    object: Option<ObjectId>,
    /// Counts the programs that it ran.
    program: u32,
}

#[derive(Debug, Default)]
struct Thread {
    pid: Option<u64>,
    context: Option<ContextId>,
    /// The program of its process when the context was made.
    program: u32,
}

impl Processes {
    /// The context of an event, and what the event itself tells of who runs what.
    pub(super) fn context(&mut self, trace: &mut Trace, head: &FrameHead, ticks: u64) -> ContextId {
        let running = self.running.get(usize::from(head.cpu)).copied().flatten();
        let (tid, pid) = match (head.tid, running) {
            (Some(tid), _) => (tid, head.pid),
            (None, Some((tid, pid))) => (tid, head.pid.or(pid)),
            (None, None) => return self.unknown(trace),
        };
        if let Some(pid) = pid {
            self.threads.entry(tid).or_default().pid = Some(pid);
        }
        self.thread(trace, tid, ticks)
    }

    /// Takes in what an event tells; it holds from the next event on.
    pub(super) fn follow(
        &mut self,
        trace: &mut Trace,
        head: &FrameHead,
        entry: &Entry<'_>,
        ticks: u64,
    ) {
        let word = |number| entry.word(number);
        match entry.id() {
            ids::DISPATCH | ids::DISPATCH_IDLE => {
                trace.processor = Processor::Switches;
                let cpu = usize::from(head.cpu);
                if let Some(tid) = word(1).filter(|_| cpu < MOST_PROCESSORS) {
                    if self.running.len() <= cpu {
                        self.running.resize(cpu + 1, None);
                    }
                    self.running[cpu] = Some((tid, word(2)));
                }
            }
            ids::FORK => {
                if let (Some(child), Some(tid)) = (word(1), word(2)) {
                    let parent = head.pid.and_then(|pid| self.processes.get(&pid));
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

    /// Notes that a process runs another program from here on.
    fn program(&mut self, trace: &mut Trace, pid: u64, path: Vec<u8>, ticks: u64) {
        let process = self.processes.entry(pid).or_default();
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

    fn thread(&mut self, trace: &mut Trace, tid: u64, ticks: u64) -> ContextId {
        let thread = self.threads.entry(tid).or_default();
        let process = thread.pid.and_then(|pid| self.processes.get(&pid));
        let program = process.map_or(0, |process| process.program);
        if let Some(context) = thread.context.filter(|_| thread.program == program) {
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
        thread.program = program;
        context
    }

    fn unknown(&mut self, trace: &mut Trace) -> ContextId {
        *self.unknown.get_or_insert_with(|| {
            trace.contexts.add(Context {
                // No thread of AIX has this number.
                key: u64::MAX,
                key_text: "-".to_owned(),
                kind: ContextKind::Unknown,
                name: "unknown".to_owned(),
                object: None,
            })
        })
    }
}

/// A name for people.
fn text(name: &[u8]) -> String {
    shown(name).into_owned()
}
