import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startTestProxy } from './proxying.js';

interface ModelRequest {
  readonly tools: number;
  readonly bytes: number;
}

// The example is plain JavaScript, as a user reads it.
const { startModel } = (await import('../../../examples/discovery/model.mjs' as string)) as {
  startModel(port: number, requests: ModelRequest[]): Promise<Server>;
};
const { converse } = (await import('../../../examples/discovery/client.mjs' as string)) as {
  converse(given: {
    baseUrl: string;
    question: string;
    tools: unknown;
    write: (text: string) => void;
  }): Promise<readonly string[]>;
};

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe('the example of tool discovery', () => {
  it('calls the same tools with and without the proxy, and shows the model a tenth of the definitions (DS-02, DS-03)', async () => {
    const requests: ModelRequest[] = [];
    const model = await startModel(0, requests);
    closing.push(() => model.close());
    const url = `http://127.0.0.1:${String((model.address() as AddressInfo).port)}`;
    const configuration = readFileSync('examples/discovery/sluice.yaml', 'utf8').replace('http://127.0.0.1:8099', url);
    const proxy = await startTestProxy(configuration);
    closing.push(() => proxy.close());
    const tools = JSON.parse(readFileSync('examples/discovery/tools.json', 'utf8')) as unknown;
    const ask = async (baseUrl: string): Promise<{ called: readonly string[]; said: string; seen: ModelRequest[] }> => {
      requests.length = 0;
      const said: string[] = [];
      const question = 'Why did the last build of the checkout service fail?';
      const write = (text: string): void => void said.push(text);
      const called = await converse({ baseUrl: `${baseUrl}/v1`, question, tools, write });
      return { called, said: said.join(''), seen: [...requests] };
    };
    const [direct, proxied] = [await ask(url), await ask(proxy.url)];
    expect(direct.called).toEqual(['get_build_log']);
    expect(proxied.called).toEqual(direct.called);
    expect(proxied.said).toContain('The result of get_build_log is here.');
    expect(direct.seen.map((one) => one.tools)).toEqual([60, 60]);
    for (const { tools: shown } of proxied.seen) expect(shown).toBeLessThanOrEqual(6);
    const bytes = (seen: readonly ModelRequest[]): number => seen.reduce((sum, one) => sum + one.bytes, 0);
    expect(bytes(proxied.seen)).toBeLessThan(bytes(direct.seen) / 5);
  });
});
