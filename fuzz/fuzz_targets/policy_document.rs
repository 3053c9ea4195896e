#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| closedbook_policy::fuzzing::policy_document(bytes));
