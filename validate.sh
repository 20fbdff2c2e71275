#!/usr/bin/env bash
# The one gate: every check and every test, ending at the first that fails.
# `./validate.sh lint unit` runs only these steps.
set -Eeuo pipefail
cd "$(dirname "$0")"
here=$PWD
. .ci/uv.sh

all_steps=(format lint types unit integration e2e coverage)

format() { run ruff format --check; }
lint() { run ruff check; }
types() { run pyright; }
# Without greenlets, which only the database needs: telling them apart takes as long as the tests.
unit() { measure --concurrency=thread -m pytest tests/unit; }
integration() { measure -m pytest "${at_once[@]}" tests/integration; }
e2e() {
    bring_chromium
    measure -m pytest "${at_once[@]}" tests/e2e
}
coverage() {
    run coverage combine --quiet
    run coverage report --skip-covered --fail-under=90
}

# Each worker has a PostgreSQL, a server and a browser of its own.
at_once=(--numprocesses auto --maxprocesses 4 --dist worksteal)

run() { "$uv" run --no-sync "$@"; }
measure() { run coverage run "$@"; }

find_chromium() {
    command -v chromium || command -v chromium-browser || command -v google-chrome
}

bring_chromium() {
    if [[ -z ${BOR_TEST_CHROMIUM:-} ]] && ! find_chromium >/dev/null; then
        if [[ $EUID != 0 ]] || ! command -v apt-get >/dev/null; then
            echo "The browser tests need Chromium: install it, or set BOR_TEST_CHROMIUM." >&2
            return 1
        fi
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
    fi
    export BOR_TEST_CHROMIUM=${BOR_TEST_CHROMIUM:-$(find_chromium)}
}

step() {
    local name=$1 begun=$SECONDS
    printf '\n── %s\n' "$name"
    trap 'printf "── %s failed\n" "$name" >&2' ERR
    "$name"
    printf '── %s: %d s\n' "$name" $((SECONDS - begun))
}

for name in "$@"; do
    if [[ " ${all_steps[*]} " != *" $name "* ]]; then
        echo "No step is called $name; the steps are: ${all_steps[*]}" >&2
        exit 2
    fi
done

"$uv" sync --quiet
# To compile every module anew would be half of each start.
unset PYTHONDONTWRITEBYTECODE
# Absolute, as the servers that the tests start write theirs as well, wherever they run.
export COVERAGE_FILE=$here/.coverage
if [[ $# == 0 ]]; then
    rm -f .coverage .coverage.*
fi
for name in "${@:-${all_steps[@]}}"; do
    step "$name"
done
