//! Compiles the C recorder of small targets with its harness, once for each geometry, for the
//! target `target_twin`.

use std::path::{Path, PathBuf};

#[path = "src/target_geometry.rs"]
mod target_geometry;

/// The global names of the recorder and its harness. Each geometry has its own copies.
const NAMES: [&str; 15] = [
    "harness_run",
    "harness_now",
    "harness_core",
    "tw_target_init",
    "tw_target_set_filter",
    "tw_target_define",
    "tw_target_remove",
    "tw_target_event",
    "tw_target_text",
    "tw_target_user",
    "tw_target_value",
    "tw_target_number",
    "tw_target_refuse",
    "tw_target_flush",
    "tw_target_read",
];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (firmware, harness) = (root.join("firmware"), root.join("crates/record/tests/target_twin"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets it"));
    for (number, geometry) in target_geometry::GEOMETRIES.into_iter().enumerate() {
        let library = format!("target_twin_{number}");
        let folder = out.join(&library);
        let mut build = cc::Build::new();
        build
            .std("c99")
            .files([firmware.join("tracewell_target.c"), harness.join("harness.c")])
            .includes([&firmware, &harness])
            // The library of the targets does not need these link options: only one target links
            // the C recorder.
            .cargo_metadata(false)
            .out_dir(&folder);
        for (name, value) in geometry.macros() {
            build.define(name, value.as_str());
        }
        for name in NAMES {
            build.define(name, format!("{name}_{number}").as_str());
        }
        build.compile(&library);
        let archive = folder.join(format!("lib{library}.a"));
        println!("cargo::rustc-link-arg-bin=target_twin={}", archive.display());
    }
    for folder in [firmware, harness] {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    println!("cargo::rerun-if-changed=src/target_geometry.rs");
}
