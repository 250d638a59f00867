//! Lets a test interrupt the reader in the middle of a pass, as if other threads ran there. The
//! tests are in `interleaving`.

use std::boxed::Box;
use std::cell::RefCell;

std::thread_local! {
    static INTERRUPTION: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
}

/// Sets the function that runs before a reader on this thread examines a packet; `None` removes it.
pub(super) fn set(interruption: Option<Box<dyn FnMut()>>) {
    INTERRUPTION.set(interruption);
}

/// The reader calls this before it examines a packet.
pub(super) fn before_packet() {
    INTERRUPTION.with_borrow_mut(|known| known.iter_mut().for_each(|interrupt| interrupt()));
}
