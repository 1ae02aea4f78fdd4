"""Asks Sluice a question over Kafka, prints each step as it comes, then the answer. Ends with 0 for an answer, with 1 without.

    pip install -r examples/upstream/requirements.txt
    python examples/upstream/ask.py "What time is it?" read-only      (groups, separated by commas; none means `default`)

KAFKA_BROKERS (localhost:9092), SCHEMA_REGISTRY_URL (http://localhost:8081/apis/ccompat/v7), SLUICE_PREFIX (none) and
ASK_SECONDS (60) say where and how long; Confluent's own registry is at http://localhost:8081.
The request goes out as plain JSON, which needs no schema; what comes back is Avro. Python 3.11 or later.
"""

import json
import os
import secrets
import sys
import time
import uuid

from confluent_kafka import Consumer, KafkaException, Producer

from decode import decode

BROKERS = os.environ.get("KAFKA_BROKERS", "localhost:9092")
PREFIX = os.environ.get("SLUICE_PREFIX", "")
SECONDS = os.environ.get("ASK_SECONDS", "60")
REQUESTS, STEPS, RESPONSES = (PREFIX + topic for topic in ("agent.requests", "agent.steps", "agent.responses"))


def ask(question: str, groups: list[str] | None) -> dict:
    """The AgentResponse. Raises TimeoutError, or KafkaException if the brokers cannot be used."""
    deadline = time.monotonic() + float(SECONDS)
    # Every record of the run has the session as its key. A request_id is taken once, so sending it again asks nothing twice.
    session, request = str(uuid.uuid4()), str(uuid.uuid4())
    consumer = Consumer(
        {
            "bootstrap.servers": BROKERS,
            "group.id": f"{PREFIX}ask-{session}",
            "enable.auto.commit": False,
            # librdkafka's own default; Java's is read_uncommitted, and would show records of transactions that came to nothing.
            "isolation.level": "read_committed",
            # What goes wrong is raised, and printed once.
            "log_level": 0,
        }
    )
    try:
        consumer.list_topics(STEPS, timeout=10)
        consumer.subscribe([STEPS, RESPONSES], on_assign=at_the_end)
        while not consumer.assignment():
            next_record(consumer, deadline, waits=0.1)
        publish(session, {"question": question, "group": groups, "session_id": session, "request_id": request})
        shown: set[tuple[int, int]] = set()
        while True:
            record = next_record(consumer, deadline)
            if record is None or record.key() != session.encode():
                continue
            value = decode(record.value())
            # Two topics have no order between them: what was not seen yet stands in the response's history.
            show(value["steps"] if record.topic() == STEPS else value["history"], shown)
            if record.topic() == RESPONSES:
                return value
    finally:
        consumer.close()


def at_the_end(consumer: Consumer, partitions: list) -> None:
    """Begins where the partitions end now: "latest" is looked up later, and could pass over the answer."""
    for partition in partitions:
        _, partition.offset = consumer.get_watermark_offsets(partition, timeout=10)
    consumer.assign(partitions)


def next_record(consumer: Consumer, deadline: float, waits: float = 1.0):
    if time.monotonic() > deadline:
        raise TimeoutError(
            f"There was no answer within {SECONDS} s. See that filter, agent and executor are running under the prefix "
            f'"{PREFIX}", or set ASK_SECONDS to wait longer.'
        )
    record = consumer.poll(waits)
    if record is not None and record.error():
        raise KafkaException(record.error())
    return record


def publish(session: str, request: dict) -> None:
    refused = []
    producer = Producer({"bootstrap.servers": BROKERS, "message.timeout.ms": 20_000, "log_level": 0})
    # W3C Trace Context: give the trace of your own work instead, if there is one.
    traceparent = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
    producer.produce(
        REQUESTS,
        key=session,
        value=json.dumps(request),
        headers={"traceparent": traceparent},
        on_delivery=lambda error, _: refused.append(error) if error else None,
    )
    producer.flush()
    if refused:
        raise KafkaException(refused[0])


def show(steps: list[dict], shown: set[tuple[int, int]]) -> None:
    for step in steps:
        place = (step["iteration"], step["index"])
        if place in shown:
            continue
        shown.add(place)
        moved = "" if step["state"] == step["state_before"] else f" [{step['state_before']} → {step['state']}]"
        what = f"{step['action']} {step['arguments']} → {step['outcome']}: {step['observation']}{moved}"
        print(f"step {place[0]}.{place[1] + 1}: {what}", flush=True)


def main() -> int:
    if len(sys.argv) < 2:
        print('Ask something: python ask.py "What time is it?" read-only', file=sys.stderr)
        return 1
    groups = sys.argv[2].split(",") if len(sys.argv) > 2 else None
    try:
        response = ask(sys.argv[1], groups)
    except (KafkaException, OSError, ValueError) as problem:
        print(problem, file=sys.stderr)
        return 1
    if response["kind"] != "answer":
        print(f"There is no answer ({response['error']['code']}): {response['error']['message']}", file=sys.stderr)
        return 1
    print(f"answer: {response['answer']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
