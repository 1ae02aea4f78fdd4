import type { Request } from 'express';
import { deepestJson, defaultAgent, evaluatorFor, isDeeperThan, wildcard } from '@sluice/core';
import type { Evaluator, JsonObject, JsonValue, Principal } from '@sluice/core';
import type { QuestionPart } from '@sluice/run';
import { decodeRequest, RequestFault } from '@sluice/wires';
import type { DecodedRequest } from '@sluice/wires';
import { Refusal } from '../refusal.js';
import { idOfKey } from '../repeated-request.js';
import { requestOf } from '../requests.js';
import type { NamedRequest } from '../requests.js';
import { clearJson } from '../strict-body.js';
import { answerSchemaIn, isHeldAnswer } from './answer-form.js';
import { chosenTool, clientToolsOf } from './client-tools.js';
import { modelPrefix } from './door.js';
import type { DoorBody, DoorWire } from './door.js';
import type { Earlier } from './earlier.js';
import { ignoredParameters } from './parameters.js';
import { saidIn } from './said.js';
import { samplingIn } from './sampling.js';

type Body = Readonly<Record<string, unknown>>;
type Sent = Request & { rawBody?: Buffer };

/** A request of a wire as one for a run. */
export interface DoorRequest {
  readonly request: NamedRequest;
  readonly isNamed: boolean;
  readonly parts: readonly QuestionPart[];
  readonly model: string;
  readonly isStreamed: boolean;
  /** Whether the answer has to fit a schema. */
  readonly isHeld: boolean;
  /** What the client sent and nothing reads. */
  readonly ignored: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** What an answer of Responses repeats. */
  readonly repeated: Readonly<Record<string, JsonValue>>;
}

/** What a client may say of its run in a header, or in `metadata` by the other name. */
const wishes = { groups: 'sluice_groups', state: 'sluice_state', session: 'sluice_session' } as const;

/** What a request is read by. */
interface Reading {
  readonly agents: readonly string[];
  readonly evaluator: Evaluator;
  /** What the response was asked and answered that this one goes on from. */
  readonly earlier: (id: string) => Promise<Earlier>;
}

/** Reads the body of a request. Throws Refusal(400, 413 or 415). */
export function doorBody(wire: DoorWire, http: Sent): DoorBody {
  const raw = http.rawBody?.toString('utf8') ?? '';
  const body = objectIn(clearJson(http));
  if (isDeeperThan(body as JsonObject, deepestJson))
    throw invalid(`The body is nested deeper than ${deepestJson} levels. Send a flatter one.`);
  return { body, decoded: decodedOf(wire, raw) };
}

/** Reads a request of the wire. Throws Refusal(400, 401, 404 or 409). */
export async function doorRequest(
  wire: DoorWire,
  http: Sent,
  caller: Principal,
  { body, decoded }: DoorBody,
  { agents, evaluator, earlier }: Reading,
): Promise<DoorRequest> {
  const { configuration } = evaluator;
  const agent = agentOf(decoded.model, agents);
  const ignored = ignoredParameters(wire, body);
  const metadata = metadataIn(body);
  const answerSchema = answerSchemaIn(wire, body);
  const clientTools = clientToolsOf(decoded, agent, evaluator);
  const { model } = evaluatorFor(evaluator, { agent, call: null }).configuration;
  const { sampling, members } = samplingIn(body, decoded, model);
  const before = await earlierOf(body, earlier);
  const said = saidIn(decoded, before?.conversation ?? []);
  const wish = (name: keyof typeof wishes): string | null =>
    http.get(`x-sluice-${name}`) ?? metadata[wishes[name]] ?? null;
  const asked = {
    ...(agent === defaultAgent ? {} : { agent }),
    ...{
      question: said.question,
      conversation: said.conversation,
      state: wish('state'),
      session_id: wish('session') ?? before?.sessionId ?? null,
    },
    group: groupsOf(wish('groups'), caller),
    connections: allOf(caller.connections),
    tool_choice: choiceOf(decoded, clientTools),
    answer_schema: answerSchema,
    sampling,
  };
  const { request, isNamed } = requestOf(asked, idOfKey(http, caller), configuration.limits);
  const known: readonly string[] = Object.values(wishes);
  const unread = Object.keys(metadata).filter((name) => !known.includes(name));
  const deeper = decoded.beyond.filter((path) => !Object.hasOwn(body, path));
  return {
    isHeld: isHeldAnswer(wire, body, decoded.model, configuration),
    request: { ...request, clientTools },
    ...{ isNamed, parts: said.parts, model: decoded.model, isStreamed: decoded.stream, metadata },
    repeated: repeatedIn(body),
    ignored: [
      ...[...ignored, ...deeper].filter((name) => !members.includes(name)),
      ...said.ignored,
      ...(wire === 'openai-responses' ? [] : unread.map((name) => `metadata.${name}`)),
    ],
  };
}

