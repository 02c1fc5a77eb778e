# The reading half of the runner. Every fact is one line: kind, key, values,
# separated by tabs. What follows the field "~" changes by itself and does not
# bind an apply. Every section ends with its exit code, so that a section that
# could not look is not taken for one that found nothing.
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
[ -z "$ESC_PATH" ] || PATH=$ESC_PATH:$PATH
export LC_ALL PATH
umask 022
TAB=$(printf '\t')
NL='
'

esc_end() { printf 'end\t%s\t%s\n' "$1" "$2"; }

esc_paths() {
  stat --printf 'path\t%n\t%F\t%a\t%U\t%G\t%N\t~\t%.Y\n' -- "$@" 2>&1
  esc_end path $(($? > 1))
}

# Arguments: path and wanted sum, in turn. A wanted sum of "-" never asks for the
# content, one of "+" always does.
esc_files() {
  esc_wanted=
  esc_left=$#
  while [ "$esc_left" -gt 0 ]; do
    if [ -f "$1" ] && [ ! -L "$1" ]; then
      set -- "$@" "$1"
      esc_wanted="$esc_wanted$2  $1$NL"
    fi
    shift 2
    esc_left=$((esc_left - 2))
  done
  if [ $# = 0 ]; then esc_end sum 0; return; fi
  esc_sums=$(sha256sum -- "$@" 2>&1)
  esc_code=$?
  IFS=$NL
  set -f
  set -- $esc_wanted
  for esc_sum in $esc_sums; do
    printf 'sum\t%s\t%s\n' "${esc_sum#*  }" "${esc_sum%%  *}"
    case $1 in
      "$esc_sum" | '-  '*) ;;
      *) printf 'content\t%s\t%s\n' "${esc_sum#*  }" "$(head -c 65536 -- "${esc_sum#*  }" | base64 -w 0)" ;;
    esac
    shift
  done
  unset IFS
  set +f
  esc_end sum "$esc_code"
}

esc_packages() {
  dpkg-query -W -f 'package\t${Package}\t${db:Status-Status}\t${Version}\n' -- "$@" 2>&1
  esc_end package $(($? > 1))
}

esc_units() {
  esc_text=$(systemctl show --no-pager \
    -p Id,Names,LoadState,UnitFileState,ActiveState,ActiveEnterTimestampMonotonic -- "$@" 2>&1)
  esc_code=$?
  printf '%s\n\n' "$esc_text" | tr '\n' '\t' | sed 's/\t\t/\n/g' | sed '/./s/^/unit\t/'
  esc_end unit "$esc_code"
}

esc_groups() {
  getent group -- "$@" | sed 's/^/group\t/'
  command -v getent >/dev/null
  esc_end group $?
}

esc_users() {
  getent passwd -- "$@" | sed 's/^/user\t/'
  for esc_user; do
    if esc_text=$(id -Gn -- "$esc_user" 2>/dev/null); then
      printf 'groups-of\t%s\t%s\t%s\n' "$esc_user" "$(id -gn -- "$esc_user")" "$esc_text"
    fi
  done
  command -v getent >/dev/null
  esc_end user $?
}

# Arguments: files below /proc/sys. Not by read: it reads byte by byte, and the kernel
# gives numbers away in the first read only.
esc_sysctls() {
  grep -s -H '' -- "$@" | sed 's/^/sysctl\t/;s/:/\t/'
  for esc_key; do
    [ -e "$esc_key" ] || printf 'sysctl-missing\t%s\n' "$esc_key"
  done
  esc_end sysctl 0
}

esc_mounts() {
  while read -r esc_device esc_at esc_type esc_options esc_rest; do
    for esc_point; do
      [ "$esc_point" != "$esc_at" ] || printf 'mount\t%s\t%s\t%s\t%s\n' "$esc_at" "$esc_options" "$esc_type" "$esc_device"
    done
  done </proc/self/mounts
  esc_end mount $?
}

esc_kernel_command_line() {
  read -r esc_text </proc/cmdline
  esc_code=$?
  printf 'cmdline\t%s\n' "$esc_text"
  esc_end cmdline "$esc_code"
}

