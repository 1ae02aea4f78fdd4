import { setTimeout as sleep } from 'node:timers/promises';
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { neverSent, ToolFailedError } from '@sluice/core';
import type { JsonObject } from '@sluice/core';

/** What is read of a task; times in milliseconds. */
const Task = z.object({
  taskId: z.string().min(1).max(1_024),
  status: z.string(),
  statusMessage: z.string().nullish(),
  pollInterval: z.number().nullish(),
});
const Created = z.object({ task: Task });
const anything = z.unknown();

/** How often a task is looked at, whatever its server suggests, and by default. */
const pollMs = { least: 100, most: 10_000, byDefault: 1_000 };
/** Lost connections that a task is looked for over again, and how long its cancellation may take, in milliseconds. */
const mostReconnects = 5;
const cancelMs = 5_000;

const relatedTask = 'io.modelcontextprotocol/related-task';

interface TaskParts {
  readonly params: JsonObject;
  /** Headers that carry arguments as well. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly timeout: number;
  /** Called with the task’s id, once it has one. */
  onTask(id: string): void;
  /** Another client of the server, for one that was lost. */
  reconnect(): Client | Promise<Client>;
  /** Called with what the server says of how far the task is. */
  onStatus(message: string): void;
}

/**
 * A call that runs as a task of the server (revision 2025-11-25): it is looked at until it has ended, over another
 * connection too where the first is lost, and cancelled when the call is. Gives what the tool answered.
 */
export async function runAsTask(first: Client, parts: TaskParts): Promise<unknown> {
  const { params, headers, signal, timeout, onTask, reconnect, onStatus } = parts;
  const bounds = { signal, timeout };
  const created = await first.request({ method: 'tools/call', params }, anything, { ...bounds, headers });
  const read = Created.safeParse(created);
  // A server may answer at once all the same.
  if (!read.success) return created;
  let { task } = read.data;
  const { taskId } = task;
  onTask(taskId);
  let client = first;
  let reconnects = 0;
  const ask = async <T>(method: 'tasks/get' | 'tasks/result', schema: z.ZodType<T>): Promise<T> => {
    for (;;)
      try {
        return await client.request({ method, params: { taskId } }, schema, bounds);
      } catch (error) {
        if (signal.aborted || !isLost(error) || reconnects++ >= mostReconnects) throw error;
        await pause(pollMs.byDefault, signal);
        client = await reconnect();
      }
  };
  try {
    let said = '';
    while (task.status === 'working') {
      if (task.statusMessage && task.statusMessage !== said) onStatus((said = task.statusMessage));
      const { least, most, byDefault } = pollMs;
      await pause(Math.min(most, Math.max(least, task.pollInterval ?? byDefault)), signal);
      task = await ask('tasks/get', Task);
    }
    if (task.status === 'cancelled') throw new ToolFailedError('The server cancelled the call.');
    // Of a task that wants input the server asks on the way to its result.
    return withoutTask(await ask('tasks/result', anything));
  } catch (error) {
    if (signal.aborted) await cancel(client, taskId);
    throw error;
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}

async function cancel(client: Client, taskId: string): Promise<void> {
  // Nothing more is to be done where the server does not hear of it: its task ends by itself.
  await client
    .request({ method: 'tasks/cancel', params: { taskId } }, anything, { timeout: cancelMs })
    .catch(() => undefined);
}

function isLost(error: unknown): boolean {
  return neverSent(error) || (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed);
}

/** The caller asked for no task. */
function withoutTask(answer: unknown): unknown {
  const { _meta, ...result } = (answer ?? {}) as { readonly _meta?: JsonObject };
  if (_meta?.[relatedTask] === undefined) return answer;
  const others = Object.entries(_meta).filter(([name]) => name !== relatedTask);
  return others.length === 0 ? result : { ...result, _meta: Object.fromEntries(others) };
}
