# Shared by tools/quickstart, tools/test and .ci/run, which source it: messages, phases with their
# time, Debian packages, configuring and building a preset. Expects `set -euo pipefail`.
# shellcheck shell=bash

project_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
log_directory=$project_root/build/log
cuda=auto # whether the cuda device is built, as in --cuda
run_with=() # what programs of the build, and the build that lists their tests, are started through

say() { printf '%s\n' "$*"; }

# fail LINE...: says why on standard error, one argument a line, and ends the script.
fail() {
  printf '%s: error: %s\n' "${0##*/}" "$1" >&2
  shift
  [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
  exit 1
}

# phase TITLE LOG COMMAND...: runs the command with its output in build/log/LOG.log and prints one
# line with the time it took; shows the end of the log if it fails.
phase() {
  local title=$1 log=$log_directory/$2.log started=$SECONDS status=0
  shift 2
  printf '%-60s' "$title"
  "$@" </dev/null >"$log" 2>&1 || status=$?
  if [ $status -ne 0 ]; then
    printf 'failed after %d s\n' $((SECONDS - started))
    # Without ninja's progress, which goes on after what failed.
    grep -v '^\[[0-9]*/[0-9]*\] ' "$log" | tail -n 30 | sed 's/^/  | /' >&2
    fail "${title} failed with status ${status}; the whole log is ${log}"
  fi
  printf '%5d s\n' $((SECONDS - started))
}

# packages_of LIST...: the Debian packages named in tools/setup/packages.LIST, on one line.
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

# install_packages LIST...: installs what is missing of the lists; touches nothing and asks for
# nothing when all is there.
install_packages() {
  local packages missing by_hand
  local as_root=()
  read -ra packages <<<"$(packages_of "$@")"
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    fail "this is no Debian-like system: it has no apt-get" \
      "Install what these Debian 12 packages hold, then call this again with --no-install:" \
      "${packages[*]}"
  read -ra missing <<<"$(missing_of "${packages[@]}")"
  [ ${#missing[@]} -gt 0 ] || return 0

  by_hand="apt-get install ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      fail "packages are missing, and installing them takes root or sudo" "As root: $by_hand"
    as_root=(sudo)
  fi
  say "installing from Debian: ${missing[*]}"
  # Asked for here, since the commands below have their output in a log and no standard input.
  if [ ${#as_root[@]} -gt 0 ] && ! sudo -n true 2>/dev/null; then
    [ -t 0 ] && sudo -v ||
      fail "sudo wants a password and there is no terminal, or it was refused" "As root: $by_hand"
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120)
  # An update that fails is no reason to stop: the lists at hand, or another source, may do.
  "${as_root[@]}" update </dev/null >"$log_directory/apt-update.log" 2>&1 || true
  if ! (phase "installing packages" apt-install \
    "${as_root[@]}" install -y --no-install-recommends "${missing[@]}"); then
    if grep -qE '^(Err|E|W):.*(resolv|connect|unreachable|timed out)|^Err:' \
      "$log_directory"/apt-{update,install}.log; then
      say "  This machine seems to be offline: $log_directory/apt-update.log" >&2
    fi
    fail "not everything could be installed" "By hand: sudo $by_hand"
  fi
}

# prepare_directories: makes what the other functions write to.
prepare_directories() {
  mkdir -p "$log_directory" 2>/dev/null && [ -w "$log_directory" ] ||
    fail "cannot write to $project_root/build" \
      "It may belong to another user, from a build as root: remove it, or give it to $(id -un)."
  # Without a home to write to, the compiler cache would fail every compilation.
  if [ -z "${CCACHE_DIR:-}" ] && ! mkdir -p "${XDG_CACHE_HOME:-${HOME:-}/.cache}" 2>/dev/null; then
    export CCACHE_DIR=$project_root/build/ccache
  fi
}

# take_cuda MODE: what the option --cuda says. Status 2 where it says nothing known.
take_cuda() {
  case $1 in
    auto | yes | no) cuda=$1 ;;
    *) return 2 ;;
  esac
}

# find_nvcc: the compiler of a CUDA toolkit; status 1 where there is none.
find_nvcc() {
  command -v "$project_root/build/cuda/bin/nvcc" || command -v nvcc ||
    command -v "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc"
}

# bring_cuda: a CUDA toolkit where there is a driver and none is installed, and what building the
# cuda device takes beside it. Without them the build goes on, without that device, and says so,
# unless --cuda asks for it.
bring_cuda() {
  [ $cuda != no ] || return 0
  if "$project_root/tools/setup/cuda" $cuda && "$project_root/tools/setup/cudnn_frontend"; then
    return 0
  fi
  [ $cuda != yes ] || exit 1
  say "going on without what the cuda device takes"
}

# bring_trace_viewers: what loading traces in the tests takes. Without it these tests are skipped,
# but in CI.
bring_trace_viewers() {
  "$project_root/tools/setup/trace_viewers" || say "going on without the tests that load traces"
}

# build_preset PRESET [--target TARGET...]: configures and builds it; one line says what became of
# the cuda device.
build_preset() {
  local preset=$1 fresh=()
  local -A with_cuda=([auto]=AUTO [yes]=ON [no]=OFF)
  shift
  local cache=$project_root/build/$preset/CMakeCache.txt
  # A build folder that came along when the checkout was moved or copied does not work with CMake.
  if [ -e "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$project_root" "$cache"; then
    fresh=(--fresh)
  fi
  cd "$project_root"
  # What one checkout has compiled, the compiler cache gives to the next, wherever that lies.
  export CCACHE_BASEDIR=$project_root CCACHE_NOHASHDIR=1
  phase "configuring build/$preset" "$preset-configure" \
    cmake --preset "$preset" "${fresh[@]}" -D GRAPHLINE_WITH_CUDA="${with_cuda[$cuda]}"
  sed -n 's/^-- \(cuda device: .*\)/\1/p' "$log_directory/$preset-configure.log"
  phase "building (minutes the first time, seconds later)" "$preset-build" \
    "${run_with[@]}" cmake --build --preset "$preset" "$@"
}
