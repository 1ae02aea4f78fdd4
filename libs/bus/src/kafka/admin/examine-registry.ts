import { allTopics, recordNames, selfContained, subjectOf } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { CheckResult } from '@sluice/core';
import type { Names } from '../names.js';
import type { RegistryOptions } from '../options.js';

/** A registry, looked at without a change to it. */
export interface ExaminedRegistry extends CheckResult {
  /** Whether it has every schema, so that opening the log registers nothing. */
  readonly isWhole: boolean;
  /** What time it is there by its answer’s header, to the second, and here then; null where it does not say. */
  readonly clock: { readonly there: number; readonly here: number } | null;
}

const answerMs = 4_000;
const contentType = 'application/vnd.schemaregistry.v1+json';

type Answer = 'registered' | 'compatible' | 'absent' | 'incompatible';

/** Asks of each subject whether it has this version’s schema, or would take it. Rejects with a sentence. */
export async function examineRegistry(options: RegistryOptions, names: Names): Promise<ExaminedRegistry> {
  const base = options.url.replace(/\/+$/, '');
  const { username, password = '' } = options;
  const headers = {
    'content-type': contentType,
    ...(username === undefined
      ? {}
      : { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }),
  };
  let clock: ExaminedRegistry['clock'] = null;

  const ask = async (path: string, schema: string): Promise<{ readonly status: number; readonly body: unknown }> => {
    let response: Response;
    try {
      response = await fetch(`${base}${path}`, {
        ...{ method: 'POST', headers, body: JSON.stringify({ schema }) },
        signal: AbortSignal.timeout(answerMs),
      });
    } catch (error) {
      const { message } = (error as { cause?: Error }).cause ?? (error as Error);
      throw new Error(`The schema registry at ${base} cannot be reached (${message}). Start it, or correct SCHEMA_REGISTRY_URL.`, { cause: error }); // prettier-ignore
    }
    const date = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(date)) clock = { there: date, here: Date.now() };
    const text = await response.text();
    if (response.status === 401 || response.status === 403)
      throw new Error(`The schema registry at ${base} refuses the credentials. Check SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD.`); // prettier-ignore
    return { status: response.status, body: parsed(text) };
  };

  const look = async (topic: Topic): Promise<Answer> => {
    const subject = encodeURIComponent(names.subject(subjectOf(topic)));
    const schema = JSON.stringify(selfContained(recordNames[topic]));
    const found = await ask(`/subjects/${subject}`, schema);
    if (found.status === 200) return 'registered';
    const { error_code: code } = Object(found.body) as { readonly error_code?: unknown };
    if (typeof code !== 'number' || found.status !== 404)
      throw new Error(`The schema registry at ${base} answers with ${found.status}, and not as Confluent’s does. Set SCHEMA_REGISTRY_URL to where that API is; Apicurio has it under /apis/ccompat/v7.`); // prettier-ignore
    const fits = await ask(`/compatibility/subjects/${subject}/versions/latest`, schema);
    if (fits.status === 404) return 'absent';
    return (Object(fits.body) as { readonly is_compatible?: unknown }).is_compatible === false
      ? 'incompatible'
      : 'compatible';
  };

  const answers = await Promise.all(allTopics.map(async (topic) => [topic, await look(topic)] as const));
  const of = (answer: Answer): readonly Topic[] => answers.flatMap(([topic, is]) => (is === answer ? [topic] : []));
  const [refused, unknown] = [of('incompatible'), [...of('absent'), ...of('compatible')]];
  if (refused.length > 0)
    return {
      ...{ outcome: 'failed', isWhole: false, clock },
      detail: `The registry’s schemas of ${refused.join(', ')} are not compatible with this version’s.`,
      action:
        'See which version wrote them, and the compatibility of these subjects; docs/operations.md says which one they need.',
    };
  if (unknown.length > 0)
    return {
      ...{ outcome: 'warning', isWhole: false, clock },
      detail: `The registry answers, and ${unknown.length === 1 ? `the schema of ${unknown[0]}` : `${unknown.length} of ${allTopics.length} schemas`} of this version are not registered yet.`,
      action: 'Nothing: the first service registers them.',
    };
  return {
    outcome: 'ok',
    isWhole: true,
    clock,
    detail: `The registry answers, and has all ${allTopics.length} schemas.`,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
