#!/usr/bin/env bash
# Makes what is released for one architecture, for hosts with glibc 2.17 and newer.
#   scripts/package.sh [ARCH] [PROFILE]      ARCH: x86_64, aarch64; PROFILE: release, dev
# In target/packages/ARCH: a wheel, a .tar.gz, a .deb and an .rpm, the list of components (CycloneDX), and their checksums.
# The .deb needs dpkg-deb, and the .rpm needs rpmbuild. The last lines name the packages that a missing tool prevented.
# The same sources make the same files, in any folder: their dates are that of the commit. Set SOURCE_DATE_EPOCH for
# another one.
set -euo pipefail
cd "$(dirname "$0")/.."
arch=${1:-$(uname -m)} profile=${2:-release}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}
ASCEND_TRACE_COMMIT=${ASCEND_TRACE_COMMIT:-$(git rev-parse --short=12 HEAD 2>/dev/null || echo 'not recorded')}
export SOURCE_DATE_EPOCH ASCEND_TRACE_COMMIT
umask 022

target=$arch-unknown-linux-gnu
out=$PWD/target/packages/$arch
rm -rf "$out"
mkdir -p "$out"
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

# Packages of an unoptimised build are only for checks. They are large, so they are packed fast.
case $profile in
    dev) gzip_level=1 xz_level=1 ;;
    *) gzip_level=9 xz_level=6 ;;
esac

# Zig's linker knows the symbols of every glibc. It and maturin are from Python's package registry.
tools=$PWD/target/packages/tools
[ -x "$tools/bin/maturin" ] || {
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet 'maturin>=1.8,<2' 'ziglang>=0.13,<1'
}
PATH=$tools/bin:$PATH CARGO_TARGET_DIR=$PWD/target/packages/build \
    maturin build --locked --features query,operators,mcp --profile "$profile" --zig --target "$target" --compatibility manylinux_2_17 --out "$out"

"$tools/bin/python" scripts/wheel_without_paths.py "$out"/*.whl "$PWD"

# All packages have the program of the wheel.
"$tools/bin/python" -m zipfile -e "$out"/*.whl "$stage/wheel"
built=$(echo "$stage"/wheel/*.data/scripts/ascend-trace)
chmod 755 "$built"
cp "$stage"/wheel/*.dist-info/sboms/*.cyclonedx.json "$out/ascend-trace-$version-$arch.cyclonedx.json"

# What prints pages and scripts: the command itself, where this machine can run it.
runs() { [ "$arch" = "$(uname -m)" ] || command -v "qemu-$arch" >/dev/null; }
command_of_packages() {
    if [ "$arch" = "$(uname -m)" ]; then "$built" "$@"; else "qemu-$arch" -L "/usr/$arch-linux-gnu" "$built" "$@"; fi
}
runs || { echo "this machine cannot run programs for $arch: install qemu-user" >&2; exit 1; }

# The tree below /usr of all packages.
tree=$stage/tree
doc=share/doc/ascend-trace
mkdir -p "$tree/bin" "$tree/share/man/man1" "$tree/$doc" "$tree/share/bash-completion/completions" \
    "$tree/share/zsh/site-functions" "$tree/share/fish/vendor_completions.d"
install -m 755 "$built" "$tree/bin/ascend-trace"
command_of_packages man --to "$tree/share/man/man1"
command_of_packages completions bash >"$tree/share/bash-completion/completions/ascend-trace"
command_of_packages completions zsh >"$tree/share/zsh/site-functions/_ascend-trace"
command_of_packages completions fish >"$tree/share/fish/vendor_completions.d/ascend-trace.fish"
install -m 644 README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$tree/$doc"
same_dates() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; }
same_dates "$tree"

tar_gz() {
    local name=ascend-trace-$version-$arch-linux
    cp -a "$tree" "$stage/$name"
    same_dates "$stage/$name"
    tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" |
        gzip "-${gzip_level}n" >"$out/$name.tar.gz"
}

deb() {
    command -v dpkg-deb >/dev/null || { missing+=(".deb: dpkg-deb is not installed (apt-get install dpkg)"); return; }
    local root=$stage/deb machine
    case $arch in x86_64) machine=amd64 ;; aarch64) machine=arm64 ;; *) machine=$arch ;; esac
    mkdir -p "$root/DEBIAN"
    cp -a "$tree" "$root/usr"
    gzip -9n "$root"/usr/share/man/man1/*.1
    cat >"$root/DEBIAN/control" <<CONTROL
Package: ascend-trace
Version: $version
Architecture: $machine
Maintainer: The developers of ascend-trace
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: libc6 (>= 2.17)
Section: devel
Priority: optional
Description: Tracer and terminal timeline for programs that use Huawei AscendCL
 It records every call and the time of every task on the device, shows them as
 a timeline in a terminal, and says why streams waited.
CONTROL
    same_dates "$root"
    dpkg-deb --root-owner-group -Zxz "-z$xz_level" --build "$root" "$out/ascend-trace_${version}_$machine.deb" >/dev/null
}

rpm_package() {
    command -v rpmbuild >/dev/null || {
        missing+=(".rpm: rpmbuild is not installed (apt-get install rpm, or dnf install rpm-build)")
        return
    }
    cat >"$stage/ascend-trace.spec" <<SPEC
Name: ascend-trace
Version: $version
Release: 1
Summary: Tracer and terminal timeline for programs that use Huawei AscendCL
License: MIT OR Apache-2.0
AutoReqProv: no
Requires: glibc >= 2.17
%description
It records every call and the time of every task on the device, shows them as a timeline in a terminal, and says why
streams waited.
%install
mkdir -p %{buildroot}/usr
cp -a $tree/. %{buildroot}/usr/
%files
/usr/bin/ascend-trace
/usr/share/man/man1/*
/usr/$doc
/usr/share/bash-completion/completions/ascend-trace
/usr/share/zsh/site-functions/_ascend-trace
/usr/share/fish/vendor_completions.d/ascend-trace.fish
SPEC
    rpmbuild -bb --quiet --target "$arch" --define "_topdir $stage/rpm" --define "_rpmdir $stage/rpms" \
        --define '_build_id_links none' --define '__os_install_post %{nil}' --define 'debug_package %{nil}' \
        --define 'use_source_date_epoch_as_buildtime 1' --define 'clamp_mtime_to_source_date_epoch 1' \
        --define '_buildhost reproducible' "$stage/ascend-trace.spec"
    cp "$stage"/rpms/*/*.rpm "$out/"
}

missing=()
tar_gz
deb
rpm_package
(cd "$out" && sha256sum -- * >SHA256SUMS && ls -l && cat SHA256SUMS)
for package in ${missing[@]+"${missing[@]}"}; do
    echo "not made: the $package" >&2
done
