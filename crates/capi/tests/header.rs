//! Checks that the committed header matches the sources. `BLESS=1 cargo test -p tracewell-capi`
//! writes the header; check the difference.

use std::path::Path;

#[test]
fn the_committed_header_is_what_the_sources_say() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::generate_with_config(here, config).unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    let path = here.join("include/tracewell.h");
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &made).unwrap();
    }
    let committed = std::fs::read(&path).unwrap();
    assert!(
        made == committed,
        "include/tracewell.h is stale: BLESS=1 cargo test -p tracewell-capi"
    );
}
