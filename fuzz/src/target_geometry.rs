//! The rings of the scripts in `target_script`, as options of the C compiler. The build script
//! includes this file too, so it uses only the standard library.

/// The properties of a ring that are fixed when the C recorder is compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub(crate) cores: u8,
    pub(crate) slot: u16,
    pub(crate) entries: u16,
}

/// The geometries that a script can select.
pub(crate) const GEOMETRIES: [Geometry; 3] = [
    Geometry { cores: 1, slot: 64, entries: 5 },
    Geometry { cores: 2, slot: 256, entries: 24 },
    Geometry { cores: 4, slot: 100, entries: 9 },
];

impl Geometry {
    /// Returns the macros for the C compiler, with their values.
    pub(crate) fn macros(self) -> [(&'static str, String); 5] {
        let Self { cores, slot, entries } = self;
        [
            ("TW_TARGET_CORES", cores.to_string()),
            ("TW_TARGET_SLOT", slot.to_string()),
            ("TW_TARGET_ENTRIES", entries.to_string()),
            ("TW_TARGET_GROUPS", "0xFF".to_owned()),
            ("TW_TARGET_CONFIG", "\"hosted.h\"".to_owned()),
        ]
    }
}
