//! Passes the memory layout to the linker.

fn main() {
    println!("cargo:rustc-link-arg=-T{}/mps2-an385.ld", env!("CARGO_MANIFEST_DIR"));
    println!("cargo:rerun-if-changed=mps2-an385.ld");
}
