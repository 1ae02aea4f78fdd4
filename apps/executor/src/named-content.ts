import { clockSkewMs } from '@sluice/core';
import type { WrittenContent } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { Runtime } from '@sluice/host';

/** Steps of a turn that waits for a decision or an agent stand in these until it goes on. */
const waiting = [
  topics.approvals,
  topics.requests,
  topics.calls,
  topics.toolsets,
  topics.toolCalls,
] as const satisfies Topic[];

/**
 * Which of these pieces of content a record names, by the log from where the first of them was written. Most are named
 * by a step moments later, so it reads no further than to the last of them. What cannot be decoded may name any.
 */
export async function namedContent(
  written: readonly WrittenContent[],
  { bus }: Pick<Runtime, 'bus'>,
  signal: AbortSignal,
): Promise<readonly boolean[]> {
  const open = new Set(written.map(nameOf));
  const earliest = written.reduce((least, { writtenAt }) => Math.min(least, writtenAt), Infinity);
  let isWhole = true;
  const options = {
    from: { time: Math.max(0, earliest - clockSkewMs) },
    onUndecodable: () => void (isWhole = false),
    signal,
  } as const;
  for await (const { record } of bus.read([topics.steps], options)) {
    for (const content of [...record.steps.map((step) => step.content), record.next.content ?? []])
      for (const { hash } of content) open.delete(nameOf({ runId: record.requestId, hash }));
    if (open.size === 0) break;
  }
  if (open.size > 0)
    for await (const { record } of bus.read(waiting, options)) {
      const text = JSON.stringify(record);
      for (const name of open) if (text.includes(hashOf(name))) open.delete(name);
      if (open.size === 0) break;
    }
  // A reader that was stopped has not seen everything.
  if (open.size > 0) signal.throwIfAborted();
  return written.map((one) => !isWhole || !open.has(nameOf(one)));
}

/** Of one run; tenants that have a run of the same id keep each other’s content, if it is the same. */
function nameOf({ runId, hash }: Pick<WrittenContent, 'runId' | 'hash'>): string {
  return `${hash} ${runId}`;
}

function hashOf(name: string): string {
  return name.slice(0, 64);
}
