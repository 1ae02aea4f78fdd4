#!/bin/sh
# Makes the secrets of the stack on its first start, each in the volume of those who need it. What is there stays.
set -eu
umask 077
folder=/run/sluice

for place in keys filter agent executor audit config public local content database grafana; do
  [ -w "$folder/$place" ] || { echo "secrets: the volume at $folder/$place cannot be written by user $(id -u)." >&2; exit 1; }
done

# Writes what comes in to the file, whole or not at all; $2 are its rights.
keep() {
  cat >"$1.new"
  chmod "$2" "$1.new"
  mv "$1.new" "$1"
}
password() {
  node -p 'require("node:crypto").randomBytes(24).toString("hex")'
}

[ -s "$folder/keys/keys.json" ] || sluice keys new "$folder/keys/keys.json" >/dev/null
# Writes what a role needs of the keys to the file, unless it has come from these keys already: rotated ones reach those who sign with them.
export_keys() {
  [ "$2" -nt "$folder/keys/keys.json" ] && return
  exported=$(sluice keys export "$1" "$folder/keys/keys.json")
  echo "$exported" | keep "$2" "$3"
}
for role in filter agent executor audit config; do
  export_keys "$role" "$folder/$role/keys.json" 400
done
# The public ones alone, for those that verify.
export_keys auditor "$folder/public/keys.json" 444
# What requests over HTTP send without an identity: for the gateway and the MCP server.
[ -s "$folder/local/secret" ] || password | keep "$folder/local/secret" 400
# What content is sealed with: for those who write and read it.
content_key() {
  node -p 'require("node:crypto").randomBytes(32).toString("base64")'
}
[ -s "$folder/content/keys" ] || content_key | keep "$folder/content/keys" 400
# Read by the users of other images too; no other image mounts these volumes.
[ -s "$folder/database/password" ] || password | keep "$folder/database/password" 444
echo "postgres://sluice:$(cat "$folder/database/password")@postgres:5432/sluice" | keep "$folder/database/url" 444
[ -s "$folder/grafana/password" ] || password | keep "$folder/grafana/password" 444
echo 'secrets: all are there.'
