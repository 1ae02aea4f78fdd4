import { setTimeout as delay } from 'node:timers/promises';
import { clockSkewMs } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { Bus, Outgoing, ReadOptions } from '@sluice/bus';
import type { Approver, Credentials } from './approver.js';
import type { LoadRequest } from './asking.js';
import { publishPatiently } from './patient.js';
import type { Tally } from './tally.js';

/** How often what is due is sent, in milliseconds. */
const tickMs = 20;

interface Load {
  readonly bus: Bus;
  /** What the ids of its runs begin with. */
  readonly name: string;
  readonly next: () => LoadRequest;
  readonly credentials: Credentials;
  readonly approver: Approver | null;
  readonly tally: Tally;
  readonly perSecond: number;
  readonly durationMs: number;
  /** How long the end waits for what is in flight, in milliseconds. */
  readonly patienceMs: number;
  /** Called for each run that ended, with its milliseconds. */
  onEnd(ms: number): void;
  /** Called every tick. */
  onTick(): void;
}

/**
 * Sends at a steady rate, whether or not the answers keep pace, and waits for the answers. Rejects if the log cannot
 * be used.
 */
export async function runLoad(load: Load, signal: AbortSignal): Promise<void> {
  const done = new AbortController();
  const stop = AbortSignal.any([signal, done.signal]);
  const from = { time: Date.now() - clockSkewMs };
  const options = { from, follow: true, signal: stop, onUndecodable: () => undefined };
  // Apart from each other: a decision that is on its way to the log holds up no answer.
  const reading = Promise.all([takeEnds(load, options), decide(load, options)]);
  const sending = (async () => {
    await send(load, signal);
    await ends(load, signal);
  })();
  try {
    // The reading ends by itself only if it fails.
    await Promise.race([sending, reading.then(() => sending)]);
  } finally {
    done.abort();
    await Promise.allSettled([reading, sending]);
  }
}

/** What is due goes out together; the next waits until it is on the log, and then makes up for it. */
async function send({ next, perSecond, durationMs, ...load }: Load, signal: AbortSignal): Promise<void> {
  const began = performance.now();
  const total = Math.max(1, Math.round((perSecond * durationMs) / 1_000));
  for (let sent = 0; sent < total && !signal.aborted;) {
    const due = Math.min(total, Math.ceil(((performance.now() - began) * perSecond) / 1_000));
    const asked = Array.from({ length: due - sent }, () => next());
    sent = due;
    await publish(asked, load, signal);
    load.onTick();
    await delay(tickMs);
  }
}

async function publish(
  asked: readonly LoadRequest[],
  { bus, tally, credentials }: Omit<Load, 'next' | 'perSecond' | 'durationMs'>,
  signal: AbortSignal,
) {
  if (asked.length === 0) return;
  const messages: Outgoing[] = [];
  for (const one of asked) {
    const { request, user, twice } = one;
    const headers = await credentials(user);
    const message: Outgoing = { topic: topics.requests, key: request.sessionId, record: request, headers };
    messages.push(message, ...(twice ? [message] : []));
    tally.asks(one, performance.now());
  }
  await publishPatiently(bus, messages, signal);
}

async function ends({ tally, patienceMs, onTick }: Load, signal: AbortSignal): Promise<void> {
  for (const until = performance.now() + patienceMs; tally.inFlight > 0 && !signal.aborted;) {
    if (performance.now() > until) return;
    onTick();
    await delay(tickMs);
  }
}

async function takeEnds({ bus, tally, name, onEnd }: Load, options: ReadOptions): Promise<void> {
  for await (const { topic, key, record } of bus.read([topics.steps, topics.responses], options)) {
    if (!key.startsWith(`${name}-`)) continue;
    if (topic === topics.steps) for (const step of record.steps) tally.called(step.reason ?? step.outcome);
    else {
      const ms = tally.ends(record.requestId, record.error?.code ?? 'answer', performance.now());
      if (ms !== null) onEnd(ms);
    }
  }
}

async function decide({ bus, name, approver }: Load, options: ReadOptions & { readonly signal: AbortSignal }) {
  if (approver === null) return;
  for await (const message of bus.read([topics.approvals], options)) {
    const { requested } = message.record;
    if (requested !== null && message.key.startsWith(`${name}-`))
      await approver.decide(requested, message, options.signal);
  }
}
