/**
 * Asks over HTTP and tells the run as it goes on; needs nothing but Node 22.18 or later, which runs the file as it
 * stands. node ask-http.ts "What time is it?" read-only SLUICE_URL is where the gateway is, SLUICE_TOKEN the
 * credential where an identity is configured.
 */
const [question, groups] = process.argv.slice(2);
const url = process.env['SLUICE_URL'] ?? 'http://127.0.0.1:8091';
const token = process.env['SLUICE_TOKEN'];
if (question === undefined) {
  console.error('Give a question, and groups with commas between them if you like.');
  process.exit(2);
}

const response = await fetch(`${url}/v1/runs`, {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  },
  body: JSON.stringify({ question, ...(groups === undefined ? {} : { group: groups.split(',') }) }),
});
if (!response.ok || response.body === null) {
  console.error(`${response.status}: ${await response.text()}`);
  process.exit(1);
}

interface Chunk {
  readonly type: string;
  readonly path: readonly number[];
  readonly part?: { readonly type: string; readonly toolName?: string; readonly name?: string; readonly data?: object };
  readonly textDelta?: string;
  readonly result?: unknown;
  readonly isPreliminary?: boolean;
  readonly error?: string;
  readonly code?: string;
}

let failed = false;
for await (const chunk of chunks(response.body)) {
  if (chunk.part?.type === 'tool-call') process.stdout.write(`\ncalls ${chunk.part.toolName} `);
  else if (chunk.part?.type === 'text') process.stdout.write('\n');
  else if (chunk.type === 'text-delta') process.stdout.write(chunk.textDelta ?? '');
  else if (chunk.type === 'result' && !chunk.isPreliminary)
    process.stdout.write(`\n   -> ${JSON.stringify(chunk.result)}`);
  else if (chunk.type === 'error') {
    failed = true;
    process.stdout.write(`\nno answer: ${chunk.error} (${chunk.code})`);
  }
}
process.stdout.write('\n');
process.exit(failed ? 1 : 0);

/** The chunks of a stream of server-sent events, each in a line of its own. */
async function* chunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Chunk> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data: ') && line !== 'data: [DONE]') yield JSON.parse(line.slice(6)) as Chunk;
    }
  }
}
