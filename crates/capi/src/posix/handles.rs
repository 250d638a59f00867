//! Identifiers of streams. An identifier holds an index and a generation, so a later stream never
//! has the identifier of a closed stream.
//!
//! The table belongs to one process: in the child of a fork, the parent's identifiers are invalid.

use std::ffi::c_int;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tracewell_posix::{Controller, RecordedLog, process_token};

use super::{INVALID, Number};

/// The stream to which an identifier refers.
#[derive(Clone)]
pub(super) enum Handle {
    Active(Arc<Controller>),
    Recorded(Arc<RecordedLog>),
}

impl Handle {
    pub(super) fn active(self) -> Result<Arc<Controller>, Number> {
        match self {
            Self::Active(stream) => Ok(stream),
            Self::Recorded(_) => Err(INVALID),
        }
    }

    pub(super) fn recorded(self) -> Result<Arc<RecordedLog>, Number> {
        match self {
            Self::Recorded(stream) => Ok(stream),
            Self::Active(_) => Err(INVALID),
        }
    }
}

/// Number of index bits in an identifier.
const PLACE_BITS: u32 = 16;
const GENERATIONS: u32 = 1 << (31 - PLACE_BITS);

struct Table {
    token: u64,
    entries: RwLock<Vec<Entry>>,
}

struct Entry {
    generation: u32,
    handle: Option<Handle>,
}

static TABLE: AtomicPtr<Table> = AtomicPtr::new(std::ptr::null_mut());

/// Returns the table of this process, if it has one.
fn present() -> Option<&'static Table> {
    let table = crate::boundary::leaked(TABLE.load(Ordering::Acquire))?;
    (table.token == process_token()).then_some(table)
}

/// Returns the table of this process and creates it if necessary. A child of a fork does not use
/// its parent's table, because a thread of the parent may have held the lock.
fn table() -> &'static Table {
    if let Some(table) = present() {
        return table;
    }
    let made = Table { token: process_token(), entries: RwLock::default() };
    let made: &'static mut Table = Box::leak(Box::new(made));
    let before = TABLE.load(Ordering::Acquire);
    let is_parents = crate::boundary::leaked(before).is_none_or(|table| table.token != made.token);
    let exchanged = is_parents
        && TABLE.compare_exchange(before, made, Ordering::AcqRel, Ordering::Acquire).is_ok();
    if exchanged {
        at_exit();
    }
    present().unwrap_or_else(|| unreachable!("the exchange failed, so there is a table"))
}

impl Table {
    fn read(&self) -> RwLockReadGuard<'_, Vec<Entry>> {
        self.entries.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Vec<Entry>> {
        self.entries.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Returns the identifier of a new stream.
pub(super) fn add(handle: Handle) -> Result<c_int, Number> {
    let mut entries = table().write();
    let free = entries.iter().position(|entry| entry.handle.is_none());
    let place = match free {
        Some(place) => place,
        None if entries.len() >> PLACE_BITS != 0 => return Err(Number(libc::ENOMEM)),
        None => {
            entries.push(Entry { generation: 0, handle: None });
            entries.len() - 1
        }
    };
    let entry = &mut entries[place];
    entry.generation = entry.generation % (GENERATIONS - 1) + 1;
    entry.handle = Some(handle);
    Ok((entry.generation << PLACE_BITS | place as u32) as c_int)
}

fn parts(id: c_int) -> Result<(usize, u32), Number> {
    let id = u32::try_from(id).map_err(|_| INVALID)?;
    Ok(((id & ((1 << PLACE_BITS) - 1)) as usize, id >> PLACE_BITS))
}

/// Returns the stream of an identifier.
pub(super) fn find(id: c_int) -> Result<Handle, Number> {
    let (place, generation) = parts(id)?;
    let entries = present().ok_or(INVALID)?.read();
    let entry = entries.get(place).filter(|entry| entry.generation == generation).ok_or(INVALID)?;
    entry.handle.clone().ok_or(INVALID)
}

/// Removes a stream and invalidates its identifier, unless `kind` returns an error for the stream.
pub(super) fn remove<T>(
    id: c_int,
    kind: impl FnOnce(Handle) -> Result<T, Number>,
) -> Result<T, Number> {
    let (place, generation) = parts(id)?;
    let mut entries = present().ok_or(INVALID)?.write();
    let entry = entries.get_mut(place).filter(|entry| entry.generation == generation);
    let entry = entry.ok_or(INVALID)?;
    let found = kind(entry.handle.clone().ok_or(INVALID)?)?;
    entry.handle = None;
    Ok(found)
}

/// Registers a function that shuts down all streams when the program exits.
fn at_exit() {
    crate::boundary::at_exit(shut_all_down);
}

extern "C" fn shut_all_down() {
    let Some(table) = present() else { return };
    let Ok(mut entries) = table.entries.try_write() else { return };
    for entry in entries.iter_mut() {
        if let Some(Handle::Active(stream)) = entry.handle.take() {
            let _ = stream.shutdown();
        }
    }
}