# Arguments: directives in lower case.
esc_sshd() {
  esc_text=$(sshd -T 2>&1)
  esc_code=$?
  for esc_key; do
    printf '%s\n' "$esc_text" | grep -i "^$esc_key " | sed 's/^/sshd\t/'
  done
  [ "$esc_code" = 0 ] || printf 'sshd-failed\t%s\n' "$(printf '%s' "$esc_text" | tail -n 1)"
  esc_end sshd "$esc_code"
}

# Arguments: table and the file that holds the sum of what the kernel listed after it was loaded, in turn.
esc_tables() {
  while [ $# -gt 0 ]; do
    # Without the program there is no table of ours either; the plan may be about to install it.
    if ! command -v nft >/dev/null 2>&1; then
      printf 'table\t%s\tabsent\n' "$1"
    elif esc_text=$(nft -s list table inet "$1" 2>&1); then
      esc_text=$(printf '%s' "$esc_text" | sha256sum)
      esc_loaded=
      [ ! -f "$2" ] || read -r esc_loaded <"$2"
      printf 'table\t%s\t%s\t%s\n' "$1" "${esc_text%% *}" "$esc_loaded"
    else
      case $esc_text in
        *'No such file or directory'*) printf 'table\t%s\tabsent\n' "$1" ;;
        *) printf 'table-failed\t%s\t%s\n' "$1" "$(printf '%s' "$esc_text" | head -n 1)" ;;
      esac
    fi
    shift 2
  done
  esc_end table 0
}

# What earlier transactions left to do.
esc_state() {
  for esc_file in "$ESC_STATE"/pending-restarts/*; do
    [ -f "$esc_file" ] || continue
    esc_text= && read -r esc_text <"$esc_file"
    printf 'pending\t%s\t%s\n' "${esc_file##*/}" "$esc_text"
  done
  for esc_file in "$ESC_STATE"/txn/*; do
    [ -d "$esc_file" ] || continue
    esc_txn_state "$esc_file"
    printf 'txn\t%s\t%s\t~\n' "${esc_file##*/}" "$esc_txn"
  done
  if read -r esc_up esc_rest </proc/uptime && read -r esc_boot </proc/sys/kernel/random/boot_id; then
    printf 'host\t%s\t~\t%s\t%s\n' "$esc_boot" "$esc_up" "$(date +%s.%N)"
  fi
  esc_end state 0
}

# The state of a transaction folder: rolled-back, reverted, committed, applied, open; or begun,
# where nothing has been changed yet.
esc_txn_state() {
  if [ -e "$1/rolled-back" ]; then esc_txn=rolled-back
  elif [ -e "$1/reverted" ]; then esc_txn=reverted
  elif [ -e "$1/commit" ]; then esc_txn=committed
  elif [ -e "$1/applied" ]; then esc_txn=applied
  elif [ -e "$1/prepared" ]; then esc_txn=open
  else esc_txn=begun; fi
}

esc_clean() { tr -d '\000-\010\013-\037\177' | tr '\200-\377' '?'; }

# Prints the facts on standard input between the marks of this bundle.
esc_emit() {
  esc_body=$(esc_clean |
    sed 's/[\\"]/\\&/g;s/\t/\\t/g;s/^/{"fact":"/;s/$/"}/')
  esc_sum=$(printf '%s\n' "$esc_body" | sha256sum)
  esc_count=$(printf '%s\n' "$esc_body" | wc -l)
  printf '\n%s begin %s\n%s\n%s end %s %s\n' "$ESC_NONCE" "$ESC_VERSION" "$esc_body" \
    "$ESC_NONCE" "$esc_count" "${esc_sum%% *}"
}

# What binds an apply: the facts without what changes by itself, in the order of their bytes.
esc_binding() {
  sed -e 's/\t~\t.*$//' -e 's/\tActiveEnterTimestampMonotonic=[0-9]*//' \
    -e '/^unit\t/s/=\(activating\|reloading\)/=active/' -e '/^unit\t/s/=\(deactivating\|failed\)/=inactive/' -e '/^content\t/d' \
    -e '/^txn\t/d' -e '/^end\t/d' -e '/^host\t/d' | sort
}
