#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| closedbook_canary::fuzzing::report(bytes));
