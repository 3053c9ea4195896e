#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| closedbook_sidecar::fuzzing::http_head(bytes));
