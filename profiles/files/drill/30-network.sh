
# --- cut: packets dropped in tables of our own ----------------------------------
#
# Both ways: the hooks of input and output, so that TCP backs off as it does
# when a cable is pulled; drops at the device would be taken for local
# congestion. Receive: input alone. An interface is cut while its name is in a
# set, with a timeout that the kernel keeps: it heals with nobody alive.
# ARP is cut with both ways, too: a host that is cut off must not go on
# answering for the virtual address.

# Prints the addresses that stay reachable, one a line: ssh's peer and the order's own.
kept_addresses() {
  {
    printf '%s\n' "${SSH_CONNECTION:-}" | cut -d ' ' -f 1
    printf '%s\n' "$o_keep" | tr , '\n'
  } | grep . | sort -u
}

network_save() {
  save keep "$(kept_addresses | tr '\n' ' ')"
  interfaces=$(ip -o link show | sed -n 's/^[0-9]*: \([^:@]*\).*/\1/p' | grep -vx lo | tr '\n' ' ')
  [ -n "$interfaces" ] || refuse "this host has no network interface but its own loop"
  save interfaces "$interfaces"
  # Whoever is on the way to an address that stays reachable must be heard, too.
  gateways=''
  for address in $(kept_addresses | grep -v :); do
    gateways="$gateways$(ip -4 route get "$address" 2>/dev/null | sed -n 's/.* via \([0-9.]*\) .*/\1/p' | head -n 1) "
  done
  save gateways "$gateways"
  s_keep=$(kept_addresses | tr '\n' ' ') s_interfaces=$interfaces s_gateways=$gateways
  save arp no
  s_arp=no
  if [ "$o_direction" = both ]; then
    s_arp=yes
    if cut_rules 1000 | nft -c -f - 2>/dev/null; then save arp yes; else s_arp=no; fi
  fi
  said=$(cut_rules 1000 | nft -c -f - 2>&1) || refuse "nft does not take our table: $(clean "$said")"
}

set_of() {
  name=$1 type=$2
  shift 2
  list=$(printf '%s\n' "$@" | grep . | sort -u | paste -sd, -)
  printf '  set %s { type %s; %s }\n' "$name" "$type" "${list:+elements = { $list \}}"
}

# Prints the tables. $1: milliseconds until the kernel heals by itself.
cut_rules() {
  cut_names=''
  for interface in $s_interfaces; do cut_names="$cut_names${cut_names:+, }\"$interface\" timeout ${1}ms"; done
  four='' six=''
  for address in $s_keep; do
    case $address in *:*) six="$six $address" ;; *) four="$four $address" ;; esac
  done
  cut_set="  set cut { type ifname; flags timeout; elements = { $cut_names } }"
  echo "table inet $table {"
  # shellcheck disable=SC2086
  set_of keep4 ipv4_addr $four
  # shellcheck disable=SC2086
  set_of keep6 ipv6_addr $six
  echo "$cut_set"
  echo '  counter received { }'
  echo '  counter sent { }'
  # Without its neighbour messages no IPv6 address is reachable.
  neighbours=''
  [ -z "$six" ] || neighbours='icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, nd-router-advert } accept;'
  echo "  chain in { type filter hook input priority -300; policy accept; ip saddr @keep4 accept; ip6 saddr @keep6 accept; $neighbours iifname @cut counter name received drop; }"
  [ "$o_direction" = receive ] ||
    echo "  chain out { type filter hook output priority -300; policy accept; ip daddr @keep4 accept; ip6 daddr @keep6 accept; $neighbours oifname @cut counter name sent drop; }"
  echo '}'
  [ "$s_arp" = yes ] || return 0
  echo "table arp $table {"
  # shellcheck disable=SC2086
  set_of keep ipv4_addr $four $s_gateways
  echo "$cut_set"
  echo '  chain in { type filter hook input priority -300; policy accept; arp saddr ip @keep accept; iifname @cut drop; }'
  echo '  chain out { type filter hook output priority -300; policy accept; arp daddr ip @keep accept; oifname @cut drop; }'
  echo '}'
}

network_inject() {
  boot_ms
  left=$((s_deadline - now))
  [ $left -gt 0 ] || return 1
  drop_tables
  cut_rules $left | nft -f -
}

dropped() {
  nft list counter inet $table "$1" 2>/dev/null | sed -n 's/.*packets \([0-9]*\) .*/\1/p'
}

has_table() {
  nft list tables 2>/dev/null | grep -q " $table\$"
}

network_proof() {
  effect=false
  received=$(dropped received)
  if [ -z "$received" ]; then
    facts='table gone'
    lost='the table of the cut is gone: someone else flushed the rule set'
    return
  fi
  if nft list set inet $table cut 2>/dev/null | grep -q 'expires'; then effect=true; fi
  facts="table there receivedDropped $received sentDropped $(dropped sent) arp $s_arp"
}

# All of ours in one step, whether it is there or not; nothing else is touched.
drop_tables() {
  command -v nft >/dev/null || return 0
  for family in inet arp; do
    printf 'add table %s %s\ndelete table %s %s\n' $family $table $family $table | nft -f - 2>/dev/null
  done
}

network_restore() {
  received=$(dropped received)
  sent=$(dropped sent)
  drop_tables
}

network_residue() {
  ! has_table || echo "nft-table $(nft list tables | grep " $table\$" | tr '\n' ' ')is still there"
}
