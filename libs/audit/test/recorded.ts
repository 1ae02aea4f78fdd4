import { make } from '@sluice/contracts';
import type { AuditRecord } from '@sluice/contracts';
import type { Bus, Incoming } from '@sluice/bus';
import { createSignatures, newKeySet } from '@sluice/identity';
import { after, chainOf, checkpointBeside, checkpointEntry, contentHash, noHead, seal, signHead } from '@sluice/audit';
import type { Head, Source } from '@sluice/audit';

export const signatures = createSignatures(newKeySet(0));

export interface Stored {
  readonly key: string;
  readonly record: AuditRecord;
}

/** A response, which is the shortest record that a run has. */
export function response(offset: number, answer: string, partition = 0): Source {
  return {
    topic: 'agent.responses',
    partition,
    offset,
    key: `session-${offset}`,
    headers: {},
    timestamp: 1_000 + offset,
    record: make.agentResponse({
      requestId: `request-${offset}`,
      sessionId: `session-${offset}`,
      kind: 'answer',
      answer,
      question: 'Go',
      iterations: 1,
      configVersion: 'c-1',
      endedAt: 1_000 + offset,
    }),
  };
}

/** A configuration that was applied. */
export function configuration(offset: number): Source {
  return {
    ...{ topic: 'agent.config', partition: 0, offset, key: 'config', headers: {}, timestamp: 1_000 + offset },
    record: make.configVersion({ version: `c-${offset}`, configuration: '{}', source: 'x.yaml', compiledAt: 1_000 }),
  };
}

export interface Writing {
  /** A checkpoint follows every so many entries. */
  readonly every: number;
  /** Ends with a checkpoint beside the chain. */
  readonly beside?: boolean;
}

/** A chain over these records as the audit writes it: two entries for each. */
export async function written(sources: readonly Source[], { every, beside = false }: Writing): Promise<Stored[]> {
  const stored: Stored[] = [];
  let head: Head = noHead;
  for (const source of sources) {
    const place = { ...source, hash: contentHash(source) };
    const add = (record: AuditRecord): void => {
      stored.push({ key: chainOf(source), record });
      head = after(head, record);
    };
    const ids = { requestId: `request-${source.offset}`, sessionId: source.key, configVersion: 'c-1' };
    for (const kind of ['run_ended', 'and_more']) {
      add(seal({ kind, ...ids, details: JSON.stringify({ offset: source.offset }) }, place, head));
      if (head.sequence % every !== every - 1) continue;
      add(checkpointEntry(source, head, 5_000, await signHead(source, head, 5_000, signatures)));
    }
    if (beside && source === sources.at(-1)) {
      const record = checkpointBeside(source, head, 9_000, await signHead(source, head, 9_000, signatures));
      stored.push({ key: chainOf(source), record });
    }
  }
  return stored;
}

/** What a bus reads where these records are on the log, the sources first. */
export function logOf(stored: readonly Stored[], sources: readonly Source[] = []): Pick<Bus, 'read'> {
  const audit = stored.map(({ key, record }, offset) => {
    const place = { topic: 'agent.audit', partition: 0, offset, key, timestamp: 10_000 + offset } as const;
    return { ...place, headers: {}, record };
  });
  return {
    read: (topics) =>
      (async function* () {
        for (const message of [...sources, ...audit])
          if ((topics as readonly string[]).includes(message.topic)) yield message as Incoming<never>;
      })(),
  };
}
