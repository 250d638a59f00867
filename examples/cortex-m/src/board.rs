//! The machine: vectors, reset, the serial line, a cycle counter, interrupts, and files of the debugger.
//!
//! A real project takes most of this from a crate such as `cortex-m-rt` and its board's. Here it is written
//! out, so that the example needs nothing that is not in this repository.
//!
//! The module holds `unsafe` code because registers are addresses and the first instructions have no stack.

use core::arch::asm;
use core::cell::{Cell, UnsafeCell};
use core::ffi::CStr;
use core::panic::PanicInfo;
use core::ptr;

/// The first serial line of the board (Arm CMSDK UART): data, state, control, divider of the baud rate.
const UART_DATA: *mut u32 = 0x4000_4000 as *mut u32;
const UART_STATE: *const u32 = 0x4000_4004 as *const u32;
const UART_CONTROL: *mut u32 = 0x4000_4008 as *mut u32;
const UART_DIVIDER: *mut u32 = 0x4000_4010 as *mut u32;

/// SysTick: control, reload value, present value. It counts 24 bits down.
const SYSTICK_CONTROL: *mut u32 = 0xE000_E010 as *mut u32;
const SYSTICK_RELOAD: *mut u32 = 0xE000_E014 as *mut u32;
const SYSTICK_VALUE: *mut u32 = 0xE000_E018 as *mut u32;
const SYSTICK_MASK: u32 = 0x00FF_FFFF;

/// Interrupt control and state: sets exceptions pending.
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

/// The first instructions: memory as the compiler expects it, the devices, then the program.
#[unsafe(no_mangle)]
unsafe extern "C" fn reset() {
    // SAFETY: the symbols are the linker's; nothing uses the statics yet, and the words are aligned.
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
        // The processor's clock; the counter raises no interrupt, `raise_interrupt` does.
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

/// Cycles since the reset, in 24 bits.
pub(crate) fn cycles() -> u64 {
    // SAFETY: the register may be read at any time.
    u64::from(SYSTICK_MASK - (unsafe { SYSTICK_VALUE.read_volatile() } & SYSTICK_MASK))
}

/// Raises the interrupt, once, and returns when it was served.
pub(crate) fn raise_interrupt() {
    // SAFETY: writing 0 bits changes nothing. The barriers make the processor take the exception here.
    unsafe {
        INTERRUPT_STATE.write_volatile(SET_PENDING_SYSTICK);
        asm!("dsb", "isb", options(nostack));
    }
}

/// Sends bytes over the serial line.
pub(crate) fn send(bytes: &[u8]) {
    for byte in bytes {
        // SAFETY: registers of a device that only this function uses. Bit 0: its buffer is full.
        unsafe {
            while UART_STATE.read_volatile() & 1 != 0 {}
            UART_DATA.write_volatile(u32::from(*byte));
        }
    }
}

/// A value that threads and interrupts use in turns: each access masks interrupts.
pub(crate) struct Masked<T> {
    value: UnsafeCell<T>,
    is_taken: Cell<bool>,
}

// SAFETY: the machine has one core, and both fields are used with interrupts masked only.
unsafe impl<T: Send> Sync for Masked<T> {}

impl<T> Masked<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { value: UnsafeCell::new(value), is_taken: Cell::new(false) }
    }

    /// Uses the value. Not from inside another use of it.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        masked(|| {
            assert!(!self.is_taken.replace(true));
            // SAFETY: nobody else has the value: it is not taken, and nothing can interrupt.
            let result = work(unsafe { &mut *self.value.get() });
            self.is_taken.set(false);
            result
        })
    }

    /// Hands the value out for good, the first time.
    pub(crate) fn take(&'static self) -> Option<&'static mut T> {
        let was_taken = masked(|| self.is_taken.replace(true));
        // SAFETY: it is handed out once, and not used otherwise any more.
        (!was_taken).then(|| unsafe { &mut *self.value.get() })
    }
}

fn masked<R>(work: impl FnOnce() -> R) -> R {
    let before: u32;
    // SAFETY: masks interrupts, which changes no memory.
    unsafe { asm!("mrs {}, primask", "cpsid i", out(reg) before, options(nostack)) };
    let result = work();
    // SAFETY: as it was before.
    unsafe { asm!("msr primask, {}", in(reg) before, options(nostack)) };
    result
}

/// Saves bytes to a file of the machine on which the debugger runs (semihosting).
pub(crate) fn save(name: &CStr, bytes: &[u8]) -> Result<(), &'static str> {
    const WRITE_BINARY: usize = 5;
    let length = name.to_bytes().len();
    let file = semihosting(0x01, &[name.as_ptr().addr(), WRITE_BINARY, length]);
    if file == usize::MAX {
        return Err("the debugger opens no file");
    }
    let left = semihosting(0x05, &[file, bytes.as_ptr().addr(), bytes.len()]);
    let closed = semihosting(0x02, &[file]);
    if left == 0 && closed == 0 { Ok(()) } else { Err("the debugger wrote not all bytes") }
}

/// Ends the program in the debugger: the status is 0 if all went well.
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
    // SAFETY: a request to the debugger, which reads what the arguments point at.
    unsafe {
        asm!("bkpt 0xAB", inout("r0") operation => result, in("r1") argument, options(nostack));
    }
    result
}
