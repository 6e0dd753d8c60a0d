#!/bin/sh
# Draws the screenshots anew from what the view shows now. The tests compare them.
set -eu
cd "$(dirname "$0")/../.."
SCREENSHOTS=write exec cargo test --quiet -p ascend-trace-viewer screenshots
