//! Runs the fuzzers' corpus through the functions of the fuzz targets, with stable Rust and without
//! a fuzzer. The tests therefore fail if a fixed fault comes back.

#[path = "../../../fuzz/src/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate also uses this file, and needs it public")]
mod targets;

corpus::tests! {
    targets:
        wire_threadx wire_aix threadx threadx_edited shark arrivals wire_rkh rkh intel_hex
        s_record ascii_hex native native_edited native_image posix_reader posix_reader_edited
        posix_reader_memory aix template_parser template_machine compress decompress check_parser
        check_matcher machines posix_log posix_memory exports reports trcrpt_layout tracex
        custom_event_files elf schema_files typed_texts template_update recognition join settings
        selections number_lists systemview systemview_descriptions target target_packets
        ctf_packets ctf_metadata;
}
