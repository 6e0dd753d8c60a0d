#!/usr/bin/env bash
# Runs the tests again and again where the machine makes it hard for them.
#
#   scripts/stress.sh [RUNS [FILTER…]]       RUNS of each surrounding below; without it 20, 3 and 3
#   SURROUNDINGS="busy one many"             which of them: busy loops beside, one processor, many threads
#   LOOPS=8                                  busy loops beside
#   LIMIT=7200                               seconds after which a run counts as hanging
#
# FILTER goes to `cargo test`, as `--test it terminal`. Logs stay in target/stress. The status is 1 if a test failed.
set -uo pipefail
cd "$(dirname "$0")/.."
runs=${1:-}
[ $# -gt 0 ] && shift
logs=target/stress
mkdir -p "$logs"
export CARGO_TERM_COLOR=never RUST_BACKTRACE=1

loops=()
stop_loops() { [ "${#loops[@]}" -eq 0 ] || kill "${loops[@]}" 2>/dev/null; loops=(); }
trap stop_loops EXIT
trap 'exit 130' INT TERM

start_loops() {
    for _ in $(seq "${LOOPS:-8}"); do
        sh -c 'while :; do :; done' &
        loops+=($!)
    done
}

# The tests that a log says failed, and test programs that ended without a result.
failed_in() { grep -oE '^test .* \.\.\. FAILED|^error: test failed.*|signal: [0-9]+.*' "$1" | sort -u; }

bad=0
surround() {
    local name=$1 count=$2 passed=0
    shift 2
    for run in $(seq "$count"); do
        local log="$logs/$name-$run.log" begin=$SECONDS
        if .ci/limited "${LIMIT:-7200}" "$log" "$@" >"$log.limit"; then
            passed=$((passed + 1))
            printf '%s %d of %d: passed, %d s\n' "$name" "$run" "$count" $((SECONDS - begin))
        else
            bad=1
            printf '%s %d of %d: FAILED, %d s, %s\n' "$name" "$run" "$count" $((SECONDS - begin)) "$log"
            failed_in "$log" | sed 's/^/    /'
            cat "$log.limit" >>"$log"
        fi
    done
    printf '== %s: %d of %d passed\n' "$name" "$passed" "$count"
}

tests=(cargo test --locked --no-fail-fast "$@")
if ! "${tests[@]}" --no-run >"$logs/build.log" 2>&1; then
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
