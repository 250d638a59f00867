//! The operating systems whose events have descriptions, and the names by which a stream or an
//! option refers to them.

use std::sync::{Arc, OnceLock};

use crate::model::schema::{Extension, Schema};

/// An operating system with a table of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kernel(usize);

/// An operating system: its name in the option `kernel`, the name that targets send for it, and its
/// schema file.
struct Entry {
    name: &'static str,
    sent: &'static str,
    file: &'static str,
    text: &'static str,
}

macro_rules! entry {
    ($name:literal, $sent:literal) => {
        Entry {
            name: $name,
            sent: $sent,
            file: concat!("schemas/systemview/", $name, ".toml"),
            text: include_str!(concat!("../../../schemas/systemview/", $name, ".toml")),
        }
    };
}

static ENTRIES: [Entry; 8] = [
    entry!("freertos", "FreeRTOS"),
    entry!("freertos-esp-idf", ""),
    entry!("zephyr", "Zephyr"),
    entry!("threadx", "ThreadX"),
    entry!("nuttx", "NuttX"),
    entry!("ucos2", "uCOS-II"),
    entry!("ucos3", "uCOS-III"),
    entry!("micrium-os", "Micrium OS Kernel"),
];

/// Values of the option `kernel`.
pub(super) const VALUES: &str =
    "freertos, freertos-esp-idf, zephyr, threadx, nuttx, ucos2, ucos3, micrium-os or none";

impl Kernel {
    const ESP_IDF: Self = Self(1);
    const ZEPHYR: Self = Self(2);

    /// Returns the operating system that has this name in the option `kernel`.
    pub(super) fn named(name: &str) -> Option<Self> {
        ENTRIES.iter().position(|entry| entry.name == name).map(Self)
    }

    /// Returns the operating system that a target describes with these texts. ESP-IDF has its own
    /// numbers for the events of FreeRTOS, but sends the same name.
    pub(super) fn described(system: &str, device: &str, core: &str) -> Option<Self> {
        let found = ENTRIES.iter().position(|entry| !system.is_empty() && entry.sent == system);
        let (device, core) = (device.to_ascii_lowercase(), core.to_ascii_lowercase());
        let is_esp = device.starts_with("esp") || ["xtensa", "riscv"].contains(&core.as_str());
        match found.map(Self) {
            Some(Self(0)) if is_esp => Some(Self::ESP_IDF),
            found => found,
        }
    }

    /// Returns true if the system sends the time in microseconds. Zephyr sends cycles instead.
    pub(super) fn sends_microseconds(self) -> bool {
        self != Self::ZEPHYR
    }

    /// Returns the events of all streams and the events of this system. They are parsed once per
    /// process.
    pub(super) fn schema(self) -> Arc<Schema> {
        static SCHEMAS: [OnceLock<Arc<Schema>>; ENTRIES.len()] =
            [const { OnceLock::new() }; ENTRIES.len()];
        let Entry { file, text, .. } = &ENTRIES[self.0];
        let parse = || {
            let mut schema = Schema::clone(&super::schema());
            let added = Extension::parse(text, file)
                .and_then(|entries| schema.extend(&Arc::new(entries), super::RULES));
            match added {
                Ok(()) => Arc::new(schema),
                // The file is part of this program, and a test parses it.
                Err(error) => unreachable!("{error}"),
            }
        };
        SCHEMAS[self.0].get_or_init(parse).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_valid() {
        for entry in &ENTRIES {
            let kernel = Kernel::named(entry.name).unwrap();
            assert!(VALUES.contains(entry.name));
            let schema = kernel.schema();
            let own = schema.events().filter(|event| event.family == "os");
            assert!(own.clone().count() >= 3, "{}", entry.name);
            assert!(own.clone().all(|event| event.args.last().unwrap().name == "values"));
        }
    }

    #[test]
    fn targets_name_their_system() {
        let name = |system, device, core| {
            Kernel::described(system, device, core).map(|kernel| ENTRIES[kernel.0].name)
        };
        assert_eq!(name("FreeRTOS", "MPS2", "Cortex-M3"), Some("freertos"));
        assert_eq!(name("FreeRTOS", "ESP32", "core0"), Some("freertos-esp-idf"));
        assert_eq!(name("FreeRTOS", "", "xtensa"), Some("freertos-esp-idf"));
        assert_eq!(name("Zephyr", "esp32", ""), Some("zephyr"));
        assert_eq!(name("embOS", "", ""), None);
        assert_eq!(name("", "", ""), None);
    }
}
