//! The lab, tested from inside: each test is a process in a lab of its own.
//!
//! There is no standard harness here because its threads forbid forking. `cargo test -p closedbook-lab --test lab --
//! WORD` runs the tests whose names hold the word. Nothing is skipped: where no namespaces can be made, all fail.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    unused_crate_dependencies,
    missing_docs
)]

mod bulk;
mod client;
mod dns;
mod harness;
mod http;
mod life;
mod model;
mod tls;
mod tricks;
mod witness;

use std::process::ExitCode;

use harness::{capable, inside, outside};

fn main() -> ExitCode {
    harness::run(&[
        inside!(dns::names_have_the_addresses_of_the_world),
        inside!(dns::answers_come_from_the_address_that_was_asked),
        inside!(dns::names_that_are_special_are_answered_as_documented),
        inside!(dns::silence_is_silence_and_disturbs_nobody),
        inside!(dns::what_is_not_a_question_is_not_answered_as_one),
        inside!(dns::every_question_is_witnessed_over_both_transports),
        inside!(tls::every_name_has_a_certificate_of_the_labs_authority),
        inside!(tls::both_versions_and_both_protocols_are_spoken),
        inside!(tls::without_a_name_the_certificate_says_so),
        inside!(tls::a_failed_handshake_is_an_arrival),
        inside!(http::the_report_says_what_the_server_saw),
        inside!(http::a_nonce_is_answered_with_its_proof),
        inside!(http::five_pipelined_requests_are_answered_in_order),
        inside!(http::a_client_that_closed_its_side_is_answered),
        inside!(http::every_port_speaks_every_protocol),
        inside!(http::bodies_come_back),
        inside!(http::statuses_and_redirections),
        inside!(http::the_model_answers_at_once_and_in_a_stream),
        inside!(http::faults_are_switched_on_and_off_by_host),
        inside!(http::git_clones_over_https),
        inside!(model::messages_are_answered),
        inside!(model::responses_are_answered),
        inside!(model::chats_are_answered),
        inside!(model::gemini_is_answered),
        inside!(model::questions_beside_are_answered),
        inside!(model::the_tape_has_what_models_were_asked),
        inside!(tricks::a_reset_comes_in_the_middle_of_the_body),
        inside!(tricks::a_half_close_is_followed_by_reading),
        inside!(tricks::continue_is_said_before_the_body_and_not_when_refused),
        inside!(tricks::early_hints_come_before_the_answer),
        inside!(tricks::slow_answers_are_slow_where_they_should_be),
        inside!(tricks::a_websocket_sends_everything_back),
        inside!(bulk::downloads_are_the_pattern),
        inside!(bulk::uploads_are_hashed),
        inside!(bulk::a_thousand_connections_are_held_open),
        inside!(bulk::failures_are_told_apart),
        inside!(witness::servers_that_speak_first_do),
        inside!(witness::anything_else_is_echoed_and_written_down),
        inside!(witness::what_is_no_request_has_arrived_all_the_same),
        inside!(witness::a_request_behind_an_ambiguous_one_has_arrived),
        inside!(witness::datagrams_are_answered_from_where_they_were_sent_to),
        inside!(witness::packets_to_no_listener_are_seen),
        capable!(witness::hand_made_packets_are_seen),
        inside!(witness::ordinary_traffic_is_not_mistaken_for_packets),
        inside!(witness::a_reset_record_is_empty_and_a_settled_one_complete),
        inside!(life::dead_addresses_are_dead_each_in_its_way),
        inside!(life::what_a_command_sees_of_the_machine),
        outside!(life::a_lab_leaves_nothing_behind),
        outside!(life::a_name_is_taken_once),
        outside!(life::a_lab_ends_with_its_parent_however_that_ends),
        outside!(life::what_dead_labs_left_is_swept_away),
        outside!(life::a_lab_is_up_within_two_seconds),
    ])
}
