"""Sluice over Kafka: requests go out, steps and responses come back, as Avro. Needs `pip install 'sluice-client[kafka]'`."""

from __future__ import annotations

import io
import json
import secrets
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from fastavro import parse_schema, schemaless_reader, schemaless_writer

from .records import AgentProgress, AgentRequest, AgentResponse, AgentStepResult, Cancellation, Record

REQUESTS = "agent.requests"
CANCELLATIONS = "agent.cancellations"

#: The records that a system outside of Sluice writes and reads, by topic.
RECORDS: Mapping[str, type[Record]] = {
    "agent.requests": AgentRequest,
    "agent.steps": AgentStepResult,
    "agent.responses": AgentResponse,
    "agent.progress": AgentProgress,
    "agent.cancellations": Cancellation,
}


@dataclass(frozen=True)
class Received:
    """A record, and where it stands. `topic` is without the prefix, `key` the session."""

    topic: str
    partition: int
    offset: int
    key: str | None
    record: Record


@dataclass(frozen=True)
class Published:
    request_id: str
    session_id: str


class SchemaRegistry:
    """The Confluent-compatible API of a registry: what it takes to read and write records."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._by_id: dict[int, Any] = {}
        self._latest: dict[str, tuple[int, Any]] = {}

    def encode(self, subject: str, record: Mapping[str, Any]) -> bytes:
        """By the latest schema of the subject; the services register them when they start."""
        if subject not in self._latest:
            found = self._get(f"subjects/{subject}/versions/latest")
            self._latest[subject] = (found["id"], self._parsed(found))
        number, schema = self._latest[subject]
        out = io.BytesIO()
        out.write(b"\0" + number.to_bytes(4, "big"))
        schemaless_writer(out, schema, record)
        return out.getvalue()

    def decode(self, value: bytes) -> Any:
        """Requests may be JSON, which begins with a brace; Avro begins with a zero byte and the number of its schema."""
        if value[:1] == b"{":
            return json.loads(value)
        number = int.from_bytes(value[1:5], "big")
        if number not in self._by_id:
            self._by_id[number] = self._parsed(self._get(f"schemas/ids/{number}"))
        return schemaless_reader(io.BytesIO(value[5:]), self._by_id[number], None)

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self._url}/{path}", timeout=30) as answer:
            return json.load(answer)

    def _parsed(self, found: Mapping[str, Any]) -> Any:
        return parse_schema(json.loads(found["schema"]))


class SluiceBus:
    """`kafka` are settings of librdkafka, `prefix` what stands before every topic and subject (`SLUICE_PREFIX`)."""

    def __init__(
        self,
        kafka: Mapping[str, Any],
        registry: SchemaRegistry | str,
        *,
        prefix: str = "",
        token: str | Callable[[], str] | None = None,
    ) -> None:
        self._kafka = dict(kafka)
        self._registry = SchemaRegistry(registry) if isinstance(registry, str) else registry
        self._prefix = prefix
        self._token = token
        self._producer: Producer | None = None

    def publish(self, request: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Published:
        """Publishes a request. An id that it leaves out is made here; send the same ids again where an attempt may have arrived."""
        request_id = request.get("request_id") or str(uuid.uuid4())
        session_id = request.get("session_id") or request_id
        ids = {"request_id": request_id, "session_id": session_id}
        self._send(REQUESTS, session_id, {**request, **ids}, headers)
        return Published(request_id, session_id)

    def cancel(self, run: Published, reason: str = "", headers: Mapping[str, str] | None = None) -> None:
        """Asks that a run be cancelled; its response says whether it was."""
        ids = {"request_id": run.request_id, "session_id": run.session_id}
        record = {**ids, "reason": reason, "asked_at": int(time.time() * 1_000)}
        record |= {"must_exist": False, "outcome": None}
        self._send(CANCELLATIONS, run.session_id, record, headers)

    def ask(self, request: Mapping[str, Any], *, timeout: float = 60) -> AgentResponse:
        """Publishes a request and waits for its response; raises TimeoutError."""
        request_id = request.get("request_id") or str(uuid.uuid4())
        session_id = request.get("session_id") or request_id
        with self.follow(["agent.responses"], timeout=timeout) as records:
            self.publish({**request, "request_id": request_id, "session_id": session_id})
            for received in records:
                record = received.record
                if received.key == session_id and isinstance(record, AgentResponse) and record.request_id == request_id:
                    return record
        raise TimeoutError("The topic of responses ended.")

    def follow(self, topics: Sequence[str], *, timeout: float | None = None) -> Following:
        """The records that these topics get from now on, without a group’s offsets. What is published behind this is among them.

        Raises TimeoutError after so many seconds. Use it in a `with`, or call `close`.
        """
        return Following(self._consumer(f"follow-{uuid.uuid4()}", latest=True), self, topics, timeout)

    def consume(self, topics: Sequence[str], *, group: str, handle: Callable[[Received], bool | None]) -> None:
        """Reads these topics as a member of a consumer group, until `handle` returns False.

        Commits behind each record that `handle` is done with, so that a system that restarts misses nothing; a record may come twice.
        """
        consumer = self._consumer(group, latest=False)
        try:
            consumer.subscribe([self._prefix + topic for topic in topics])
            while True:
                message = self.read(consumer, 1.0)
                if message is None:
                    continue
                goes_on = handle(self.received(message)) is not False
                consumer.commit(message=message, asynchronous=False)
                if not goes_on:
                    return
        finally:
            consumer.close()

    def read(self, consumer: Consumer, seconds: float) -> Message | None:
        message = consumer.poll(seconds)
        if message is not None and message.error():
            raise KafkaException(message.error())
        return message if message is not None and message.value() is not None else None

    def received(self, message: Message) -> Received:
        topic = (message.topic() or "").removeprefix(self._prefix)
        key = message.key()
        record = RECORDS[topic].model_validate(self._registry.decode(message.value() or b""))
        place = (topic, message.partition() or 0, message.offset() or 0)
        return Received(*place, key.decode() if key else None, record)

    def named(self, topics: Sequence[str]) -> list[str]:
        return [self._prefix + topic for topic in topics]

    def close(self) -> None:
        if self._producer is not None:
            self._producer.flush()
            self._producer = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _consumer(self, group: str, *, latest: bool) -> Consumer:
        return Consumer(
            {
                "group.id": self._prefix + group,
                "enable.auto.commit": False,
                "auto.offset.reset": "latest" if latest else "earliest",
                "isolation.level": "read_committed",
                **self._kafka,
            }
        )

    def _send(self, topic: str, key: str, record: Mapping[str, Any], headers: Mapping[str, str] | None) -> None:
        name = self._prefix + topic
        token = self._token() if callable(self._token) else self._token
        sent = {"traceparent": f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"}
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        if self._producer is None:
            # Places keys as Java and kafkajs do.
            self._producer = Producer({"partitioner": "murmur2_random", **self._kafka})
        failures: list[Any] = []
        self._producer.produce(
            name,
            key=key,
            value=self._registry.encode(f"{name}-value", record),
            headers={**sent, **(headers or {})},
            on_delivery=lambda error, _: failures.append(error) if error else None,
        )
        self._producer.flush()
        if failures:
            raise KafkaException(failures[0])


class Following:
    """Records from now on. Iterate over it; `close` ends it."""

    def __init__(self, consumer: Consumer, bus: SluiceBus, topics: Sequence[str], timeout: float | None) -> None:
        self._consumer = consumer
        self._bus = bus
        self._until = None if timeout is None else time.monotonic() + timeout
        try:
            # “latest” is looked up at the first fetch, and could miss a record: begin where the partitions end now.
            consumer.assign([end for name in bus.named(topics) for end in self._ends(name)])
        except BaseException:
            consumer.close()
            raise

    def __iter__(self) -> Iterator[Received]:
        while True:
            if self._until is not None and time.monotonic() > self._until:
                raise TimeoutError("No record ended the wait in the time that was given. See that the services run.")
            message = self._bus.read(self._consumer, 0.5)
            if message is not None:
                yield self._bus.received(message)

    def close(self) -> None:
        self._consumer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ends(self, topic: str) -> list[TopicPartition]:
        found = self._consumer.list_topics(topic, timeout=30).topics[topic]
        if found.error is not None:
            raise KafkaException(found.error)
        ends = []
        for partition in found.partitions:
            _, end = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=30)
            ends.append(TopicPartition(topic, partition, end))
        return ends
