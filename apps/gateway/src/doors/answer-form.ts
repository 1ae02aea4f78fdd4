import { isJsonObject } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { Refusal } from '../refusal.js';
import { modelPrefix } from './door.js';
import type { DoorWire } from './door.js';

type Body = Readonly<Record<string, unknown>>;

/** What an answer has to be, as a client says it, and where it says that. */
interface WrittenForm {
  readonly param: string;
  readonly form: unknown;
}

/** The schema that the client wants its answer to fit, as JSON text; null for any text. Throws Refusal(400). */
export function answerSchemaIn(wire: DoorWire, body: Body): string | null {
  const { param, form } = writtenForm(wire, body);
  if (form === null || form === undefined) return null;
  const { type, schema, json_schema: named } = isJsonObject(form) ? form : {};
  switch (type) {
    case 'text':
      return null;
    case 'json_object':
      return '{"type":"object"}';
    case 'json_schema': {
      const given = wire === 'openai-chat' ? (isJsonObject(named) ? named['schema'] : undefined) : schema;
      // Chat Completions lets it be left out.
      if (given === undefined && wire === 'openai-chat') return '{"type":"object"}';
      if (isJsonObject(given)) return JSON.stringify(given);
      throw refused(param, `Give the JSON Schema in ${param}, as an object.`);
    }
    default:
      throw refused(param, `Give ${param} the type text, json_object or json_schema, or leave it out.`);
  }
}

/** Whether the answer of a run is JSON, by its request or by its agent: then no other words stand beside it. */
export function isHeldAnswer(wire: DoorWire, body: Body, model: string, { agents = {} }: Configuration): boolean {
  const name = model.slice(modelPrefix.length);
  const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
  return agent?.answerSchema !== undefined || answerSchemaIn(wire, body) !== null;
}

function writtenForm(wire: DoorWire, body: Body): WrittenForm {
  const inside = (name: string): unknown => {
    const holder = body[name];
    return isJsonObject(holder) ? holder['format'] : undefined;
  };
  switch (wire) {
    case 'openai-chat':
      return { param: 'response_format', form: body['response_format'] };
    case 'openai-responses':
      return { param: 'text.format', form: inside('text') };
    case 'anthropic': {
      const form = inside('output_config');
      // Its name before it moved, which clients still send.
      const former = { param: 'output_format', form: body['output_format'] };
      return form === undefined || form === null ? former : { param: 'output_config.format', form };
    }
  }
}

function refused(param: string, message: string): Refusal {
  return new Refusal(400, 'invalid_request', message, {}, { param, wire_code: 'unsupported_parameter' });
}
