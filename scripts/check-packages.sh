#!/usr/bin/env bash
# Installs what scripts/package.sh has made, each package into a clean place, and records the demo with it.
#   scripts/check-packages.sh [ARCH]
# Packages for aarch64 are checked on other machines as well, in an emulator (qemu-user, libc6-dev-arm64-cross, a C
# compiler; Linux 6.7 and later). Where that is not there, only their checksums and symbols are checked.
set -euo pipefail
cd "$(dirname "$0")/.."
arch=${1:-$(uname -m)}
packages=$PWD/target/packages/$arch
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
(cd "$packages" && sha256sum --quiet -c SHA256SUMS)

# Nothing of this checkout or of this user is in the environment of what is checked.
clean() { env -i HOME="$place/home" PATH="$1:/usr/bin:/bin" TERM=dumb LANG=C.UTF-8 "${@:2}"; }
# A demo is recorded, read and exported.
demo_works() {
    local name=$1 folder=$2
    mkdir -p "$place/home" "$place/$name"
    (cd "$place/$name" && clean "$folder" ascend-trace demo --no-tui -o run.atrace </dev/null >/dev/null 2>"$place/$name/said" &&
        clean "$folder" ascend-trace info --strict run.atrace >/dev/null &&
        clean "$folder" ascend-trace query run.atrace operations >/dev/null &&
        clean "$folder" ascend-trace --version --verbose | grep -q '^commit: .') || {
        cat "$place/$name/said"
        echo "$name: the demo does not work" >&2
        return 1
    }
    echo "$name: the demo is recorded and read"
}

# No symbol of a newer C library, in the program and in what it loads into others.
is_for_old_hosts() {
    local newer
    for file in "$@"; do
        newer=$(python3 scripts/newer_symbols.py 2.17 "$file")
        [ -z "$newer" ] || {
            printf '%s needs a newer glibc than 2.17:\n%s\n' "$file" "$newer" >&2
            return 1
        }
    done
}

tar -C "$place" -xzf "$packages"/*.tar.gz
unpacked=$(echo "$place"/ascend-trace-*/bin)
is_for_old_hosts "$unpacked/ascend-trace"

# The demo takes a minute in an emulator.
if [ "$arch" != "$(uname -m)" ] && [ -z "${IN_EMULATOR:-}" ]; then
    emulator=$(command -v "qemu-$arch" || true) sysroot=/usr/$arch-linux-gnu
    mkdir -p "$place/starter"
    if [ "$arch" != aarch64 ] || [ -z "$emulator" ] || [ ! -d "$sysroot" ] ||
        ! cc -static -O1 -o "$place/starter/emulator" "-DQEMU=\"$emulator\"" "-DSYSROOT=\"$sysroot\"" tests/aarch64/emulator.c ||
        ! unshare --user --map-root-user --mount sh tests/aarch64/within.sh "$place/starter" true 2>"$place/no-emulator"; then
        [ ! -s "$place/no-emulator" ] || cat "$place/no-emulator"
        echo "packages for $arch: only their checksums and symbols are checked here, there is no emulator for programs"
        exit 0
    fi
    # In a user and a mount namespace in which the kernel starts such programs. Nothing outside changes.
    status=0
    IN_EMULATOR=1 unshare --user --map-root-user --mount sh tests/aarch64/within.sh "$place/starter" scripts/check-packages.sh "$arch" || status=$?
    exit "$status"
fi

# The wheel, where a fresh environment would have it. The Python of this machine installs one of another architecture
# only into a folder of its own.
python3 -m venv "$place/venv"
if [ "$arch" = "$(uname -m)" ]; then
    "$place/venv/bin/pip" install --quiet --no-index "$packages"/*.whl
else
    "$place/venv/bin/pip" install --quiet --no-index --no-deps --only-binary=:all: --platform "manylinux_2_17_$arch" \
        --target "$place/site" "$packages"/*.whl
    ln -s "$place/site/bin/ascend-trace" "$place/venv/bin/ascend-trace"
fi
demo_works wheel "$place/venv/bin"
clean "$place/venv/bin" PYTHONPATH="$place/site" "$place/venv/bin/python" - "$place/wheel/run.atrace" <<'PYTHON'
import sys

import ascend_trace

with ascend_trace.open(sys.argv[1]) as recording:
    assert recording.info()["tasks"]["count"] > 0, recording.info()["tasks"]
    assert "tasks" in recording.names()
assert not ascend_trace.is_recording()
PYTHON
echo "wheel: the module reads a recording"

demo_works tar "$unpacked"
mapfile -t loaded < <(find "$place/home" -name '*.so*' -size +20k)
[ "${#loaded[@]}" -ge 2 ] || { echo "the libraries are not where they are unpacked" >&2; exit 1; }
is_for_old_hosts "${loaded[@]}"
echo "glibc 2.17 and newer: the program, and ${#loaded[@]} libraries"
if command -v man >/dev/null; then
    man -l "$(echo "$place"/ascend-trace-*/share/man/man1/ascend-trace-record.1)" | grep -q -- --timing
    echo "tar: a manual page is shown"
fi
if command -v dpkg-deb >/dev/null && compgen -G "$packages/*.deb" >/dev/null; then
    dpkg-deb -x "$packages"/*.deb "$place/deb-root"
    demo_works deb "$place/deb-root/usr/bin"
else
    echo "deb: not checked, as dpkg-deb or the .deb is missing" >&2
fi
if command -v rpm2cpio >/dev/null && command -v cpio >/dev/null && compgen -G "$packages/*.rpm" >/dev/null; then
    mkdir "$place/rpm-root"
    rpm2cpio "$packages"/*.rpm | (cd "$place/rpm-root" && cpio -idm --quiet)
    demo_works rpm "$place/rpm-root/usr/bin"
elif compgen -G "$packages/*.rpm" >/dev/null; then
    echo "rpm: not checked, as rpm2cpio or cpio is not installed" >&2
else
    echo "rpm: not checked, as $packages has no .rpm (scripts/package.sh needs rpmbuild for it)" >&2
fi
