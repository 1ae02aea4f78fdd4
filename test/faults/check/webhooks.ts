import { recordsOf, text } from './observed.ts';
import type { Observed } from './observed.ts';

/**
 * The receiver has a webhook of each end of a run and of each dead letter, at least one and under one id, all of which
 * are signed; and of nothing else.
 */
export function webhooks({ found, webhooks: all }: Pick<Observed, 'found' | 'webhooks'>): readonly string[] {
  const idsOf = new Map<string, Set<string>>();
  for (const { record } of recordsOf(found, 'agent.responses')) {
    const hasFailed = (record['error'] ?? null) !== null;
    idsOf.set(`sluice.run.${hasFailed ? 'failed' : 'ended'} of ${text(record, 'request_id')}`, new Set());
  }
  for (const { partition, offset } of recordsOf(found, 'agent.dead-letters'))
    idsOf.set(`sluice.dead_letter of ${partition}/${offset}`, new Set());
  const said: string[] = [];
  for (const { type, subject, id, isSigned } of all) {
    const what = `${type} of ${subject}`;
    if (!isSigned) said.push(`The webhook ${what} is not signed by the secret of its subscription.`);
    const ids = idsOf.get(what);
    if (ids === undefined) said.push(`There was a webhook of ${what}, which is not on the log.`);
    ids?.add(id);
  }
  for (const [what, ids] of idsOf) {
    if (ids.size === 0) said.push(`There was no webhook of ${what}.`);
    if (ids.size > 1) said.push(`There were webhooks of ${what} under ${ids.size} ids.`);
  }
  return said;
}

/** How many webhooks came more than once. */
export function webhooksAgain({ webhooks: all }: Pick<Observed, 'webhooks'>): number {
  return all.length - new Set(all.map(({ id }) => id)).size;
}
