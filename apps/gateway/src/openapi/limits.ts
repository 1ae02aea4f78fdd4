import { standingLimits } from '@sluice/configuration';
import {
  connectionIdForm,
  conversationRoles,
  faultCodes,
  longestAgent,
  mostStandingCalls,
  reasoningEfforts,
  samplingLimits,
  strategyNames,
} from '@sluice/core';
import { allTopics, longestId } from '@sluice/contracts';
import { answerSchemaLimits } from '@sluice/schemas';
import { listedKinds, usageDimensions } from '@sluice/projection';
import { conversationLimits, longestCancelReason, longestContentName, longestName } from '@sluice/run';
import { cursorForm, latestBefore, mostListed } from '../lists/list-query.js';
import { mostIterations } from '../run-views/run-parameters.js';
import { timeForm } from '../times.js';
import type { JsonSchema } from './json-schema.js';
import { streamFormats } from '../stream-format.js';

/** Something is there beside blanks. */
const notBlank: JsonSchema = { minLength: 1, pattern: '\\S' };
const id: JsonSchema = { maxLength: longestId };
const time: JsonSchema = { type: 'string', pattern: timeForm.source };
const text: JsonSchema = { type: 'string', minLength: 1 };

/** The id of a run is a part of an address, which these two are not. */
const requestId: JsonSchema = { ...id, pattern: '^(?!\\.{1,2}$)' };

/** What of bodies is bounded, by the record and the field in it. Null is still what it was. */
const ofFields: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>> = {
  AgentRequest: {
    question: notBlank,
    request_id: requestId,
    session_id: id,
    max_iterations: { minimum: 1 },
    conversation: { maxItems: conversationLimits.messages },
    strategy: { enum: ['', ...strategyNames, null] },
    agent: { maxLength: longestAgent },
    answer_schema: { maxLength: answerSchemaLimits.bytes, contentMediaType: 'application/json' },
    connections: { items: { type: 'string', pattern: `^(?:\\*|(?:${connectionIdForm.source}))$` } },
  },
  ConversationMessage: { role: { enum: [...conversationRoles] } },
  AgentStep: {
    action: notBlank,
    tool_call_id: { minLength: 1, maxLength: longestName },
    arguments: { contentMediaType: 'application/json' },
  },
  Sampling: {
    temperature: { minimum: 0, maximum: samplingLimits.temperature },
    top_p: { minimum: 0, maximum: samplingLimits.topP },
    max_output_tokens: { minimum: 1, maximum: samplingLimits.tokens },
    stop: {
      maxItems: samplingLimits.stops,
      items: { type: 'string', minLength: 1, maxLength: samplingLimits.stopLength },
    },
    seed: { minimum: -2_147_483_648, maximum: 2_147_483_647 },
    reasoning_effort: { enum: [...reasoningEfforts, null] },
  },
  DirectCall: { order: { enum: ['', 'none', null] } },
  Cancellation: { reason: { maxLength: longestCancelReason } },
  ApprovalDecided: { decision: { enum: ['approve', 'refuse'] } },
  StandingApproval: {
    ...{ standing_id: { ...requestId, minLength: 1 }, tool: notBlank, until: { minimum: 1 } },
    ...{ calls: { minimum: 1, maximum: mostStandingCalls }, reason: { maxLength: standingLimits.reason } },
  },
};

/** Fields that the gateway wants in a body although the record has a default for them. */
const wanted: Readonly<Record<string, readonly string[]>> = { AgentStep: ['action'] };

/** Defaults of records that may not be written in a body: such a field is left out. */
const leftOut: Readonly<Record<string, readonly string[]>> = { AgentStep: ['tool_call_id', 'action'] };

export function limitsOfField(record: string, field: string): JsonSchema {
  return ofFields[record]?.[field] ?? {};
}

export function isWanted(record: string, field: string): boolean {
  return wanted[record]?.includes(field) === true;
}

export function isLeftOut(record: string, field: string): boolean {
  return leftOut[record]?.includes(field) === true;
}

/** Fields that services write, and that no body may have. */
const ofServices: Readonly<Record<string, readonly string[]>> = { AgentRequest: ['client_tools'] };

export function isOfServices(record: string, field: string): boolean {
  return ofServices[record]?.includes(field) === true;
}

/** Parameters of the query by their name; others are texts that are not empty. */
const ofParameters: Readonly<Record<string, JsonSchema>> = {
  agent: { ...text, maxLength: longestAgent },
  limit: { type: 'integer', minimum: 1, maximum: mostListed, default: 50 },
  before: { type: 'integer', minimum: 0, maximum: latestBefore },
  cursor: { type: 'string', pattern: cursorForm.source },
  format: { enum: ['json', 'csv'] },
  stream_format: { enum: [...streamFormats], default: 'assistant-transport' },
  document: { enum: ['true', 'false'] },
  kind: { enum: [...listedKinds] },
  text: { type: 'string', minLength: 1, pattern: '[\\p{L}\\p{N}]' },
  by: { enum: [...usageDimensions], default: 'day' },
  topic: { enum: [...allTopics] },
  code: { enum: Object.keys(faultCodes) },
  question: { type: 'string', ...notBlank },
  name: { ...text, maxLength: longestContentName },
  since: time,
  until: time,
  iteration: { type: 'integer', minimum: 1, maximum: mostIterations },
};

export function formOfParameter(name: string): JsonSchema {
  return ofParameters[name] ?? text;
}

/** What the names of a list are, where commas are between them. */
export function formOfListed(name: string): JsonSchema {
  return name === 'connections' ? (ofFields['AgentRequest']?.['connections']?.['items'] as JsonSchema) : text;
}

/** Parts of a path. */
export function formOfPathPart(name: string): JsonSchema {
  return name === 'request_id' ? { type: 'string', ...requestId, minLength: 1 } : text;
}

/** Headers that stand for what a body may have. */
export function formOfHeader(name: string): JsonSchema {
  return name === 'idempotency-key' ? { type: 'string', ...requestId } : { type: 'string' };
}
