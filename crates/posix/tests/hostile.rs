//! Reads damaged shared memory and logs: runs the fuzz targets with pseudo-random input.

#[path = "../../../fuzz/src/posix.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz crate")]
mod targets;

/// Pseudo-random numbers, which are the same in each run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn corpus(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/");
    std::fs::read(format!("{folder}{name}")).unwrap()
}

#[test]
fn reading_damaged_memory_ends() {
    let mut draw = Draw(7);
    let whole = corpus("posix_memory/open_and_closed");
    for _ in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + draw.below(24) {
            let at = draw.below(bytes.len() as u64 / 8) as usize * 8;
            let word = match draw.below(3) {
                0 => draw.below(64),
                1 => draw.below(1 << 40),
                _ => draw.below(u64::MAX),
            };
            bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        targets::posix_memory(&bytes);
    }
}

#[test]
fn each_changed_byte_of_a_log_is_refused_or_read() {
    for name in ["posix_log/append", "posix_log/loop"] {
        let whole = corpus(name);
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                targets::posix_log(&bytes);
            }
        }
    }
}
