/**
 * A client as there are many: it sends all its tools with every request, runs what the model calls, and prints the
 * answer as it comes.
 */

/** One request: the text and the calls of its streamed answer. */
async function ask(baseUrl, body, write) {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer key-of-the-client' },
    body: JSON.stringify({ ...body, stream: true }),
  });
  if (!response.ok) throw new Error(`${String(response.status)}: ${await response.text()}`);
  let held = '';
  let text = '';
  const calls = [];
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (held + chunk).split('\n');
    held = lines.pop();
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue;
      const [choice] = JSON.parse(line.slice(6)).choices;
      if (choice?.delta.content) {
        text += choice.delta.content;
        write(choice.delta.content);
      }
      for (const { index, ...call } of choice?.delta.tool_calls ?? []) calls[index] = call;
    }
  }
  return { text, calls };
}

/** Asks until the model answers without a call. Returns the names of the tools that were called. */
export async function converse({ baseUrl, question, tools, write }) {
  const messages = [{ role: 'user', content: question }];
  const called = [];
  for (let turn = 0; turn < 5; turn++) {
    const { text, calls } = await ask(baseUrl, { model: 'made-up', messages, tools }, write);
    if (calls.length === 0) break;
    messages.push({ role: 'assistant', content: text === '' ? null : text, tool_calls: calls });
    for (const call of calls) {
      called.push(call.function.name);
      write(`[calls ${call.function.name}] `);
      messages.push({ role: 'tool', tool_call_id: call.id, content: `result of ${call.function.name} is here.` });
    }
  }
  write('\n');
  return called;
}
