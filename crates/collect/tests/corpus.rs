//! Runs the collector's fuzz targets on their corpora, with stable Rust and without a fuzzer.

#[path = "../../../fuzz/src/collected.rs"]
mod collected;
#[path = "../../../fuzz/src/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/src/packets.rs"]
mod packets;

corpus::tests! {
    packets: packet_numbers;
    collected: datagrams tagged_lines;
}
