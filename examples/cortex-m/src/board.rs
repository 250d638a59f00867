//! The board: vectors, reset, serial line, cycle counter, interrupts, and semihosting files.
//!
//! A real project would use crates such as `cortex-m-rt` and a crate for its board. Here, all of
//! this code is in one file, so the example depends only on this repository.
//!
//! This file needs unsafe code because it accesses registers by their addresses, and because the
//! first instructions run without a stack.

use core::arch::asm;
use core::cell::{Cell, UnsafeCell};
use core::ffi::CStr;
use core::panic::PanicInfo;
use core::ptr;

/// The first serial line of the board (Arm CMSDK UART): data, state, control, divider of the baud
/// rate.
const UART_DATA: *mut u32 = 0x4000_4000 as *mut u32;
const UART_STATE: *const u32 = 0x4000_4004 as *const u32;
const UART_CONTROL: *mut u32 = 0x4000_4008 as *mut u32;
const UART_DIVIDER: *mut u32 = 0x4000_4010 as *mut u32;

/// SysTick, a 24-bit down-counter: control, reload value, present value.
const SYSTICK_CONTROL: *mut u32 = 0xE000_E010 as *mut u32;
const SYSTICK_RELOAD: *mut u32 = 0xE000_E014 as *mut u32;
const SYSTICK_VALUE: *mut u32 = 0xE000_E018 as *mut u32;
const SYSTICK_MASK: u32 = 0x00FF_FFFF;

/// The register for interrupt control and state, which can make exceptions pending.
const INTERRUPT_STATE: *mut u32 = 0xE000_ED04 as *mut u32;
const SET_PENDING_SYSTICK: u32 = 1 << 26;

unsafe extern "C" {
    static mut stack_top: u32;
    static mut data_start: u32;
    static mut data_end: u32;
    static data_load: u32;
    static mut __bss_start__: u32;
    static mut __bss_end__: u32;
}

/// An entry of the vector table.
#[repr(C)]
union Vector {
    stack: *mut u32,
    handler: unsafe extern "C" fn(),
    none: usize,
}

// SAFETY: the table is constant and only the processor reads it.
unsafe impl Sync for Vector {}

const fn handler(handler: unsafe extern "C" fn()) -> Vector {
    Vector { handler }
}

#[unsafe(link_section = ".vectors")]
#[used]
static VECTORS: [Vector; 16] = [
    Vector { stack: &raw mut stack_top },
    handler(reset),
    handler(fault),
    handler(fault),
    handler(fault),
    handler(fault),
    handler(fault),
    Vector { none: 0 },
    Vector { none: 0 },
    Vector { none: 0 },
    Vector { none: 0 },
    handler(fault),
    handler(fault),
    Vector { none: 0 },
    handler(fault),
    handler(systick),
];

/// The reset handler: initialises memory and devices, and calls the program.
#[unsafe(no_mangle)]
unsafe extern "C" fn reset() {
    // SAFETY: the linker defines the symbols. The statics are not used yet, and the words are
    // aligned.
    unsafe {
        let mut to = &raw mut data_start;
        let mut from = &raw const data_load;
        while to < &raw mut data_end {
            to.write_volatile(from.read_volatile());
            (to, from) = (to.add(1), from.add(1));
        }
        let mut to = &raw mut __bss_start__;
        while to < &raw mut __bss_end__ {
            to.write_volatile(0);
            to = to.add(1);
        }
        UART_DIVIDER.write_volatile(16);
        UART_CONTROL.write_volatile(1);
        SYSTICK_RELOAD.write_volatile(SYSTICK_MASK);
        SYSTICK_VALUE.write_volatile(0);
        // SysTick counts the processor's clock. Its interrupt is disabled.
        SYSTICK_CONTROL.write_volatile(0b101);
    }
    end(super::main().is_ok())
}

unsafe extern "C" fn systick() {
    super::interrupt();
}

unsafe extern "C" fn fault() {
    end(false)
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    end(false)
}

