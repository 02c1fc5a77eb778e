
# --- trouble of the host's own: a drill begins without it, and ends when it comes -----

# Prints what is wrong with this host beside the drill; nothing where nothing is.
own_trouble() {
  # Drills of these two are measured against bounds of their own.
  [ "$o_fault" = memory-limit ] || short_of_memory
  [ "$o_fault" = fill-disk ] || short_of_disk
  overloaded
}

short_of_memory() {
  awk '$1 == "MemTotal:" { all = $2 } $1 == "MemAvailable:" { left = $2 }
    END { if (left < all / 50) print "this host is short of memory" }' /proc/meminfo
}

# Where the record of the drill is, and where everything is.
short_of_disk() {
  least=$(allowance reserve)
  is_number "$least" || return 0
  for place in "$kept" /; do
    left=$(df -B1 --output=avail -- "$place" 2>/dev/null | tail -n 1 | tr -d ' ')
    ! is_number "$left" || [ "$left" -ge "$least" ] || {
      echo "this host has $left bytes free in $place, and $least are to stay"
      return
    }
  done
}

# Of the last minute, for each processor. A list without a bound has none.
overloaded() {
  most=$(allowance load)
  is_number "$most" || return 0
  read_load
  [ "$load" -le $((most * processors)) ] || echo "this host is overloaded: a load of $load for $processors processors"
}

# Sets `load`, whole, and `processors`.
read_load() {
  read -r load _ </proc/loadavg
  load=${load%.*}
  processors=$(nproc)
}
