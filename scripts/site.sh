#!/usr/bin/env bash
# Makes a site of all documents, in target/site/book. Needs mdBook: cargo install mdbook
set -euo pipefail
cd "$(dirname "$0")/.."
command -v mdbook >/dev/null || {
    echo "there is no mdbook: install it with: cargo install mdbook" >&2
    exit 1
}
site=$PWD/target/site
rm -rf "$site"
mkdir -p "$site/src"
cp -r docs ./*.md "$site/src/"
# Files that pages link to.
cp -r --parents examples/perfetto.py contrib/grafana "$site/src/"

title() { sed -n 's/^# //p' "$1" | head -1; }
# The pages and their order are those of README's lists.
{
    echo '# Summary'
    echo
    echo '[ascend-trace](README.md)'
    sed -n '/^## More$/,$p' README.md | while IFS= read -r line; do
        if [[ $line =~ ^For\ (.*):$ ]]; then
            printf '\n# For %s\n\n' "${BASH_REMATCH[1]}"
        else
            { grep -oE '\]\([^)]*\.md\)' <<<"$line" || true; } | tr -d '])(' | while IFS= read -r page; do
                printf -- '- [%s](%s)\n' "$(title "$page")" "$page"
            done
        fi
    done
} >"$site/src/SUMMARY.md"
cat >"$site/book.toml" <<'BOOK'
[book]
title = "ascend-trace"
description = "A tracer and terminal timeline for programs that use Huawei AscendCL"
language = "en"

[output.html]
no-section-label = true
BOOK
missing=$(cd "$site/src" && find . -name '*.md' ! -name SUMMARY.md -printf '%P\n' | sort | while read -r page; do
    grep -qF "($page)" SUMMARY.md || echo "$page"
done)
[ -z "$missing" ] || {
    printf 'not in the lists of README.md:\n%s\n' "$missing" >&2
    exit 1
}
mdbook build "$site"
echo "the site: $site/book/index.html"
