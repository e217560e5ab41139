#!/usr/bin/env bash
# Builds the image by buildah, without a registry of images, and runs what is in it: it starts, is ready, is killed, and
# a player who waits is still there after the next start.
# Usage: check.sh <folder of tarballs>. It needs root, buildah, Node, npm and a built workspace.
set -euo pipefail
tarballs=$(realpath "$1")
cd "$(dirname "$0")"
scratch=$(mktemp -d)
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
store=(--root "$scratch/storage" --runroot "$scratch/run")
clean_up() {
  local job
  for job in $(jobs -p); do kill "$job" 2>/dev/null || true; done
  wait
  rm -rf "$scratch"
}
trap clean_up EXIT

# The base is this machine's own Node, with what it needs. Node's image has the same and more.
base="$scratch/base"
mkdir -p "$base"/{usr/local/bin,usr/local/lib/node_modules,bin,usr/bin,lib,lib64,tmp,etc,root}
chmod 1777 "$base/tmp"
copy() {
  cp -L "$1" "$base/$2"
  ldd "$1" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$base$(dirname "$library")"
    cp -nL "$library" "$base$library"
  done
}
copy "$(command -v node)" usr/local/bin/node
for program in sh mkdir env; do copy "$(command -v "$program")" "bin/$program"; done
cp -L "$base/bin/env" "$base/usr/bin/env"
cp -r "$(npm root -g)/npm" "$base/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$base/usr/local/bin/npm"
printf 'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/tmp:/bin/sh\n' >"$base/etc/passwd"
printf 'root:x:0:\nnode:x:1000:\n' >"$base/etc/group"
if [ -d /etc/ssl/certs ]; then mkdir -p "$base/etc/ssl" && cp -rL /etc/ssl/certs "$base/etc/ssl/certs"; fi
from=$(buildah "${store[@]}" from scratch)
buildah "${store[@]}" copy -q "$from" "$base" / >/dev/null
buildah "${store[@]}" config --env PATH=/usr/local/bin:/usr/bin:/bin "$from"
buildah "${store[@]}" commit -q "$from" muster-base >/dev/null

buildah "${store[@]}" bud -q --pull-never --format docker --from localhost/muster-base \
  --build-arg NPM_CONFIG_REGISTRY="$(npm config get registry)" --build-arg NPM_CONFIG_OFFLINE=true \
  -v "$(npm config get cache):/root/.npm" -f Dockerfile -t muster "$tarballs" >/dev/null
image=$(buildah "${store[@]}" from --pull-never localhost/muster)

node ../../packages/emulator/dist/cli.js --port 0 --token check >"$scratch/emulator" 2>/dev/null &
until [ -s "$scratch/emulator" ]; do sleep 0.1; done
mkdir "$scratch/config" "$scratch/data"
chmod 755 "$scratch" "$scratch/config"
chown 1000:1000 "$scratch/data"
port=$(node -e "const s = require('node:net').createServer().listen(0, () => { console.log(s.address().port); s.close() })")
cat >"$scratch/config/muster.yaml" <<YAML
name: check
listen: { host: 127.0.0.1, port: $port }
service: { url: "$(head -n 1 "$scratch/emulator")", token: { env: MUSTER_TOKEN } }
store: { folder: /data }
auth: { keys: [{ name: game, role: backend, key: { env: BACKEND_KEY } }] }
queues: [{ name: duel, matchSize: 2, deploy: { application: game, version: '1' } }]
YAML
key=a-key-of-the-backend-of-this-check
ask() { node -e '
  const [method, path, body] = process.argv.slice(1)
  const headers = { authorization: "Bearer '$key'", "content-type": "application/json" }
  fetch(`http://127.0.0.1:'$port'${path}`, { method, headers, body }).then(
    async (answer) => { console.log(await answer.text()); process.exitCode = answer.ok ? 0 : 1 },
    () => { process.exitCode = 1 },
  )' "$@"; }
# The image's own entry point and command, with the data folder as a volume.
start() {
  buildah "${store[@]}" run --user 1000:1000 --env MUSTER_TOKEN=check --env BACKEND_KEY=$key \
    -v "$scratch/config:/etc/muster:ro" -v "$scratch/data:/data" "$image" -- \
    node /app/node_modules/@muster/server/dist/cli/main.js serve -c /etc/muster/muster.yaml >>"$scratch/log" 2>&1 &
  run=$!
  local tries=0
  until ask GET /readyz >/dev/null; do
    tries=$((tries + 1))
    if ((tries > 100)); then cat "$scratch/log" && exit 1; fi
    sleep 0.2
  done
}
# The program is the last of the processes that buildah starts one by another.
last_of() { local child; if child=$(pgrep -n -P "$1"); then last_of "$child"; else echo "$1"; fi; }

start
echo 'started, and ready'
ticket=$(ask POST /tickets '{"profile":"duel","player_id":"ann","player_ip":"192.0.2.7","attributes":{}}' |
  node -e 'console.log(JSON.parse(require("node:fs").readFileSync(0, "utf8")).id)')
kill -9 "$(last_of "$run")"
wait "$run" || true
start
ask GET "/tickets/$ticket" | grep -q '"status":"SEARCHING"'
echo 'killed, and the player still waits'
kill -TERM "$(last_of "$run")"
wait "$run"
grep -q '"text":"Shutdown complete."' "$scratch/log"
echo 'ended by SIGTERM'
