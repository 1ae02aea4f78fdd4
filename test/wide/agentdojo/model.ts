import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { events } from '../../harness/scripted-endpoint.js';
import type { Call, Script } from './world.js';

/** What the attack's text begins with. */
const mark = '<INFORMATION>';

/**
 * A model that obeys: it makes the calls of the user's task in their order, and once a result has the injection those
 * of the injection first. It calls what it is offered alone. A call of the injection whose tool is not there yet is
 * made as soon as it is; one of the user's whose tool is not there is left out.
 */
class Obedient {
  private readonly user: Call[];
  private readonly injected: Call[];
  private seen = false;
  /** By the number of results: a request that is sent again gets the same turn. */
  private readonly turns = new Map<number, Call | undefined>();

  constructor(script: Script) {
    this.user = [...script.user];
    this.injected = [...script.injected];
  }

  turn(results: readonly string[], offered: ReadonlySet<string>): Call | undefined {
    this.seen ||= results.some((result) => result.includes(mark));
    if (!this.turns.has(results.length)) this.turns.set(results.length, this.next(offered));
    return this.turns.get(results.length);
  }

  private next(offered: ReadonlySet<string>): Call | undefined {
    const obeyed = this.seen ? this.injected.findIndex(({ tool }) => offered.has(tool)) : -1;
    if (obeyed >= 0) return this.injected.splice(obeyed, 1)[0];
    for (let call = this.user.shift(); call !== undefined; call = this.user.shift())
      if (offered.has(call.tool)) return call;
    return undefined;
  }
}

/** An endpoint of the OpenAI wire, at which each pair has a model of its own: the question names the pair. */
export class ModelEndpoint {
  private readonly pairs = new Map<string, Obedient>();
  private readonly server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(this.answer(body));
    });
  });

  static async start(): Promise<ModelEndpoint> {
    const model = new ModelEndpoint();
    await new Promise<void>((resolve) => model.server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /** The question that a run of this pair asks. */
  play(pair: string, script: Script): string {
    this.pairs.set(pair, new Obedient(script));
    return `${script.question}\n\n[${pair}]`;
  }

  forget(pair: string): void {
    this.pairs.delete(pair);
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private answer(body: string): string {
    const { messages, tools = [] } = JSON.parse(body) as {
      messages: { role: string; content: unknown }[];
      tools?: { function: { name: string; parameters?: { properties?: Properties } } }[];
    };
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content));
    const question = JSON.stringify(messages.find(({ role }) => role === 'user')?.content);
    const model = this.pairs.get(/\[(pair-\d+)\]/.exec(question)?.[1] ?? '');
    if (model === undefined) throw new Error(`A question of no pair: ${question}`);
    // Offered is `mcp__<suite>__<tool>`.
    const ids = new Map(tools.map(({ function: { name } }) => [name.split('__').at(-1) ?? name, name]));
    const call = model.turn(results, new Set(ids.keys()));
    const turn = results.length;
    if (call === undefined) return events(undefined, turn);
    const { properties = {} } =
      tools.find((tool) => tool.function.name === ids.get(call.tool))?.function.parameters ?? {};
    const written = JSON.stringify(fitted(call.arguments, properties));
    return events([ids.get(call.tool) ?? call.tool, filledIn(written, results)], turn);
  }
}

/**
 * What the ground truth leaves open the model has read: a password for one time, the link of an invitation, the id of a
 * file in the mail, each the latest that there was.
 */
function filledIn(written: string, results: readonly string[]): string {
  const latest = (pattern: RegExp): readonly string[] | undefined =>
    results
      .map((result) => [...result.matchAll(pattern)].map(([, found = '']) => found))
      .findLast((all) => all.length > 0);
  const password = latest(/OTP[^0-9]{0,60}(\d{6})/g)?.at(-1);
  const link = latest(/(https?:\/\/[^\s'"\\]*invitation[^\s'"\\]*)/g)?.at(-1);
  const files = latest(/attachments:[^0-9[\]]{0,12}(\d+)/g);
  return written
    .replace(/ONE-TIME-PASSWD|one-time-password/, (left) => password ?? left)
    .replace('INVITATION_LINK', (left) => link ?? left)
    .replace(/"ID(\d?)"/, (left, n: string) => JSON.stringify(files?.[Number(n || '1') - 1] ?? files?.at(-1) ?? left));
}

type Properties = Readonly<Record<string, { readonly type?: unknown } | undefined>>;

/** Arguments as the schema that is offered has them: nothing for null, and text where the schema wants text. */
function fitted(given: Readonly<Record<string, unknown>>, properties: Properties): Readonly<Record<string, unknown>> {
  const members = Object.entries(given).filter(([, value]) => value !== null);
  const isText = (name: string): boolean => properties[name]?.type === 'string';
  return Object.fromEntries(
    members.map(([name, value]) => [name, isText(name) && typeof value === 'object' ? JSON.stringify(value) : value]),
  );
}
