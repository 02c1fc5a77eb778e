/**
 * What runs on the host: POSIX sh on standard input, arguments as `$1`…, so
 * that nothing is ever pasted into a program. Each answers with lines that begin
 * with `escapement:`; whatever else a host may print is not an answer.
 *
 *   /opt/escapement/versions/VERSION/{escapement.mjs,node,manifest.json,…}
 *   /opt/escapement/current  -> versions/VERSION      (switched by one rename)
 *   /opt/escapement/previous -> versions/VERSION      (what `--rollback` goes back to)
 *   /opt/escapement/versions/.staging-VERSION         (an upload under way)
 */

export const root = "/opt/escapement";

const prelude = `
set -eu
export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
root=\${ESCAPEMENT_ROOT:-${root}}
wrapper=\${ESCAPEMENT_WRAPPER:-/usr/local/bin/escapement}
# Nobody may be there any more to hear it: what was begun is ended all the same.
trap '' PIPE HUP
say() { printf 'escapement:%s\\n' "$1" 2>/dev/null || :; }
sum() { set -- "$(sha256sum "$1" 2>/dev/null || true)"; printf '%s' "\${1%% *}"; }
# Two deployments of one host wait for each other.
lock() { mkdir -p "$root"; exec 9>"$root/.lock"; flock -w 60 9 || { say "error=another deployment holds the lock"; exit 4; }; }
target() { if [ -L "$root/$1" ]; then readlink "$root/$1" | sed 's,.*/,,'; fi; }
# A folder is whole when its files have the sums of its manifest. Screens and data are not in all of them.
whole() {
  [ -f "$1/manifest.json" ] || return 1
  for f in escapement.mjs node ui.mjs share.tar; do
    want=$(sed -n 's/^ *"'"$f"'": *"\\([0-9a-f]\\{64\\}\\)".*/\\1/p' "$1/manifest.json")
    case $f in ui.mjs | share.tar) [ -n "$want" ] || continue ;; esac
    [ -n "$want" ] && [ "$(sum "$1/$f")" = "$want" ] || return 1
  done
}
point() { ln -sfn "versions/$2" "$root/.$1.$$" && mv -T "$root/.$1.$$" "$root/$1"; }
`;

/**
 * `$1` version, `$2` sum of the bundle, `$3` sum of Node. Says what the host is
 * and what it has, and lends the upload every file that is here already.
 */
export const probeScript = `${prelude}
version=$1 bundle=$2 node=$3
say "machine=$(uname -m)"
say "current=$(target current)"
say "previous=$(target previous)"
if whole "$root/versions/$version" && [ "$(sum "$root/versions/$version/escapement.mjs")" = "$bundle" ]; then
  say "present=yes"; say "end=ok"; exit 0
fi
say "present=no"
lock
staging=$root/versions/.staging-$version
mkdir -p "$staging"
# What an upload that was cut short has left, unless it is this one's own and right.
find "$root/versions" -maxdepth 1 -name '.staging-*' ! -name ".staging-$version" -exec rm -rf {} +
find "$staging" -mindepth 1 ! -name escapement.mjs ! -name node -exec rm -rf {} +
[ "$(sum "$staging/escapement.mjs")" = "$bundle" ] || rm -f "$staging/escapement.mjs"
[ "$(sum "$staging/node")" = "$node" ] || rm -f "$staging/node"
if [ ! -f "$staging/node" ]; then
  for other in "$root"/versions/*/node; do
    [ -f "$other" ] && [ "$(sum "$other")" = "$node" ] && ln "$other" "$staging/node" && break
  done
fi
for f in escapement.mjs node; do [ -f "$staging/$f" ] && say "have=$f"; done
say "freeKilobytes=$(df -Pk "$staging" | awk 'NR==2 { print $4 }')"
say "end=ok"
`;

/**
 * `$1` version, `$2` how many versions to keep. Checks the sums of the staged
 * files, tries the program, moves the folder into place and switches to it.
 */
export const activateScript = `${prelude}
version=$1 keep=$2
lock
staging=$root/versions/.staging-$version
if ! whole "$root/versions/$version"; then
  if ! whole "$staging"; then
    rm -rf "$staging"
    say "error=the files that arrived do not have the sums of the manifest; nothing was switched"; exit 1
  fi
  if [ -f "$staging/share.tar" ] && ! tar -xf "$staging/share.tar" -C "$staging" --no-same-owner; then
    rm -rf "$staging"
    say "error=the data of the release cannot be unpacked"; exit 1
  fi
  # Whoever deploys may have a umask of their own; everybody on the host may read a release.
  find "$staging" -mindepth 1 -type d -exec chmod 0755 {} +
  chown -R 0:0 "$staging" 2>/dev/null || [ "$(id -u)" != 0 ]
  chmod 0755 "$staging" "$staging/node" "$staging/escapement.mjs"; chmod 0644 "$staging/manifest.json"
  if ! answer=$("$staging/node" "$staging/escapement.mjs" --version 2>&1); then
    rm -rf "$staging"
    say "error=the program does not run on this host: $(printf '%s' "$answer" | head -n 1)"; exit 1
  fi
  find "$staging" -exec sync {} + 2>/dev/null || sync
  rm -rf "$root/versions/$version"
  mv -T "$staging" "$root/versions/$version"
fi
rm -rf "$staging"
# Before the switch: a host that has the version has the command.
mkdir -p "$(dirname "$wrapper")"
printf '#!/bin/sh\\nexec %s/current/node %s/current/escapement.mjs "$@"\\n' "$root" "$root" > "$wrapper.$$"
chmod 0755 "$wrapper.$$"
if cmp -s "$wrapper.$$" "$wrapper"; then rm -f "$wrapper.$$"; else mv -T "$wrapper.$$" "$wrapper"; fi
current=$(target current)
if [ "$current" != "$version" ]; then
  # Before the switch: cut short between the two, a rollback still finds the version that runs.
  [ -z "$current" ] || point previous "$current"
  point current "$version"
  say "switched=$version"
fi
current=$(target current) previous=$(target previous) kept=0
for folder in $(ls -1t "$root/versions"); do
  case $folder in .*) continue ;; esac
  kept=$((kept + 1))
  [ "$kept" -gt "$keep" ] && [ "$folder" != "$current" ] && [ "$folder" != "$previous" ] || continue
  rm -rf "$root/versions/$folder"
  say "pruned=$folder"
done
sync "$root" 2>/dev/null || sync
say "current=$current"
say "previous=$previous"
say "end=ok"
`;

/** Goes back to the previous version, which becomes the current one; the two change places. */
export const rollbackScript = `${prelude}
lock
current=$(target current) previous=$(target previous)
say "current=$current"
if [ -z "$previous" ] || [ "$previous" = "$current" ]; then say "error=this host has no earlier version"; exit 4; fi
if ! whole "$root/versions/$previous"; then say "error=version $previous is not whole any more; nothing was switched"; exit 1; fi
point current "$previous"
point previous "$current"
sync "$root" 2>/dev/null || sync
say "current=$previous"
say "previous=$current"
say "switched=$previous"
say "end=ok"
`;
