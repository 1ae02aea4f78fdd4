import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

export const samples = join(import.meta.dirname, '../../../examples/mcp');

export interface Answer {
  readonly text: string;
  readonly isError: boolean;
  readonly value: unknown;
}

/** A sample server as a process, and a client of it. */
export interface Sample {
  readonly client: Client;
  /** The text of the result, however the call ended; a protocol error is thrown. */
  call(tool: string, args: Record<string, unknown>): Promise<Answer>;
  close(): Promise<void>;
}

export async function startSample(
  name: string,
  { args = [], env = {}, era = '2025' }: { args?: string[]; env?: Record<string, string>; era?: '2025' | '2026' } = {},
): Promise<Sample> {
  const versionNegotiation = { mode: era === '2026' ? ('auto' as const) : ('legacy' as const) };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(samples, name, 'server.mjs'), ...args],
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stderr: 'ignore',
  });
  await client.connect(transport);
  return {
    client,
    call: async (tool, given) => {
      const { content, isError = false, structuredContent } = await client.callTool({ name: tool, arguments: given });
      const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
      return { text, isError, value: structuredContent };
    },
    close: () => client.close(),
  };
}
