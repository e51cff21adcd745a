#!/usr/bin/env bash
# Runs the steps of the Dockerfile without Docker, as root on Debian, in two folders made by debootstrap: one builds; the
# other receives what the image contains. The service is started there as a user that may write nothing, on an empty
# Postgres 17. It proves that the contents of the image build, start, migrate and answer /api/health as that user, and stop
# on SIGTERM. It does not prove the Dockerfile's syntax, the base image, compose.yaml, or the network between containers.
#
#   scripts/try-container.sh NODE_FOLDER POSTGRES_URL POSTGRES_URL_NON_POOLING [PORT]
#
# NODE_FOLDER has bin/node and lib/node_modules/npm, like nodejs.org's archives; the folders are deleted at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
node_folder=${1:?a folder with bin/node} url=${2:?the address the service uses} admin_url=${3:?the address migrations use}
port=${4:-3000}
work=$(mktemp -d /tmp/outlay-container-XXXXXX)
clean_up() {
  # Ends all programs that still run in the folders, because ending a script does not end what it started.
  for root in /proc/[0-9]*/root; do
    case $(readlink "$root") in "$work"/*) kill "$(basename "$(dirname "$root")")" 2>/dev/null || true ;; esac
  done
  umount "$work"/*/proc 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT
# Waits for the present command to end, because otherwise its folder could not be deleted.
trap 'exit 130' INT TERM HUP

echo "base: Debian bookworm with Node $("$node_folder/bin/node" --version)"
debootstrap --variant=minbase --include=ca-certificates bookworm "$work/base" >"$work/debootstrap.log" 2>&1 || { tail "$work/debootstrap.log"; exit 1; }
cp -a "$node_folder/." "$work/base/usr/local/"
ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$work/base/usr/local/bin/npm"
chroot "$work/base" useradd --uid 1000 --create-home node
cp /etc/resolv.conf "$work/base/etc/"
# Networks may have a certificate authority of their own.
[ -z "${NODE_EXTRA_CA_CERTS:-}" ] || install -D "$NODE_EXTRA_CA_CERTS" "$work/base$NODE_EXTRA_CA_CERTS"
cp -a "$work/base" "$work/build"
cp -a "$work/base" "$work/image"
for stage in build image; do mount -t proc proc "$work/$stage/proc"; done

echo "build stage"
mkdir "$work/build/build"
# What .dockerignore allows, without files that Git does not know, which a clean checkout does not have either.
git ls-files --cached --others --exclude-standard -z |
  grep -zvE '^(\.github|docs|tests|bench)/|\.(md|test\.ts|tsbuildinfo)$|^\.env' |
  tar --null --files-from=- -cf - | tar -C "$work/build/build" -xf -
chroot "$work/build" sh -ec 'cd /build && npm ci --ignore-scripts --no-audit --no-fund >/dev/null && npm run build >/dev/null && node scripts/collect-runtime.mjs /runtime'

echo "image: $(du -sm "$work/build/runtime" | cut -f1) MB on top of the base"
cp -a "$work/build/runtime" "$work/image/app"
chroot --userspec=1000:1000 "$work/image" env -i PATH=/usr/local/bin:/usr/bin:/bin NODE_ENV=production HOST=127.0.0.1 \
  PORT="$port" POSTGRES_URL="$url" POSTGRES_URL_NON_POOLING="$admin_url" sh -c 'cd /app && exec node scripts/run-built.mjs' &
service=$!
check='fetch(`http://127.0.0.1:${process.env.PORT}/api/health`).then(r => r.json()).then(b => process.exit(b.status === "ok" ? 0 : 1), () => process.exit(1))'
for _ in $(seq 60); do
  if PORT=$port chroot --userspec=1000:1000 "$work/image" node -e "$check"; then healthy=yes; break; fi
  sleep 0.5
done
[ "${healthy:-}" = yes ] || { echo "not healthy within 30 s"; exit 1; }
echo "healthy, as uid $(stat -c %u "/proc/$service"), and may write: $(chroot --userspec=1000:1000 "$work/image" sh -c 'touch /app/x 2>/dev/null && echo yes || echo nothing')"
for page in /api/health /sign-up /docs /icon.svg; do
  status=$(curl --silent --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:$port$page")
  echo "  $page $status"
  [ "$status" = 200 ] || exit 1
done
POSTGRES_URL=$url POSTGRES_URL_NON_POOLING=$admin_url chroot --userspec=1000:1000 "$work/image" node /app/scripts/run-built.mjs reconcile
kill -TERM "$service"
wait "$service" && echo "stopped with 0"
