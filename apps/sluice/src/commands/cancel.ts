import { parseArgs } from 'node:util';
import { clockSkewMs, printableIn } from '@sluice/core';
import { longestId, make, topics } from '@sluice/contracts';
import type { CancellationOutcome } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import { longestCancelReason, notCancelledReasons } from '@sluice/run';
import { openBus, ownHeaders, requireLog, systemClock } from '@sluice/host';
import { printJson, quietFor } from '../json-answer.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice cancel REQUEST_ID [--reason "…"] [--before] [--json]
  Cancels a run of your own: it ends with the error cancelled. A call under way ends as far as its tool lets it, none behind it is made.
  --before cancels a run whose request is still to come, too.
  Says whether the cancellation counts; exit code 1 if not. Where an identity is configured, the credential in SLUICE_TOKEN says who.
  --json prints {request_id, status, by, reason}; status is cancelled, pending or refused.`;

/** How long a filter may need before the command says that none has taken it yet, in milliseconds. */
const patienceMs = 10_000;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      reason: { type: 'string', default: '' },
      before: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const [requestId = '', ...more] = positionals;
  if (requestId === '' || more.length > 0) throw new Error(`Name one run by its request_id.\n${usage}`);
  if (requestId.length > longestId) throw new Error(`A request_id has at most ${longestId} characters.`);
  const { reason, before } = values;
  if (reason.length > longestCancelReason)
    throw new Error(`--reason has ${reason.length} characters. Give it at most ${longestCancelReason}.`);
  const { environment, log, write, paint } = quietFor(values.json, surroundings);
  const answer = (status: string, by: string | null, why: string | null): void => {
    if (values.json) printJson(surroundings, { request_id: requestId, status, by, reason: why });
  };
  requireLog(environment);
  const { bus } = await openBus(environment, log);
  try {
    const askedAt = systemClock.now();
    const record = make.cancellation({ requestId, reason, askedAt, mustExist: !before });
    const written = { topic: topics.cancellations, record } as const;
    const headers = await ownHeaders(written, environment);
    await bus.publish([{ ...written, key: requestId, headers }]);
    const outcome = printableIn(await outcomeOf(requestId, askedAt, bus));
    if (outcome === null) {
      answer('pending', null, null);
      write('The cancellation is on the log. No filter has taken it yet; one does when it runs.\n');
      return 0;
    }
    const { notTaken } = outcome;
    if (notTaken === null) {
      answer('cancelled', outcome.actorId, null);
      write(`${paint.good('✓')} ${requestId} is cancelled by ${outcome.actorId}.\n`);
      return 0;
    }
    answer('refused', null, notTaken);
    if (notTaken === 'no_such_run') {
      write(`${paint.bad('✗')} There is no run ${requestId} of yours. --before cancels one that is still to come.\n`);
      return 1;
    }
    const why = Object.entries<string>(notCancelledReasons).find(([name]) => name === notTaken)?.[1] ?? notTaken;
    write(`${paint.bad('✗')} ${requestId} is not cancelled. ${why}\n`);
    return 1;
  } finally {
    await bus.close();
  }
}

/** What the filter decided; null if nothing comes in time. */
async function outcomeOf(requestId: string, askedAt: number, bus: Bus): Promise<CancellationOutcome | null> {
  const options = {
    from: { time: askedAt - clockSkewMs },
    follow: true,
    signal: AbortSignal.timeout(patienceMs),
    onUndecodable: () => undefined,
  };
  for await (const { record } of bus.read([topics.cancellations], options))
    if (record.outcome !== null && record.requestId === requestId && record.askedAt === askedAt) return record.outcome;
  return null;
}
