import { NamedTools, topics } from '@sluice/contracts';
import type { LogReader } from '@sluice/bus';

/**
 * Every name that a tool has on the log, of which one is given: its key, and its ids under all configurations that
 * were ever in force.
 */
export async function toolNames(reader: LogReader, name: string, signal: AbortSignal): Promise<readonly string[]> {
  const names = new Set([name]);
  const options = { from: 'start', signal, onUndecodable: () => undefined } as const;
  const named = new NamedTools();
  for await (const { record } of reader.read([topics.config], options))
    for (const { key, id } of named.take(record)) if (key === name || id === name) names.add(key).add(id);
  return [...names];
}
