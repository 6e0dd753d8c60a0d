#!/usr/bin/env bash
# Checks the engine of `--engine frida`, without a devkit of Frida's Gum: its types against the headers
# that the bindings bring, for both architectures; and the engine itself, linked against a stand-in,
# with the tests of engines. Needs libclang, for the bindings. Nothing is downloaded but crates.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never DOCS_RS=1
engine=(--package ascend-trace-engine-frida --features gum --locked)
target=$(cargo metadata --no-deps --format-version 1 --locked | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')

echo "== types, for this machine"
cargo clippy "${engine[@]}" -- -D warnings
other=aarch64-unknown-linux-gnu
if [ -d "$(rustc --print sysroot)/lib/rustlib/$other" ] && [ -d /usr/aarch64-linux-gnu/include ]; then
    echo "== types, for $other"
    BINDGEN_EXTRA_CLANG_ARGS=-I/usr/aarch64-linux-gnu/include \
        cargo clippy "${engine[@]}" --target "$other" -- -D warnings
else
    echo "types for $other not checked: no such target, or no C headers for it"
fi

echo "== linked against the stand-in"
cargo build --package ascend-trace-engine-standin --locked
devkit=$target/engine-standin-devkit
mkdir -p "$devkit"
cp "$target/debug/libascend_trace_engine_standin.so" "$devkit/libfrida-gum.so"
# The build that README and docs/ENGINES.md describe, and the tests as they are run with a devkit. An archive in
# the folder would be taken before the library.
FRIDA_GUM_DEVKIT=$devkit ASCEND_TRACE_TEST_ENGINE=frida \
    cargo test --locked --features frida --test it -- engine:: ways:: contract::
