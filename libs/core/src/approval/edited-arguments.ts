import { type JsonValue, isJsonObject } from '../json.js';
import type { Step } from '../run/step.js';
import { redacted } from './redact-arguments.js';

/**
 * The arguments that an approver wrote, with the secrets of the call that it did not see: what the tool’s input schema
 * marks as a secret stays as the call has it, unless the approver wrote another value for it.
 */
export function withOwnSecrets(edited: JsonValue, own: JsonValue, schema: JsonValue | undefined): JsonValue {
  if (!isJsonObject(schema)) return edited;
  if (isSecret(schema)) return edited === redacted ? own : edited;
  if (Array.isArray(edited) && Array.isArray(own)) {
    const items = own as readonly JsonValue[];
    return edited.map((item: JsonValue, place) => {
      const before = items[place];
      return before === undefined ? item : withOwnSecrets(item, before, schema['items']);
    });
  }
  if (!isJsonObject(edited) || !isJsonObject(own)) return edited;
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const schemaOf = (name: string) =>
    Object.hasOwn(properties, name) ? properties[name] : schema['additionalProperties'];
  const written = Object.entries(edited).map(([name, value]) => {
    const before = Object.hasOwn(own, name) ? own[name] : undefined;
    return [name, before === undefined ? value : withOwnSecrets(value, before, schemaOf(name))] as const;
  });
  const left = Object.entries(own).filter(([name]) => {
    const of = schemaOf(name);
    return !Object.hasOwn(edited, name) && isJsonObject(of) && isSecret(of);
  });
  return Object.fromEntries([...written, ...left]);
}

function isSecret(schema: Readonly<Record<string, JsonValue>>): boolean {
  return schema['writeOnly'] === true || schema['format'] === 'password';
}

/** What a model reads of a step’s result: behind what an approver changed, where one did. */
export function observedText({ observation, edited }: Pick<Step, 'observation' | 'edited'>): string {
  if (edited === null) return observation;
  return `${editNote(edited)}\n\n${observation}`;
}

/** Says in a sentence what an approver changed; who it was is not the model’s to know. */
export function editNote({ arguments: given }: Pick<NonNullable<Step['edited']>, 'arguments'>): string {
  return `An approver changed the arguments of this call, which was made with: ${given}`;
}
