//! The end of a panic on a target without operating system: an undefined instruction, so that the
//! fault handler of the firmware runs.
//!
//! The module holds `unsafe` code because an instruction is one.
#![allow(unsafe_code)]

use core::arch::asm;

/// Ends in the processor's fault handler, and in a loop if that returns.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        // SAFETY: the instruction raises the fault of undefined instructions and does nothing else.
        #[cfg(target_arch = "arm")]
        unsafe {
            asm!("udf #0", options(nomem, nostack));
        }
        // SAFETY: as above.
        #[cfg(any(target_arch = "riscv32", target_arch = "riscv64"))]
        unsafe {
            asm!("unimp", options(nomem, nostack));
        }
    }
}
