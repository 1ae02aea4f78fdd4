import { usageDimensions } from '@sluice/projection';
import type { Projection, RunFilter, Viewer } from '@sluice/projection';

/** Each filter, each two of them, and all. */
function combinations<Filter extends object>(all: Required<Filter>): readonly Filter[] {
  const each = Object.entries(all);
  const some = each.flatMap((one, index) => [[one], ...each.slice(index + 1).map((other) => [one, other])]);
  return [[], ...some, each].map((entries) => Object.fromEntries(entries) as Filter);
}

const times = { since: 1, until: 2 };

/** Asks for the first page and for one behind it, of every list, under filters in their combinations. */
export async function askForAllPages(projection: Projection, viewer: Viewer): Promise<void> {
  const run = {
    user: 'u',
    outcome: 'o',
    tool: 't',
    group: 'g',
    state: 's',
    session: 'i',
    words: ['a', 'b'],
    agent: 'a',
    parent: 'p',
    own: true,
    ...times,
  } as const;
  for (const filter of combinations<RunFilter>(run))
    for (const after of [null, { startedAt: 1, requestId: 'r' }]) {
      await projection.runs(viewer, filter, after, 5);
      await projection.page(viewer, filter, after, 5);
      await projection.changes(viewer, filter, 1, 5);
    }
  const span = { since: 1, until: 2 };
  for (const dimension of usageDimensions)
    for (const tenant of ['t', null]) if (dimension !== 'tool') await projection.usage(dimension, tenant, span, 5);
  await projection.callTimes('t', span);
  await projection.latestChange();
  await projection.late(1, 5);
  await projection.standing(1, 1);
  const entry = { run: 'r', session: 'i', user: 'u', tool: 't', kind: 'request', outcome: 'o', ...times };
  for (const filter of combinations(entry))
    for (const after of [null, { at: 1, id: 'a' }]) await projection.audit(viewer, filter, after, 5);
  const letter = { topic: 't', code: 'c', session: 'i', service: 's', ...times };
  for (const filter of combinations(letter))
    for (const after of [null, { failedAt: 1, id: 'a' }]) await projection.letters(filter, after, 5);
  await projection.approvals(viewer, 1, null, 5);
  await projection.sessions(viewer, null, 5);
  await projection.steps(viewer, 'i', 5);
}
