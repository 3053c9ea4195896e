# The two commands of the README, and what developers need besides. Quiet when things go well.

# Only a Rust toolchain is assumed; the rest is Debian's. sudo is asked for only when something is missing.
DEBIAN_BUILD := pkg-config libmnl-dev libnftnl-dev gcc
DEBIAN_DEMO  := $(DEBIAN_BUILD) curl iproute2
DEBIAN_TEST  := $(DEBIAN_DEMO) nftables git wget openssl python3 python3-requests nodejs iputils-ping procps util-linux

.PHONY: demo test check bench fuzz deny build

demo: ## Build, and show the main job offline: an allowed host answers, a dozen ways out fail.
	@.ci/packages $(DEBIAN_DEMO)
	@.ci/quiet cargo build --release
	@lab/demo.sh target/release/closedbook

test: ## Everything: format, lints, documentation, tests.
	@.ci/packages $(DEBIAN_TEST)
	@.ci/clients
	@.ci/quiet cargo fmt --check
	@.ci/quiet cargo clippy --workspace --all-targets -- -D warnings
	@RUSTDOCFLAGS="-D warnings" .ci/quiet cargo doc --workspace --no-deps
	cargo test --workspace --no-fail-fast

bench: ## Throughput, connections per second and added latency, against a direct connection in the same run; switches of phase.
	@.ci/packages $(DEBIAN_DEMO)
	@.ci/quiet cargo bench --no-run --bench proxy --bench switch
	@cargo bench --quiet --bench proxy
	@cargo bench --quiet --bench switch -- --rounds 10

fuzz: ## Each parser of hostile bytes for a minute.
	@.ci/packages $(DEBIAN_BUILD) g++
	@command -v cargo-fuzz >/dev/null || .ci/quiet cargo install --locked cargo-fuzz
	fuzz/run.sh

deny: ## Licences, advisories and sources of what is built in.
	@command -v cargo-deny >/dev/null || .ci/quiet cargo install --locked cargo-deny
	cargo deny check
