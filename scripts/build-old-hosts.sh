#!/usr/bin/env bash
# Builds the command for old hosts: it, and all that it loads into programs, run with glibc 2.17 and newer. Then looks
# whether that is so.
#   scripts/build-old-hosts.sh [ARCH] [PROFILE]      ARCH: x86_64, aarch64; PROFILE: release, dev
# The command is then target/old-hosts/ARCH-unknown-linux-gnu/PROFILE/ascend-trace.
# Zig's linker knows the symbols of every glibc. It is taken from Python's package registry, with cargo-zigbuild,
# into a folder of the target folder, unless both are installed.
set -euo pipefail
cd "$(dirname "$0")/.."
arch=${1:-$(uname -m)} profile=${2:-release} glibc=2.17
target=$arch-unknown-linux-gnu
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/old-hosts
tools=$CARGO_TARGET_DIR/tools

if ! command -v cargo-zigbuild >/dev/null || ! { command -v zig || python3 -c 'import ziglang'; } >/dev/null 2>&1; then
    [ -x "$tools/bin/cargo-zigbuild" ] || {
        python3 -m venv "$tools"
        "$tools/bin/pip" install --quiet 'cargo-zigbuild>=0.20,<1' 'ziglang>=0.13'
    }
    export PATH=$tools/bin:$PATH
fi

cargo zigbuild --locked --profile "$profile" --target "$target.$glibc" --bin ascend-trace

folder=$(realpath "$CARGO_TARGET_DIR")/$target/$([ "$profile" = dev ] && echo debug || echo "$profile")
# The libraries that are in the command, where its build has left them.
embedded=$(dirname "$folder")/embedded/$target/embedded$([ "$profile" = dev ] && echo -debug || true)
files=("$folder/ascend-trace")
for name in libascend_trace_interposer.so libascendcl.so; do
    files+=("$embedded/$name")
done
status=0
for file in "${files[@]}"; do
    newer=$(python3 scripts/newer_symbols.py "$glibc" "$file")
    if [ -n "$newer" ]; then
        printf '%s needs a glibc that is newer than %s:\n%s\n' "$file" "$glibc" "$newer"
        status=1
    else
        echo "$file: glibc $glibc and newer"
    fi
done
if [ "$status" = 0 ] && [ "$arch" = "$(uname -m)" ]; then
    echo "== it records on this machine"
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
    (cd "$place" && XDG_CACHE_HOME=$place "$folder/ascend-trace" demo </dev/null)
fi
exit "$status"
