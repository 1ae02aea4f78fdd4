import { afterAll, describe, expect, it } from '@jest/globals';
import { decodeRequest, type TurnPart, type WireName } from '@sluice/wires';
import { endpointOf } from '@sluice/proxy';
import { findPackages, finish, type Tool } from '../../cluster/outside-tools.js';
import { fullAnswer } from '../../proxy/full-answers.js';
import { type Received, ScriptedUpstream, startTestProxy } from '../../../apps/proxy/test/proxying.js';
import {
  answerIn,
  call,
  contentTypeOf,
  piecesOf,
  searchCall,
  searchName,
  text,
} from '../../../apps/proxy/test/scripted-model.js';

/**
 * The checks of llm-comply, a program that is not ours: bodies by the providers’ schemas, the order of events, what
 * has to be there.
 */
const version = '0.5.0';
const python: Tool = await findPackages([`llm-comply==${version}`], 'llm-comply');

const formats = [
  { format: 'openai-chat', api: 'openai', model: 'gpt-5', base: '/v1' },
  { format: 'open-responses', api: 'openai', model: 'gpt-5', base: '/v1' },
  { format: 'anthropic', api: 'anthropic', model: 'claude-sonnet-4-5', base: '/v1' },
  { format: 'google-genai', api: 'gemini', model: 'gemini-3-pro', base: '' },
] as const;

const open: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

interface Result {
  readonly id: string;
  readonly status: string;
  readonly errors?: readonly string[];
  readonly warnings?: readonly string[];
}

async function comply(url: string, { format, model, base }: (typeof formats)[number]): Promise<readonly Result[]> {
  if ('missing' in python) throw new Error(python.missing);
  const args = ['-m', 'llm_comply.cli', '--json', '-k', 'key', '-u', `${url}${base}`, '-m', model, '--format', format];
  const { output, errors } = await finish(python.command, args, { ...process.env, ...python.variables });
  try {
    const { results } = JSON.parse(output) as { results: readonly Result[] };
    return results.map(({ id, status, errors = [], warnings = [] }) => ({ id, status, errors, warnings }));
  } catch {
    throw new Error(`llm-comply said: ${output}${errors}`);
  }
}

const idBegins: Readonly<Partial<Record<WireName, string>>> = {
  'openai-chat': 'chatcmpl-',
  'openai-responses': 'resp_',
};
const refusals: Readonly<Record<string, string>> = {
  openai: '{"error":{"message":"model is missing","type":"invalid_request_error","param":"model","code":null}}',
  anthropic: '{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens is missing"}}',
  gemini: '{"error":{"code":400,"message":"contents is missing","status":"INVALID_ARGUMENT"}}',
};

/**
 * A model that calls the weather’s tool where it is shown it, looks for it where it can search, and else says a few
 * words.
 */
function turnFor(wire: WireName, body: string): readonly TurnPart[] {
  const names = decodeRequest(wire, body).tools.map(({ name }) => name);
  if (names.includes('get_weather')) return [call('get_weather', { location: 'San Francisco' })];
  if (names.includes(searchName)) return [text('Let me see.'), searchCall('weather')];
  const said = text('One two three.');
  return /"(thinking|reasoning|reasoning_effort|thinkingConfig)"/.test(body)
    ? [{ type: 'reasoning', text: 'Fifteen times thirty-seven.' }, said]
    : [said];
}

async function upstreamFor(api: string): Promise<ScriptedUpstream> {
  let ids = 0;
  const upstream = await ScriptedUpstream.start(async ({ method, target, body }: Received, response) => {
    const endpoint = endpointOf(method, target);
    if (endpoint === null) {
      response.writeHead(404, { 'content-type': 'application/json' }).end(refusals[api]);
      return;
    }
    const given = JSON.parse(body.toString()) as Readonly<Record<string, unknown>>;
    const needed = { openai: 'model', anthropic: 'max_tokens', gemini: 'contents' }[api] ?? '';
    if (given[needed] === undefined) {
      response.writeHead(400, { 'content-type': 'application/json' }).end(refusals[api]);
      return;
    }
    const { wire } = endpoint;
    const stream = endpoint.stream ?? given['stream'] === true;
    const turn = { parts: turnFor(wire, body.toString()), id: `${idBegins[wire] ?? ''}${String(ids++)}` };
    const bytes = fullAnswer(wire, { ...turn, stream, request: given });
    await answerIn(response, contentTypeOf(wire, stream), stream ? piecesOf(bytes, 61) : [bytes]);
  });
  open.push(upstream);
  return upstream;
}

const isHere = !('missing' in python);
const skipped = isHere ? '' : ` (skipped: ${python.missing})`;

(isHere ? describe : describe.skip).each(formats)(`llm-comply, $format${skipped}`, (given) => {
  it('finds nothing wrong in what the proxy answers, with and without a search (DS-107, DS-109)', async () => {
    const upstream = await upstreamFor(given.api);
    const direct = await comply(upstream.url, given);
    // What is wrong with the model itself says nothing of the proxy.
    expect(direct.filter(({ status }) => status !== 'passed')).toEqual([]);
    for (const strategy of ['passthrough', 'tool-search']) {
      const proxy = await startTestProxy(`
pipes: { tool_discovery: { enabled: true, strategy: ${strategy} } }
proxy: { upstreams: { main: { api: ${given.api}, url: '${upstream.url}' } } }
`);
      open.push(proxy);
      const searched = upstream.received.length;
      expect(await comply(proxy.url, given)).toEqual(direct);
      const searches = upstream.received.slice(searched).filter(({ body }) => body.includes(searchName));
      expect(searches.length > 0).toBe(strategy === 'tool-search' && given.api !== 'gemini');
    }
  });
});
