"""The providers' own Python clients at the doors: whole and streamed answers, and a refusal. Prints JSON."""

import json
import sys

import anthropic
import openai

url, model = sys.argv[1], sys.argv[2]
found: dict[str, object] = {}

client = openai.OpenAI(base_url=f"{url}/openai/v1", api_key="any", max_retries=0)
look = [{"role": "user", "content": "Look"}]
found["models"] = [one.id for one in client.models.list()]
whole = client.chat.completions.create(model=model, messages=look)
found["chat"] = whole.choices[0].message.content
pieces = client.chat.completions.create(model=model, messages=look, stream=True)
found["chat_stream"] = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
response = client.responses.create(model=model, input="Look")
found["responses"] = response.output_text
found["responses_again"] = client.responses.retrieve(response.id).output_text
with client.responses.stream(model=model, input="Look") as stream:
    found["responses_stream"] = stream.get_final_response().output_text
try:
    client.chat.completions.create(model="sluice/none", messages=look)
except openai.NotFoundError as error:
    found["refused"] = error.code

messages = anthropic.Anthropic(base_url=f"{url}/anthropic", api_key="any", max_retries=0).messages
message = messages.create(model=model, max_tokens=100, messages=look)
found["messages"] = "".join(block.text for block in message.content)
with messages.stream(model=model, max_tokens=100, messages=look) as events:
    found["messages_stream"] = events.get_final_text()

print(json.dumps(found))
