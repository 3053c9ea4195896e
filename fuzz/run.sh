#!/usr/bin/env bash
# Runs every fuzz target for SECONDS_EACH seconds (60), beginning with the seeds. Fails on the first finding, and
# leaves the input in fuzz/artifacts. Targets can be named: fuzz/run.sh name http_head
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${SECONDS_EACH:-60}
# The parsers hold no unsafe code, so the address sanitizer would find nothing and halve the speed.
sanitizer=none
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(client_hello http_head dns_question packet_log control_lines policy_document name documents agent_table tape transcript containers decision_log start canary_answer canary_report)

command -v cargo-fuzz >/dev/null || {
    echo "fuzz: cargo-fuzz is missing; 'cargo install cargo-fuzz' brings it" >&2
    exit 4
}
# Coverage needs flags that a stable compiler takes only when told so.
export RUSTC_BOOTSTRAP=1

seeds() {
    case $1 in
    client_hello) echo sidecar/tests/hellos ;;
    agent_table) echo agents/history ;;
    transcript) echo tests/trajectories ;;
    containers) echo tests/containers-audit ;;
    decision_log) echo tests/logs-audit ;;
    *) echo "fuzz/seeds/$1" ;;
    esac
}

longest() {
    case $1 in
    client_hello | http_head) echo 70000 ;;
    name) echo 300 ;;
    agent_table) echo 20000 ;;
    tape) echo 20000 ;;
    *) echo 4096 ;;
    esac
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cargo fuzz build --sanitizer "$sanitizer" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
for target in "${targets[@]}"; do
    mkdir -p "fuzz/corpus/$target"
    # More than 5 seconds for one input is a finding too: some work is not linear.
    if ! cargo fuzz run --sanitizer "$sanitizer" "$target" "fuzz/corpus/$target" "$(seeds "$target")" -- \
        -max_total_time="$seconds" -max_len="$(longest "$target")" -timeout=5 -dict=fuzz/dictionary \
        -print_final_stats=1 >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        echo "fuzz: $target: a finding, see fuzz/artifacts/$target" >&2
        exit 1
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
    echo "fuzz: $target: $runs runs, $rate a second, no finding"
done
