"""Asks over Kafka with the Python client, as many ways as there are, and prints what came back as JSON."""

import json
import os

from sluice_client.kafka import Received, SluiceBus
from sluice_client.records import AgentResponse

said: dict[str, object] = {}
kafka = {"bootstrap.servers": os.environ["KAFKA_BROKERS"]}
with SluiceBus(kafka, os.environ["SCHEMA_REGISTRY_URL"], prefix=os.environ["SLUICE_PREFIX"]) as bus:
    response = bus.ask({"question": "What time is it?", "group": ["read-only"]}, timeout=90)
    steps = [[step.action, step.outcome, step.state_before] for step in response.history]
    said["ask"] = [response.kind, response.answer, response.state, steps]

    with bus.follow(["agent.steps", "agent.responses"], timeout=90) as records:
        published = bus.publish({"question": "And now?", "group": ["read-only"]})
        topics = []
        for received in records:
            if received.key == published.session_id:
                topics.append(received.topic)
                if isinstance(received.record, AgentResponse):
                    break
        said["follow"] = sorted(set(topics))

    def until(wanted: str, seen: list[str]):
        def handle(received: Received) -> bool:
            seen.append(received.record.request_id)
            return received.record.request_id != wanted

        return handle

    first: list[str] = []
    bus.consume(["agent.responses"], group="python", handle=until(published.request_id, first))
    again = bus.publish({"question": "Once more?", "group": ["read-only"]})
    second: list[str] = []
    bus.consume(["agent.responses"], group="python", handle=until(again.request_id, second))
    said["consume"] = [published.request_id in first, published.request_id in second]

    with bus.follow(["agent.responses"], timeout=90) as records:
        slow = bus.publish({"question": "Slowly", "group": []})
        bus.cancel(slow, "Not needed.")
        for received in records:
            if received.record.request_id == slow.request_id:
                said["cancel"] = received.record.error.code
                break

    try:
        with bus.follow(["agent.responses"], timeout=0.5) as records:
            for received in records:
                pass
    except TimeoutError as error:
        said["timeout"] = str(error)
print(json.dumps(said))
