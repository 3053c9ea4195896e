# The two commands of the README, and what developers need besides. Quiet when things go well.

# Only a Rust toolchain is assumed; the rest is Debian's. sudo is asked for only when something is missing.
DEBIAN_BUILD := pkg-config libmnl-dev libnftnl-dev gcc
DEBIAN_DEMO  := $(DEBIAN_BUILD) curl iproute2
DEBIAN_TEST  := $(DEBIAN_DEMO) chromium libc6-dev nftables git wget openssl python3 python3-requests nodejs iputils-ping procps util-linux

.PHONY: demo test canary bench fuzz deny

demo: ## Build, and show the main job offline: every practical way out is tried, in both phases, and fails.
	@.ci/packages $(DEBIAN_DEMO)
	@.ci/quiet cargo build --release
	@target/release/closedbook env check --canary --lab --agent claude-code --jobs-dir target/jobs

test: ## Everything: format, lints, documentation, tests.
	@.ci/packages $(DEBIAN_TEST)
	@.ci/clients
	@.ci/quiet .ci/canary
	@.ci/quiet cargo fmt --check
	@.ci/quiet cargo clippy --workspace --all-targets -- -D warnings
	@RUSTDOCFLAGS="-D warnings" .ci/quiet cargo doc --workspace --no-deps
	cargo test --workspace --no-fail-fast

canary: ## The canary as a static program, for any image: target/static/closedbook-canary.
	@.ci/packages $(DEBIAN_BUILD) libc6-dev
	@.ci/quiet .ci/canary

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
