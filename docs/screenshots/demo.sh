#!/bin/sh
# Records the demo `transformer` and draws its pictures anew: what the README shows, and the same screen for every kind
# of terminal.
set -eu
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cargo run --quiet --release -- demo transformer --no-tui -o "$folder/demo.atrace"
SCREENSHOT_OF="$folder/demo.atrace" cargo test --quiet -p ascend-trace-viewer a_recording_as_it_is_first_seen -- --ignored
