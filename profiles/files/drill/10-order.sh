
# --- the order ---------------------------------------------------------------

# Sets o_… from key=value lines. What is not one of ours, or twice, is refused.
read_order() {
  o_run='' o_host='' o_boot='' o_fault='' o_unit='' o_keepDown=false o_direction=both o_keep=''
  o_offsetSeconds='' o_path='' o_reserveBytes='' o_limitBytes='' o_holdSeconds='' o_limitSeconds=''
  o_issued='' o_issuedBootMs='' o_notBeforeBootMs='' o_expiresBootMs='' o_nonce=''
  seen=' '
  first=yes
  while IFS= read -r line; do
    if [ $first = yes ]; then
      [ "$line" = 'escapement-drill-order 1' ] || refuse "not an order of this version"
      first=no
      continue
    fi
    key=${line%%=*}
    value=${line#*=}
    case $line in *=*) ;; *) refuse "the order has a line without a value" ;; esac
    case $value in '' | *[!A-Za-z0-9._:@/,+-]*) refuse "the order's $(clean "$key") has characters in it that no order has" ;; esac
    case $key in
      run | host | boot | fault | unit | keepDown | direction | keep | offsetSeconds | path | reserveBytes | limitBytes | holdSeconds | limitSeconds | issued | issuedBootMs | notBeforeBootMs | expiresBootMs | nonce) ;;
      *) refuse "the order says $(clean "$key"), which this host does not know" ;;
    esac
    case $seen in *" $key "*) refuse "the order says $key twice" ;; esac
    seen="$seen$key "
    eval "o_$key=\$value"
  done <"$1"
  [ $first = no ] || refuse "there is no order"
}

# Nobody but root may have written it.
is_roots() {
  [ -f "$1" ] && [ ! -L "$1" ] || return 1
  case $(stat -c '%u %A' "$1") in '0 -'????-??-?) return 0 ;; *) return 1 ;; esac
}

# allowed WORD [VALUE]: whether the list has that line. A single word: any line that begins with it.
allowed() {
  grep -qxF -- "$1 $2" "$settings/allowed" 2>/dev/null
}

# Prints the first value of a word of the list.
allowance() {
  sed -n "s/^$1 //p" "$settings/allowed" 2>/dev/null | head -n 1
}

# The order is whole, for this host, this boot and this time, and never seen before.
check_order() {
  case $o_run in
    [0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]-????-????-????-????????????)
      case $o_run in *[!0-9a-f-]*) refuse "run is not a uuid" ;; esac
      ;;
    *) refuse "run is not a uuid" ;;
  esac
  case $o_nonce in *[!0-9a-f]* | '') refuse "nonce is not one" ;; esac
  [ ${#o_nonce} -ge 32 ] && [ ${#o_nonce} -le 64 ] || refuse "nonce is not one"
  [ "$o_host" = "$(own_name)" ] || refuse "the order is for host $o_host, this is $(own_name)"
  read_boot_id
  [ "$o_boot" = "$boot_id" ] || refuse "the order is for boot $o_boot; this host has been started again since"
  is_number "$o_notBeforeBootMs" && is_number "$o_issuedBootMs" && is_number "$o_expiresBootMs" ||
    refuse "the order does not say until when it holds"
  [ $((o_expiresBootMs - o_notBeforeBootMs)) -le 900000 ] || refuse "the order holds longer than 15 minutes"
  boot_ms
  [ "$now" -le "$o_expiresBootMs" ] || refuse "the order has expired"
  [ "$now" -ge "$o_notBeforeBootMs" ] || refuse "the order does not hold yet"
  halted_at=0
  [ ! -e "$work/halted" ] || read -r halted_at <"$work/halted" || :
  [ "$o_issuedBootMs" -ge "$halted_at" ] || refuse "the order was made before the last halt"
}

own_name() {
  allowance host | grep . || uname -n
}

# at_most WORD VALUE WHAT: the list's bound holds; without a bound nothing is allowed.
at_most() {
  is_number "$2" || refuse "$3 is not a number"
  bound=$(allowance "$1")
  is_number "$bound" || refuse "the list of this host allows no $3"
  [ "$2" -le "$bound" ] || refuse "$3 $2 is more than the $bound this host allows"
}

check_allowed() {
  is_roots "$settings/allowed" || refuse "$settings/allowed is missing, or others than root may write it"
  allowed fault "$o_fault" || refuse "the list of this host does not allow the fault $o_fault"
  at_most hold "$o_holdSeconds" "a hold, in seconds, of"
  at_most limit "$o_limitSeconds" "a limit, in seconds, of"
  [ "$o_fault" = power ] || [ "$o_limitSeconds" -gt "$o_holdSeconds" ] || refuse "the limit must be longer than the hold"
  case $o_keepDown in true | false) ;; *) refuse "keepDown is true or false" ;; esac
  case $o_direction in both | receive) ;; *) refuse "direction is both or receive" ;; esac
  case $o_fault in
    kill | stop | pause | memory-limit)
      [ -n "$o_unit" ] || refuse "the order names no unit"
      allowed unit "$o_unit" || refuse "the list of this host does not allow the unit $o_unit"
      ;;
  esac
  case $o_fault in
    clock)
      case $o_offsetSeconds in -*) seconds=${o_offsetSeconds#-} ;; +*) seconds=${o_offsetSeconds#+} ;; *) seconds=$o_offsetSeconds ;; esac
      at_most offset "$seconds" "an offset, in seconds, of"
      o_offsetSeconds=${o_offsetSeconds#+}
      ;;
    fill-disk)
      case $o_path in /*) ;; *) refuse "the order names no path" ;; esac
      allowed path "$o_path" || refuse "the list of this host does not allow the path $o_path"
      is_number "$o_reserveBytes" || refuse "the reserve is not a number"
      least=$(allowance reserve)
      [ "$o_reserveBytes" -ge "${least:-1}" ] || refuse "the reserve $o_reserveBytes is less than the $least this host wants"
      ;;
    memory-limit)
      is_number "$o_limitBytes" && [ "$o_limitBytes" -ge 1048576 ] || refuse "the memory limit is not a number of at least 1 MiB"
      ;;
    cut)
      case $o_keep in *[!0-9A-Fa-f.:,]*) refuse "keep is not a list of addresses" ;; esac
      ;;
  esac
  why=$(can_do "$o_fault")
  [ "$why" = true ] || refuse "$why"
}
