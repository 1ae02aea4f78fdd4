import { join } from 'node:path';
import type { JsonObject, JsonValue } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';

/** A hub of one scripted server, whose resources are subscribed to, with what it reported. */
export function watchingHub(script: string, ...args: string[]) {
  const [updated, logged]: [string[], string[]] = [[], []];
  const command = process.execPath;
  const given = { command, args: [join(import.meta.dirname, 'mcp-servers', script), ...args] };
  const hub = createMcpHub([{ ...given, id: 'one', env: [], url: null, startMs: 10_000 }], {
    environment: () => ({ PATH: process.env['PATH'] ?? '' }),
    onChange: () => undefined,
    onResourceUpdated: (_, uri) => updated.push(uri),
    log: (_, message) => logged.push(message),
  });
  const options = () => ({ signal: new AbortController().signal, idempotencyKey: 'k', timeoutMs: 10_000, pin: null });
  const call = (tool: string, given: JsonObject = {}): Promise<JsonValue> => hub.call('one', tool, given, options());
  const subscribe = (uri: string): Promise<JsonValue> =>
    hub.call('one', '*', { uri, subscribe: true }, { ...options(), kind: 'resource' });
  return { hub, updated, logged, call, subscribe };
}
