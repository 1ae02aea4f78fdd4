import { describe, expect, it } from '@jest/globals';
import { LineInput } from '../src/line-input.js';

async function through(...chunks: readonly string[]): Promise<string> {
  const input = new LineInput();
  const bytes = chunks.map((chunk) => Buffer.from(chunk));
  for (const chunk of bytes) input.write(chunk);
  input.end();
  let text = '';
  for await (const piece of input.setEncoding('utf8')) text += String(piece);
  return text;
}

describe('what a client writes, a line a message', () => {
  it('is read as over HTTP, wherever the pieces of a line end', async () => {
    const line = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":null}}\n';
    const expected = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}\n';
    expect(await through(line)).toBe(expected);
    expect(await through(line.slice(0, 20), line.slice(20), line)).toBe(expected + expected);
  });

  it('is left as it is where there is nothing to change, or it is no JSON', async () => {
    const lines = '{ "jsonrpc": "2.0", "id": 1, "method": "ping" }\r\nno JSON\n\nhalf of a line';
    expect(await through(lines)).toBe(lines);
  });

  it('is passed on where it is too long to be waited for', async () => {
    const long = `{"params":null,"padding":"${'x'.repeat(1_100_000)}"}\n`;
    expect(await through(long.slice(0, 1_060_000), long.slice(1_060_000), '{"a":1}\n')).toBe(`${long}{"a":1}\n`);
  });
});
