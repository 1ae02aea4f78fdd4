import { inputRequired, inputResponse } from '@modelcontextprotocol/server';
import type { ElicitRequestFormParams, InputRequiredResult, Server, ServerContext } from '@modelcontextprotocol/server';
import { isJsonObject, printable, printableIn, utf8Length } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import type { CallerForm } from '@sluice/run';
import { hasForms } from './approvals.js';

interface FormAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: JsonObject;
}

/** How the caller fills in a form of the tool’s server. */
export interface FormAnswers {
  /** Null where the client shows forms. */
  readonly without: string | null;
  /** What came with this request; null where no answer to the form, or none that fits it. */
  of(form: CallerForm): FormAnswer | null;
}

const answerBytes = 65_536;
export const noForms = 'The client of this call shows no forms.';

/** A form of the tool’s server, which says whose it is. The client’s answer comes with the same call again. */
export function showForm({ id, server, message, requestedSchema }: CallerForm): InputRequiredResult {
  const text = `The MCP server ${server} asks:\n\n${printable(message)}`;
  // The hub held it to the protocol’s own schema of forms.
  const schema = printableIn(requestedSchema) as unknown as ElicitRequestFormParams['requestedSchema'];
  return inputRequired({ inputRequests: { [id]: inputRequired.elicit({ message: text, requestedSchema: schema }) } });
}

/** What this request brings of answers to forms. */
export function formAnswersIn(server: Server, context: ServerContext): FormAnswers {
  return {
    without: hasForms(server, context) ? null : noForms,
    of: ({ id, requestedSchema }) => {
      const answer = inputResponse(context.mcpReq.inputResponses, id);
      if (answer.kind !== 'elicit') return null;
      const { action, content = {} } = answer;
      if (action !== 'accept') return { action };
      return isOfForm(content as JsonObject, requestedSchema) ? { action, content: content as JsonObject } : null;
    },
  };
}

/** Whether each field is one of the form, and of its type, and none is missing that must be there. */
function isOfForm(content: JsonObject, { properties, required }: JsonObject): boolean {
  if (!isJsonObject(properties) || utf8Length(JSON.stringify(content)) > answerBytes) return false;
  const needed = Array.isArray(required) ? (required as readonly JsonValue[]) : [];
  const has = (name: JsonValue): boolean =>
    typeof name === 'string' && (Object.hasOwn(content, name) || hasDefault(properties[name]));
  return needed.every(has) && Object.entries(content).every(([name, value]) => isOfType(value, properties[name]));
}

function hasDefault(field: JsonValue | undefined): boolean {
  return isJsonObject(field) && field['default'] !== undefined;
}

function isOfType(value: JsonValue, field: JsonValue | undefined): boolean {
  switch (isJsonObject(field) ? field['type'] : undefined) {
    case 'string':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'integer':
      return Number.isInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'array':
      return Array.isArray(value) && value.every((one: JsonValue) => typeof one === 'string');
    default:
      return false;
  }
}
