import type { AgentRequest } from '@sluice/contracts';
import { newRequest } from '../run-request.js';
import type { Kind, Mix } from './mix.js';
import { pick, randomFrom } from './random.js';

/** One request to be sent. */
export interface LoadRequest {
  readonly kind: string;
  /** How it should end: `answer`, or an error's code. */
  readonly expect: readonly string[];
  /** Whose credential goes along; null: none. */
  readonly user: string | null;
  readonly twice: boolean;
  readonly request: AgentRequest & { readonly requestId: string; readonly sessionId: string };
}

const nobody = 'anyone';

/** Draws requests from a mix: the same ones in the same order for the same seed, under ids that begin with `name`. */
export function askingFrom(mix: Mix, name: string, sessions: number, seed: number): () => LoadRequest {
  const random = randomFrom(seed);
  const kinds = Object.entries(mix.kinds);
  const total = kinds.reduce((sum, [, { weight }]) => sum + weight, 0);
  const users = Object.keys(mix.users ?? {});
  const perUser = Math.max(1, Math.ceil(sessions / Math.max(1, users.length)));
  let count = 0;

  const draw = (): readonly [string, Kind] => {
    let left = random() * total;
    return kinds.find(([, { weight }]) => (left -= weight) < 0) ?? (kinds.at(-1) as (typeof kinds)[number]);
  };
  return () => {
    const [kind, { questions, users: only = users, groups, state, expect, credential, twice }] = draw();
    const user = only.length === 0 ? null : pick(only, random);
    const sessionId = `${name}-${user ?? nobody}-${Math.floor(random() * perUser)}`;
    const requestId = `${name}-${count++}`;
    const question = pick(questions, random).replaceAll('{n}', () => String(1 + Math.floor(random() * 99)));
    const request = { ...newRequest(question, { requestId, sessionId }), group: groups ?? null, state: state ?? null };
    return { kind, expect, user: credential === 'none' ? null : user, twice, request };
  };
}
