import { CanonicalForm, madeOfPart, sha256 } from '@sluice/contracts';
import type { AgentStep, Run } from '@sluice/contracts';

/**
 * Grants and continuations name a digest of the run that they are for. Those of former versions lie on logs and are
 * under way in an upgrade, so their digest keeps the form that it was first made in: the process’s names, and of what
 * is absent nothing.
 */
const isAbsent = (value: unknown): boolean => value === null || value === undefined;

const runs = new CanonicalForm({
  names: 'process',
  order: 'name',
  saysNothing: isAbsent,
  without: {
    // The history is written for itself.
    AgentRequest: ['history'],
    // What the agent adds to on a run’s way from the filter to the executor; everything else is covered by the grant.
    Run: [
      ...['inputTokens', 'outputTokens', 'cachedInputTokens', 'cacheWriteTokens'],
      ...['definitionTokens', 'resultTokens', 'otherTokens', 'otherModels'],
    ],
  },
});

/**
 * What a step says for people, and no history: a result’s hash and age, what was read or asked before or to decide
 * about a call, and the rule that refused it.
 */
export const notInHistories: readonly string[] = [
  'resultHash',
  'cachedAt',
  'documentation',
  'content',
  'questions',
  'rule',
  'facts',
];

/**
 * Nor does it say what an agent’s prompts were made of; what its models cost is in the run. The names of its content
 * are under the signature over the whole record.
 */
const histories = new CanonicalForm({
  names: 'process',
  order: 'schema',
  saysNothing: isAbsent,
  without: {
    AgentStep: notInHistories,
    AgentRun: ['definitionTokens', 'resultTokens', 'otherTokens', 'otherModels'],
  },
});

/**
 * A digest over a request and its run as they go on: a change of any part breaks the signature that names it. A
 * member that a later version adds changes no digest where it is not set, so that versions can run side by side.
 */
export function digestOfRun(request: { readonly history: readonly AgentStep[] }, run: Run): string {
  const [asked, made] = [madeOfPart(request), madeOfPart(run)];
  const known = made?.get(digestOfRun) as Kept | undefined;
  if (known !== undefined && known.request === asked) return known.digest;
  const digest = sha256(historyText(request.history) + runs.text('AgentRequest', request) + runs.text('Run', run));
  if (asked !== undefined) made?.set(digestOfRun, { request: asked, digest } satisfies Kept);
  return digest;
}

/** With the run of a shared record: several services of a process verify the same one. */
interface Kept {
  /** What was made of its request, which stands for the request. */
  readonly request: ReturnType<typeof madeOfPart>;
  readonly digest: string;
}

const historyTexts = new WeakMap<readonly AgentStep[], string>();

/**
 * A history is most of a record, and what the executor signed of it is what the filter grants next: its text is made
 * once.
 */
function historyText(history: readonly AgentStep[]): string {
  let text = historyTexts.get(history);
  if (text === undefined) {
    text = `[${history.map((step) => histories.text('AgentStep', step)).join(',')}]`;
    historyTexts.set(history, text);
  }
  return text;
}
