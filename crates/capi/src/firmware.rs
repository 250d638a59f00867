//! The panic handler for targets without an operating system. It executes an undefined instruction,
//! so that the fault handler of the firmware runs.
//!
//! Unsafe: assembly.
#![allow(unsafe_code)]

use core::arch::asm;

/// Raises a processor fault, and loops if the fault handler returns.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        // SAFETY: the instruction only raises an undefined-instruction fault.
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
