import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../harness/eventually.js';
import { blockProblems } from './slack-forms.js';

type Json = Readonly<Record<string, unknown>>;
export interface Message extends Json {
  readonly ts: string;
  readonly blocks: readonly Json[];
  readonly text: string;
}

export const botToken = 'xoxb-1-test';
export const workspace = 'T1';
export const signingSecret = 'f'.repeat(32);

/** What becomes of a call before it is done, or of its answer; `refused:` goes before an error of Slack. */
type Trouble = (method: string) => 'limited' | 'lost' | `refused:${string}` | null;

/** A stand-in for Slack’s Web API that holds what it is sent to the documented forms, and keeps the messages. */
export async function startSlack() {
  const messages = new Map<string, Message>();
  const calls: { method: string; body: Json }[] = [];
  const views: Json[] = [];
  const problems: string[] = [];
  const state = { trouble: (() => null) as Trouble };
  let count = 0;
  const answers: Readonly<Record<string, (body: Json) => Json>> = {
    'chat.postMessage': (body) => {
      const ts = `${String(Math.floor(Date.now() / 1_000))}.${String(++count).padStart(6, '0')}`;
      messages.set(ts, { ...body, ts } as unknown as Message);
      return { ok: true, channel: body['channel'], ts };
    },
    'chat.update': (body) => {
      const before = messages.get(String(body['ts']));
      if (before === undefined) return { ok: false, error: 'message_not_found' };
      messages.set(before.ts, { ...before, ...body });
      return { ok: true, channel: body['channel'], ts: before.ts };
    },
    'conversations.history': (body) => {
      const found = [...messages.values()].filter((one) => Number(one.ts) >= Number(body['oldest']));
      return { ok: true, messages: found.map(({ ts, metadata }) => ({ type: 'message', ts, metadata })) };
    },
    'auth.test': () => ({ ok: true, team: 'test', team_id: workspace, user_id: 'B1' }),
    'views.open': (body) => {
      views.push(body['view'] as Json);
      return { ok: true, view: body['view'] };
    },
  };
  const server = createServer((request, response) => {
    void read(request).then((text) => handle(request, response, text));
  });
  function handle(request: IncomingMessage, response: ServerResponse, text: string): void {
    const method = (request.url ?? '').replace('/api/', '');
    const say = (status: number, body: Json, headers = {}): void =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    if (request.headers.authorization !== `Bearer ${botToken}`) return say(200, { ok: false, error: 'invalid_auth' });
    const trouble = state.trouble(method);
    if (trouble === 'limited') return say(429, { ok: false, error: 'ratelimited' }, { 'retry-after': '1' });
    if (trouble?.startsWith('refused:')) return say(200, { ok: false, error: trouble.replace('refused:', '') });
    const body = JSON.parse(text) as Json;
    calls.push({ method, body });
    if (method.startsWith('chat.') || method.startsWith('views.')) problems.push(...blockProblems(body));
    const answer = answers[method]?.(body) ?? { ok: false, error: 'unknown_method' };
    // It was done, and its answer does not arrive.
    if (trouble === 'lost') return void response.destroy();
    say(200, answer);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...{ calls, views, problems, state },
    host: `127.0.0.1:${String(port)}`,
    url: `http://127.0.0.1:${String(port)}/api/`,
    get messages(): readonly Message[] {
      return [...messages.values()];
    },
    until: (is: (found: readonly Message[]) => boolean): Promise<readonly Message[]> =>
      eventually(() => [...messages.values()], is),
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export type Slack = Awaited<ReturnType<typeof startSlack>>;

/** Sends the gateway what Slack sends where a person acts, signed as it signs. */
export async function interact(
  gateway: string,
  payload: Json,
  { secret = signingSecret, at = Date.now() }: { readonly secret?: string; readonly at?: number } = {},
) {
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const timestamp = String(Math.floor(at / 1_000));
  const signature = `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    ...{ 'x-slack-request-timestamp': timestamp, 'x-slack-signature': signature },
  };
  const answer = await fetch(`${gateway}/v1/slack/interactions`, { method: 'POST', headers, body });
  return { status: answer.status, body: (await answer.json()) as Json };
}

/** Who acts, as Slack says it: a user of the workspace of the test unless another one is named. */
export interface Acting {
  readonly user: string;
  /** The user’s own workspace or organization; null where Slack does not say. */
  readonly home?: string | null;
  readonly team?: Json | null;
}

function actor(by: string | Acting): Json {
  const {
    user,
    home = workspace,
    team = { id: workspace, domain: 'test' },
  } = typeof by === 'string' ? { user: by } : by;
  return { user: { id: user, ...(home === null ? {} : { team_id: home }) }, team };
}

export const press = (by: string | Acting, action: Json): Json => ({
  ...{ type: 'block_actions', ...actor(by), trigger_id: '1.2.3', actions: [action] },
});

export const submit = (by: string | Acting, view: Json, reason: string | null): Json => ({
  ...{ type: 'view_submission', ...actor(by) },
  view: { ...view, state: { values: { reason: { reason: { type: 'plain_text_input', value: reason } } } } },
});

/** The buttons of a message, by their actions. */
export function buttonsOf({ blocks }: Message): ReadonlyMap<string, Json> {
  const elements = blocks.flatMap((one) => (one['type'] === 'actions' ? (one['elements'] as Json[]) : []));
  return new Map(elements.map((one) => [String(one['action_id']), one]));
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
