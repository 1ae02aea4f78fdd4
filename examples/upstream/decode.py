"""Reads Avro as it travels on Kafka: one zero byte, the schema's number in the registry (4 bytes, big-endian), the record.

Imported, `decode(payload)` gives a dictionary. Run by itself, it turns what `kcat -f '%K %S\\n%k%s'` writes (the lengths of key
and value on a line, then both) into lines of the key, a tab, and the record as JSON. SCHEMA_REGISTRY_URL names the registry.
"""

import functools
import io
import json
import os
import struct
import sys
import urllib.request

import fastavro

REGISTRY = os.environ.get("SCHEMA_REGISTRY_URL", "http://localhost:8081/apis/ccompat/v7").rstrip("/")


def decode(payload: bytes) -> dict:
    if payload[:1] != b"\0":
        raise ValueError("The record is not Avro with a schema number, which begins with a zero byte.")
    (number,) = struct.unpack(">I", payload[1:5])
    return fastavro.schemaless_reader(io.BytesIO(payload[5:]), schema(number), None)


@functools.cache
def schema(number: int):
    """A number never changes its schema, so each is asked for once."""
    try:
        with urllib.request.urlopen(f"{REGISTRY}/schemas/ids/{number}", timeout=10) as answer:
            return fastavro.parse_schema(json.loads(json.load(answer)["schema"]))
    except OSError as problem:
        raise OSError(f"Schema {number} cannot be had from the registry at {REGISTRY}: {problem}") from problem


def main() -> None:
    while header := sys.stdin.buffer.readline():
        key_length, length = (max(int(text), 0) for text in header.split())
        key = sys.stdin.buffer.read(key_length).decode()
        payload = sys.stdin.buffer.read(length)
        if payload:
            print(key, json.dumps(decode(payload), ensure_ascii=False, separators=(",", ":")), sep="\t")


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as problem:
        sys.exit(str(problem))
