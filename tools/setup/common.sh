# Sourced by tools/quickstart, tools/test, tools/fuzz and .ci/run: messages, timed phases, Debian
# packages, configuring and building a preset. Expects `set -euo pipefail`.
# shellcheck shell=bash

project_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
log_directory=$project_root/build/log
cuda=auto # whether to build the cuda device, as in --cuda
run_with=() # prefix of commands that run the programs of the build, as the build does to list tests

say() { printf '%s\n' "$*"; }

# fail LINE...: prints an error to standard error, one argument per line, and ends the script.
fail() {
  printf '%s: error: %s\n' "${0##*/}" "$1" >&2
  shift
  [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
  exit 1
}

# phase TITLE LOG COMMAND...: runs the command with its output in build/log/LOG.log and prints one
# line with the elapsed time; shows the end of the log if the command fails.
phase() {
  local title=$1 log=$log_directory/$2.log started=$SECONDS status=0
  shift 2
  printf '%-60s' "$title"
  "$@" </dev/null >"$log" 2>&1 || status=$?
  if [ $status -ne 0 ]; then
    printf 'failed after %d s\n' $((SECONDS - started))
    # Without ninja's progress lines, which continue after the failure.
    grep -v '^\[[0-9]*/[0-9]*\] ' "$log" | tail -n 30 | sed 's/^/  | /' >&2
    fail "${title} failed with status ${status}; full log: ${log}"
  fi
  printf '%5d s\n' $((SECONDS - started))
}

# packages_of LIST...: the Debian packages in tools/setup/packages.LIST, on one line.
packages_of() {
  local lists=("${@/#/$project_root/tools/setup/packages.}")
  sed 's/#.*//' "${lists[@]}" | xargs
}

# missing_of PACKAGE...: those that are not installed, on one line.
missing_of() {
  local package missing=()
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  say "${missing[*]}"
}

# install_packages LIST...: installs the missing packages of the lists; does nothing if all are
# installed.
install_packages() {
  local packages missing by_hand
  local as_root=()
  read -ra packages <<<"$(packages_of "$@")"
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    fail "this system has no apt-get" \
      "Install the equivalents of these Debian 12 packages, then run this again with --no-install:" \
      "${packages[*]}"
  read -ra missing <<<"$(missing_of "${packages[@]}")"
  [ ${#missing[@]} -gt 0 ] || return 0

  by_hand="apt-get install ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      fail "installing the missing packages requires root or sudo" "As root: $by_hand"
    as_root=(sudo)
  fi
  say "installing from Debian: ${missing[*]}"
  # Ask for the password here: the commands below log their output and have no standard input.
  if [ ${#as_root[@]} -gt 0 ] && ! sudo -n true 2>/dev/null; then
    [ -t 0 ] && sudo -v ||
      fail "sudo was refused, or needs a password and there is no terminal" "As root: $by_hand"
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120)
  # Continue if the update fails: the existing package lists, or another source, may suffice.
  "${as_root[@]}" update </dev/null >"$log_directory/apt-update.log" 2>&1 || true
  if ! (phase "installing packages" apt-install \
    "${as_root[@]}" install -y --no-install-recommends "${missing[@]}"); then
    if grep -qE '^(Err|E|W):.*(resolv|connect|unreachable|timed out)|^Err:' \
      "$log_directory"/apt-{update,install}.log; then
      say "  This machine may be offline: $log_directory/apt-update.log" >&2
    fi
    fail "some packages could not be installed" "To install them yourself: sudo $by_hand"
  fi
}

# prepare_directories: creates the directories that the other functions write to.
prepare_directories() {
  mkdir -p "$log_directory" 2>/dev/null && [ -w "$log_directory" ] ||
    fail "cannot write to $project_root/build" \
      "It may belong to another user after a build as root: remove it, or chown it to $(id -un)."
  # Without a writable home directory, ccache would make every compilation fail.
  if [ -z "${CCACHE_DIR:-}" ] && ! mkdir -p "${XDG_CACHE_HOME:-${HOME:-}/.cache}" 2>/dev/null; then
    export CCACHE_DIR=$project_root/build/ccache
  fi
}

# take_cuda MODE: applies the option --cuda. Status 2 if MODE is unknown.
take_cuda() {
  case $1 in
    auto | yes | no) cuda=$1 ;;
    *) return 2 ;;
  esac
}

# find_nvcc: the compiler of a CUDA toolkit; status 1 if there is none.
find_nvcc() {
  command -v "$project_root/build/cuda/bin/nvcc" || command -v nvcc ||
    command -v "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc"
}

# bring_cuda: downloads a CUDA toolkit if there is a driver but no toolkit, and the other files that
# the cuda device needs. If that fails, the build continues and reports whether it has the device,
# unless --cuda yes requires it.
bring_cuda() {
  [ $cuda != no ] || return 0
  if "$project_root/tools/setup/cuda" $cuda && "$project_root/tools/setup/cudnn_frontend"; then
    return 0
  fi
  [ $cuda != yes ] || exit 1
  say "continuing without these downloads for the cuda device"
}

# bring_trace_viewers: downloads the viewers with which the tests load traces. Without them these
# tests are skipped, except in CI.
bring_trace_viewers() {
  "$project_root/tools/setup/trace_viewers" || say "continuing without the tests that load traces"
}

# build_preset PRESET [--target TARGET...]: configures and builds it; one line reports whether the
# cuda device is built.
build_preset() {
  local preset=$1 fresh=()
  local -A with_cuda=([auto]=AUTO [yes]=ON [no]=OFF)
  shift
  local cache=$project_root/build/$preset/CMakeCache.txt
  # CMake rejects a build folder that was moved or copied with its checkout.
  if [ -e "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$project_root" "$cache"; then
    fresh=(--fresh)
  fi
  cd "$project_root"
  # Lets ccache share results between checkouts at different paths.
  export CCACHE_BASEDIR=$project_root CCACHE_NOHASHDIR=1
  phase "configuring build/$preset" "$preset-configure" \
    cmake --preset "$preset" "${fresh[@]}" -D GRAPHLINE_WITH_CUDA="${with_cuda[$cuda]}"
  sed -n 's/^-- \(cuda device: .*\)/\1/p' "$log_directory/$preset-configure.log"
  phase "building (minutes at first, seconds later)" "$preset-build" \
    "${run_with[@]}" cmake --build --preset "$preset" "$@"
}
