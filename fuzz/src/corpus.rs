//! Runs a fuzzer's corpus through the function of its fuzz target, with stable Rust and without a
//! fuzzer. The tests `corpus.rs` of the crates include this file.

use std::fs;
use std::path::Path;

/// Passes each file of a target's corpus to the target.
pub(crate) fn run(target: &str, entry: impl Fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files: Vec<_> = fs::read_dir(&corpus).expect("the target has a corpus folder").collect();
    assert!(!files.is_empty(), "{} is empty", corpus.display());
    for file in files {
        let path = file.expect("the folder can be listed").path();
        println!("{}", path.display()); // Shown only for the file that fails.
        entry(&fs::read(path).expect("a corpus file can be read"));
    }
}

/// Defines a test for each fuzz target. The test has the name of the target.
macro_rules! tests {
    ($($module:ident: $($target:ident)*;)*) => {
        $($(
            #[test]
            fn $target() {
                corpus::run(stringify!($target), $module::$target);
            }
        )*)*
    };
}
pub(crate) use tests;
