import { isJsonObject } from '@sluice/core';
import type { ConfiguredTool, JsonObject } from '@sluice/core';
import type { AgentStep, RunError } from '@sluice/contracts';
import { isCall } from './client-message.js';
import type { CallResult } from './results.js';

type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** How a task stands, and since when, milliseconds since the epoch. */
export interface TaskState<S extends TaskStatus = TaskStatus> {
  readonly status: S;
  /** For a person; empty where there is nothing to say. */
  readonly message: string;
  readonly at: number;
}

/** How a task has ended. */
export type TaskEnd = TaskState<'completed' | 'failed' | 'cancelled'>;

/** A task as the protocol has it (revision 2025-11-25); times in milliseconds. */
export interface ServedTask {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttl: number;
  readonly pollInterval: number;
}

/** A task as the extension of revision 2026-07-28 has it; times in milliseconds. */
export interface ExtensionTask extends Omit<ServedTask, 'ttl' | 'pollInterval'> {
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
}

/** The extension by which servers of revision 2026-07-28 make tasks of calls. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** How often a client should look at its task, in milliseconds: less often while a person is waited for. */
const pollMs = { working: 1_000, waiting: 5_000 };
/** How long a task is kept that says nothing about it, and at least, in milliseconds. */
const defaultTtlMs = 24 * 3_600_000;
const leastTtlMs = 1_000;

const relatedTask = 'io.modelcontextprotocol/related-task';

/**
 * Whether clients may call the tool as a task. A task belongs to no session, so that a call that moves the state of
 * one is none.
 */
export function mayBeTask({ target }: Pick<ConfiguredTool, 'target'>): boolean {
  return target === null;
}

/** Whether the message is a call that its client wants to have as a task. */
export function isTaskCall(message: JsonObject): boolean {
  const { params } = message;
  return isCall(message) && isJsonObject(params ?? null) && isJsonObject((params as JsonObject)['task'] ?? null);
}

/** How long a task is kept for which the client wants `asked` milliseconds, where no more than `most` can be had. */
export function ttlOf(asked: number | undefined, most: number): number {
  const wanted = asked === undefined || !Number.isFinite(asked) ? defaultTtlMs : Math.floor(asked);
  return Math.min(most, Math.max(leastTtlMs, wanted));
}

/** How the task of a call has ended whose step is this one. */
export function endOfStep({ outcome, reason }: Pick<AgentStep, 'outcome' | 'reason'>, at: number): TaskEnd {
  if (outcome === 'ok') return { status: 'completed', message: '', at };
  if (reason === 'cancelled') return { status: 'cancelled', message: cancelledText, at };
  return { status: 'failed', message: `The call ended with ${reason ?? outcome}. Its result says more.`, at };
}

/** How the task of a call has ended that has no step. */
export function endOfRun(error: RunError | null, at: number): TaskEnd {
  if (error?.code === 'cancelled') return { status: 'cancelled', message: cancelledText, at };
  return { status: 'failed', message: error?.message ?? 'The call ended without a result.', at };
}

export const cancelledText = 'The task was cancelled.';

/** The task in this state, as its client reads it. `isWaiting` says that a person is waited for. */
export function servedTask(
  { id, createdAt, ttl }: { readonly id: string; readonly createdAt: number; readonly ttl: number },
  { status, message, at }: TaskState,
  isWaiting: boolean,
): ServedTask {
  return {
    taskId: id,
    status,
    ...(message === '' ? {} : { statusMessage: message }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(at).toISOString(),
    ttl,
    pollInterval: isWaiting ? pollMs.waiting : pollMs.working,
  };
}

/** The same task in the words of the extension. */
export function extensionTask({ ttl, pollInterval, ...task }: ServedTask): ExtensionTask {
  return { ...task, ttlMs: ttl, pollIntervalMs: pollInterval };
}

/** The member of `_meta` by which a message is of the task. */
export function relatedTo(taskId: string): { readonly [relatedTask]: { readonly taskId: string } } {
  return { [relatedTask]: { taskId } };
}

/** The result of a task’s call, which says whose it is. */
export function resultOfTask(result: CallResult, taskId: string): CallResult {
  return { ...result, _meta: { ...result._meta, ...relatedTo(taskId) } };
}
