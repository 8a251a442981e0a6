# Sourced after setup.sh: runs checks, counts them, and says how many passed.

reports=$(mktemp -d "${TMPDIR:-/tmp}/cv-test.XXXXXX") || exit 1
trap 'rm -rf "$reports"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
passed=0
failed=0
# What could not be checked here, and why, and what was measured: a line each, shown above the count.
export CONVOY_TEST_NOTES="$reports/notes"
: >"$CONVOY_TEST_NOTES" || exit 1

note() { echo "$1" >>"$CONVOY_TEST_NOTES"; }

# step <name> <command…>: one test that is a whole command.
step() {
  name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    echo "ok: $name"
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
  fi
}

# count <report> <attribute>: a total of bun's JUnit report.
count() {
  found=$(sed -n 's/.*<testsuites[^>]* '"$2"'="\([0-9]*\)".*/\1/p' "$1" 2>/dev/null | head -n 1)
  echo "${found:-0}"
}

# run_tests <name> <file…>: adds up the tests of one run; a run that fails without a failed test is a failure too.
# $runner, where it is set, is a command that runs another.
run_tests() {
  report=$reports/$1.xml
  shift
  if ${runner:-} "$BUN" test --timeout=60000 --reporter=junit --reporter-outfile="$report" "$@"; then status=0; else status=$?; fi
  tests=$(count "$report" tests)
  failures=$(count "$report" failures)
  skips=$(count "$report" skipped)
  if [ "$tests" -eq 0 ] || { [ "$status" -ne 0 ] && [ "$failures" -eq 0 ]; }; then failed=$((failed + 1)); fi
  passed=$((passed + tests - failures - skips))
  failed=$((failed + failures))
}

# The last lines of a run; its exit code says whether nothing failed.
finish() {
  cat "$CONVOY_TEST_NOTES"
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}
