#!/bin/sh
# Asks Sluice a question over Kafka with kcat, prints each step as it comes, then the response, as lines of JSON. Ends with 0 for an
# answer, with another number without.
#
#   sh examples/upstream/ask.sh "What time is it?" read-only        (groups, separated by commas; none means `default`)
#
# KAFKA_BROKERS (localhost:9092), SCHEMA_REGISTRY_URL (http://localhost:8081/apis/ccompat/v7), SLUICE_PREFIX (none) and
# ASK_SECONDS (60) say where and how long; Confluent's own registry is at http://localhost:8081. It
# needs kcat 1.7 and curl. A kcat built with Avro reads the records by itself; Debian's and Ubuntu's is not, so there decode.py beside
# this file does it: PYTHON (python3) is a Python that has the packages of requirements.txt.
set -eu

brokers=${KAFKA_BROKERS:-localhost:9092}
registry=${SCHEMA_REGISTRY_URL:-http://localhost:8081/apis/ccompat/v7}
prefix=${SLUICE_PREFIX:-}
seconds=${ASK_SECONDS:-60}
here=$(dirname "$0")
tab=$(printf '\t')

# The text as JSON, line breaks and other control characters as spaces.
json() { printf '"%s"' "$(printf '%s' "$1" | tr '\000-\037' ' ' | sed 's/\\/\\\\/g; s/"/\\"/g')"; }

# The session's records on a topic since shortly before the question, one a line. isolation.level is librdkafka's own default and
# stands here because Java's is the other: it would show records of transactions that came to nothing.
records() {
  set -- -C -q -e -b "$brokers" -t "$prefix$1" -o "s@$since" -X isolation.level=read_committed
  case $(kcat -V 2>&1) in
    *Avro*) lines=$(kcat "$@" -s value=avro -r "$registry" -f '%k\t%s\n') ;;
    *) lines=$(kcat "$@" -f '%K %S\n%k%s' | SCHEMA_REGISTRY_URL=$registry "${PYTHON:-python3}" "$here/decode.py") ;;
  esac || return
  printf '%s\n' "$lines" | sed -n "s/^$session$tab//p"
}

if [ $# -lt 1 ]; then
  echo 'Ask something: sh ask.sh "What time is it?" read-only' >&2
  exit 1
fi
group=null
[ $# -lt 2 ] || group="[$(json "$2" | sed 's/,/","/g')]"

# What the registry knows: the subject of a topic is its name and "-value", with every version there was.
subject="${prefix}agent.requests-value"
versions=$(curl -fsS "$registry/subjects/$subject/versions")
echo "versions: $versions"
schema=$(curl -fsS "$registry/subjects/$subject/versions/latest/schema")
echo "AgentRequest: $schema"

# JSON needs no schema. The session is the key of every record of the run; a request_id is taken once, so sending this again asks
# nothing twice. Reading begins a minute back, as the brokers' clock may not be ours.
session=kcat-$(date +%s)-$$
now=$(date +%s)
since=$(((now - 60) * 1000))
printf '{"question":%s,"group":%s,"session_id":"%s","request_id":"%s"}\n' "$(json "$1")" "$group" "$session" "$session" |
  kcat -P -b "$brokers" -t "${prefix}agent.requests" -k "$session" -X message.timeout.ms=20000

printed=0
while :; do
  # The response first: once it is there, all steps are. Both topics are read again each time, which is enough for an example.
  response=$(records agent.responses)
  steps=$(records agent.steps)
  new=$(printf '%s' "$steps" | tail -n "+$((printed + 1))")
  [ -z "$new" ] || printf '%s\n' "$new" | sed 's/^/step: /'
  [ -z "$steps" ] || printed=$(printf '%s\n' "$steps" | wc -l)
  [ -z "$response" ] || break
  if [ "$(date +%s)" -gt $((now + seconds)) ]; then
    echo "There was no answer within $seconds s. See that filter, agent and executor are running under the prefix \"$prefix\", or set ASK_SECONDS to wait longer." >&2
    exit 1
  fi
  sleep 1
done
printf 'response: %s\n' "$response"
# Quotes within a text are escaped, so this is the field and nothing that somebody wrote.
case $response in
  *'"kind":"answer"'* | *'"kind": "answer"'*) exit 0 ;;
  *) exit 1 ;;
esac
