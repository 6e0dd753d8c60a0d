#!/usr/bin/env bash
# Runs the tests again and again where the machine makes it hard for them.
#
#   scripts/stress.sh [RUNS [FILTER…]]       RUNS of each surrounding below; without it 20, 3 and 3
#   SURROUNDINGS="busy one many"             which of them: busy loops beside, one processor, many threads
#   LOOPS=8                                  busy loops beside
#   COPIES=1                                 runs at a time, which are then in each other's way as well (as root: each
#                                            has a copy of the folder with the programs that tests share)
#   LIMIT=7200                               seconds after which a run counts as hanging
#
# FILTER goes to `cargo test`, as `--test it terminal`. Logs stay in target/stress. The status is 1 if a test failed or was
# skipped for a reason that .ci/allowed-skips does not have.
set -uo pipefail
cd "$(dirname "$0")/.."
runs=${1:-}
[ $# -gt 0 ] && shift
logs=$PWD/target/stress
mkdir -p "$logs"
export CARGO_TERM_COLOR=never RUST_BACKTRACE=1

loops=()
stop_loops() { [ "${#loops[@]}" -eq 0 ] || kill "${loops[@]}" 2>/dev/null; loops=(); }
# What runs of the tests are under way end with this script.
stop_all() {
    for run in $(jobs -p); do pkill -P "$run" 2>/dev/null; done
    stop_loops
}
trap stop_all EXIT
trap 'exit 130' INT TERM

start_loops() {
    for _ in $(seq "${LOOPS:-8}"); do
        sh -c 'while :; do :; done' &
        loops+=($!)
    done
}

# The tests that a log says failed, and test programs that ended without a result.
failed_in() { grep -oE '^test .* \.\.\. FAILED|^error: test failed.*|signal: [0-9]+.*' "$1" | sort -u; }

# Runs a command that has the folder of shared programs for itself.
alone() {
    local copy=$1
    shift
    [ "${COPIES:-1}" -gt 1 ] || { "$@"; return; }
    mkdir -p target/tmp
    rm -rf "$copy" && cp -a target/tmp "$copy"
    unshare --mount sh -c 'mount --bind "$1" target/tmp && shift && exec "$@"' sh "$copy" "$@"
    local status=$?
    rm -rf "$copy"
    return "$status"
}

# One run, which leaves a file NAME-RUN.passed if it passed.
run_once() {
    local name=$1 run=$2 count=$3 log="$logs/$1-$2.log" begin=$SECONDS
    shift 3
    rm -f "${log%.log}.passed"
    if alone "${log%.log}.tmp" .ci/limited "${LIMIT:-7200}" "$log" "$@" >"$log.limit" && .ci/skips "$log" >>"$log.limit"; then
        touch "${log%.log}.passed"
        printf '%s %d of %d: passed, %d s\n' "$name" "$run" "$count" $((SECONDS - begin))
    else
        printf '%s %d of %d: FAILED, %d s, %s\n' "$name" "$run" "$count" $((SECONDS - begin)) "$log"
        { failed_in "$log"; grep 'NOT ALLOWED' "$log.limit"; } | sed 's/^/    /'
        cat "$log.limit" >>"$log"
    fi
}

bad=0
surround() {
    local name=$1 count=$2 passed running=()
    shift 2
    for run in $(seq "$count"); do
        if [ "${#running[@]}" -ge "${COPIES:-1}" ]; then
            wait -n -p ended "${running[@]}"
            running=($(printf '%s\n' "${running[@]}" | grep -vx "$ended"))
        fi
        run_once "$name" "$run" "$count" "$@" &
        running+=($!)
    done
    wait "${running[@]}"
    passed=$(find "$logs" -name "$name-*.passed" | wc -l)
    [ "$passed" -eq "$count" ] || bad=1
    printf '== %s: %d of %d passed\n' "$name" "$passed" "$count"
}

rm -f "$logs"/*.passed
# What a test skips it tells on its output, which is shown for those that pass as well.
tests=(cargo test --locked --no-fail-fast "$@" -- --show-output)
if ! cargo test --locked "$@" --no-run >"$logs/build.log" 2>&1; then
    tail -20 "$logs/build.log"
    exit 1
fi
for surrounding in ${SURROUNDINGS:-busy one many}; do
    case $surrounding in
    busy)
        start_loops
        surround busy "${runs:-20}" "${tests[@]}"
        stop_loops
        ;;
    one) surround one "${runs:-3}" taskset -c 0 "${tests[@]}" ;;
    many) surround many "${runs:-3}" env RUST_TEST_THREADS=16 "${tests[@]}" ;;
    *) echo "no surrounding $surrounding: busy, one, many" >&2; exit 2 ;;
    esac
done
exit "$bad"