/// Returns the number of cycles since the reset, modulo 2^24.
pub(crate) fn cycles() -> u64 {
    // SAFETY: the register may be read at any time.
    u64::from(SYSTICK_MASK - (unsafe { SYSTICK_VALUE.read_volatile() } & SYSTICK_MASK))
}

/// Raises the interrupt once, and returns after its handler has run.
pub(crate) fn raise_interrupt() {
    // SAFETY: bits written as 0 have no effect. The barriers make the exception occur here.
    unsafe {
        INTERRUPT_STATE.write_volatile(SET_PENDING_SYSTICK);
        asm!("dsb", "isb", options(nostack));
    }
}

/// Sends bytes over the serial line.
pub(crate) fn send(bytes: &[u8]) {
    for byte in bytes {
        // SAFETY: only this function uses the registers of this device. Bit 0 of the state is 1
        // while the send buffer is full.
        unsafe {
            while UART_STATE.read_volatile() & 1 != 0 {}
            UART_DATA.write_volatile(u32::from(*byte));
        }
    }
}

/// A value that is shared between threads and interrupts. Each access masks interrupts.
pub(crate) struct Masked<T> {
    value: UnsafeCell<T>,
    is_taken: Cell<bool>,
}

// SAFETY: the machine has one core, and both fields are used only while interrupts are masked.
unsafe impl<T: Send> Sync for Masked<T> {}

impl<T> Masked<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { value: UnsafeCell::new(value), is_taken: Cell::new(false) }
    }

    /// Runs `work` with exclusive access to the value. Must not be nested.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        masked(|| {
            assert!(!self.is_taken.replace(true));
            // SAFETY: the value is not in use, and interrupts are masked.
            let result = work(unsafe { &mut *self.value.get() });
            self.is_taken.set(false);
            result
        })
    }

    /// Returns an exclusive reference to the value. Only the first call succeeds.
    pub(crate) fn take(&'static self) -> Option<&'static mut T> {
        let was_taken = masked(|| self.is_taken.replace(true));
        // SAFETY: the reference is returned only once, and nothing else uses the value afterwards.
        (!was_taken).then(|| unsafe { &mut *self.value.get() })
    }
}

fn masked<R>(work: impl FnOnce() -> R) -> R {
    let before: u32;
    // SAFETY: masks interrupts, which changes no memory.
    unsafe { asm!("mrs {}, primask", "cpsid i", out(reg) before, options(nostack)) };
    let result = work();
    // SAFETY: restores the former state.
    unsafe { asm!("msr primask, {}", in(reg) before, options(nostack)) };
    result
}

/// Saves bytes to a file on the debugger's machine (semihosting).
pub(crate) fn save(name: &CStr, bytes: &[u8]) -> Result<(), &'static str> {
    const WRITE_BINARY: usize = 5;
    let length = name.to_bytes().len();
    let file = semihosting(0x01, &[name.as_ptr().addr(), WRITE_BINARY, length]);
    if file == usize::MAX {
        return Err("the debugger could not open the file");
    }
    let left = semihosting(0x05, &[file, bytes.as_ptr().addr(), bytes.len()]);
    let closed = semihosting(0x02, &[file]);
    if left == 0 && closed == 0 { Ok(()) } else { Err("the debugger did not write all bytes") }
}

/// Ends the program in the debugger, with status 0 for success.
fn end(is_well: bool) -> ! {
    const EXIT: usize = 0x2_0026;
    const RUN_TIME_ERROR: usize = 0x2_0023;
    let reason = ptr::without_provenance(if is_well { EXIT } else { RUN_TIME_ERROR });
    loop {
        call_debugger(0x18, reason);
    }
}

fn semihosting(operation: usize, arguments: &[usize]) -> usize {
    call_debugger(operation, arguments.as_ptr())
}

fn call_debugger(operation: usize, argument: *const usize) -> usize {
    let result;
    // SAFETY: the instruction sends a request to the debugger, which only reads the memory of the
    // arguments.
    unsafe {
        asm!("bkpt 0xAB", inout("r0") operation => result, in("r1") argument, options(nostack));
    }
    result
}
