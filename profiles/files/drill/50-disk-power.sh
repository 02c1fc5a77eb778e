
# --- fill-disk -------------------------------------------------------------------

disk_save() {
  [ -d "$o_path" ] && [ "$(readlink -f "$o_path")" = "$o_path" ] || refuse "$o_path is no directory"
  [ "$(stat -c %d "$o_path")" != "$(stat -c %d "$work")" ] || refuse "$o_path is on the file system that the drill itself needs"
  [ ! -e "$o_path/$fill_file" ] || refuse "$o_path/$fill_file is there already"
  free_bytes
  [ "$free" -gt "$o_reserveBytes" ] || refuse "$o_path has $free bytes free, and $o_reserveBytes are to stay"
  save free "$free"
}

# Sets `free`: what ordinary users may still write, bytes.
free_bytes() {
  free=$(df -B1 --output=avail "$o_path" | tail -n 1 | tr -d ' ')
}

disk_inject() {
  free_bytes
  [ "$free" -gt "$o_reserveBytes" ] || return 1
  fallocate -l $((free - o_reserveBytes)) "$o_path/$fill_file"
}

disk_proof() {
  effect=false
  free_bytes
  # Meanwhile others may have freed a little.
  [ "$free" -gt $((o_reserveBytes + o_reserveBytes / 4 + 1048576)) ] || effect=true
  facts="freeBytes $free freeBefore $s_free"
}

disk_restore() {
  rm -f "$o_path/$fill_file"
}

disk_residue() {
  [ ! -e "$o_path/$fill_file" ] || echo "fill-file $o_path/$fill_file is still there"
}

# --- power: a reset that says goodbye to nobody -------------------------------------

power_save() {
  :
}

power_inject() {
  # Dying processes would end their connections politely; a machine without power does not.
  o_direction=both s_keep='' s_gateways='' s_arp=no
  s_interfaces=$(ip -o link show | sed -n 's/^[0-9]*: \([^:@]*\).*/\1/p' | grep -vx lo | tr '\n' ' ')
  ! command -v nft >/dev/null || cut_rules 20000 | nft -f - 2>/dev/null
  # In a container this ends the container alone, which /proc/sysrq-trigger would not.
  systemctl reboot --force --force
  sleep 10
}

power_proof() {
  effect=false
  facts='rebooted false'
}

power_restore() {
  drop_tables
}

power_residue() {
  network_residue
}