/** The response that a request goes on from; null for a new conversation. */
async function earlierOf({ previous_response_id: id }: Body, earlier: Reading['earlier']): Promise<Earlier | null> {
  if (id === undefined || id === null) return null;
  if (typeof id !== 'string') throw invalid('`previous_response_id` must be a text.', 'previous_response_id');
  return earlier(id);
}

export function repeatedIn({
  previous_response_id: id = null,
  instructions = null,
  text,
  reasoning,
}: Body): DoorRequest['repeated'] {
  const { format } = (text ?? {}) as { readonly format?: JsonValue };
  const { summary = null } = (reasoning ?? {}) as { readonly summary?: JsonValue };
  return {
    ...{ previous_response_id: id as JsonValue, instructions: instructions as JsonValue },
    ...(format === undefined || format === null ? {} : { text: { format } }),
    ...(summary === null ? {} : { reasoning: { effort: null, summary } }),
  };
}

function decodedOf(wire: DoorWire, raw: string): DecodedRequest {
  try {
    return decodeRequest(wire, raw);
  } catch (error) {
    if (error instanceof RequestFault) throw invalid(error.message);
    throw error;
  }
}

/** The agent that a model’s name stands for. Throws Refusal(400 or 404). */
function agentOf(model: string, agents: readonly string[]): string {
  const names = agents.map((name) => `${modelPrefix}${name}`).join(', ');
  if (model === '') throw invalid(`Name a model: ${names}.`, 'model');
  const name = model.startsWith(modelPrefix) ? model.slice(modelPrefix.length) : '';
  if (agents.includes(name)) return name;
  const more = { param: 'model', wire_code: 'model_not_found' };
  throw new Refusal(404, 'not_found', `There is no such model here. There is ${names}.`, {}, more);
}

/** Every group that the credential permits, as over MCP, or those of them that the request names. */
function groupsOf(named: string | null, { groups }: Principal): readonly string[] {
  if (named === null) return allOf(groups);
  return named
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function allOf(names: readonly string[]): readonly string[] {
  return names.includes(wildcard) ? [wildcard] : names;
}

function choiceOf({ toolChoice }: DecodedRequest, clientTools: string | null): string | null {
  if (toolChoice === null) return null;
  return toolChoice.type === 'tool' ? chosenTool(toolChoice.id, clientTools) : toolChoice.type;
}

export function metadataIn({ metadata = {} }: Body): Readonly<Record<string, string>> {
  if (metadata === null) return {};
  const given = objectIn(metadata, 'metadata');
  const odd = Object.entries(given).find(([, value]) => typeof value !== 'string');
  // Anthropic has `user_id: null`.
  if (odd !== undefined && odd[1] !== null) throw invalid('`metadata` must have texts alone.', 'metadata');
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as Record<string, string>;
}

function objectIn(value: unknown, name = 'The body'): Body {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Body;
  throw invalid(`${name} must be a JSON object.`);
}

function invalid(message: string, param: string | null = null): Refusal {
  return new Refusal(400, 'invalid_request', message, {}, { param });
}
