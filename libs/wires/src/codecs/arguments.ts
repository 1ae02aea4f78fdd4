import { isObjectText, JsonText, type Writable } from '../json/json-text.js';

/**
 * Wires of objects: no arguments are an empty one, and those that are no object go as the text that the model wrote,
 * in a member that says so.
 */
export function argumentsAsObject(args: string): Writable {
  if (args.trim() === '') return {};
  return isObjectText(args) ? new JsonText(args) : { invalid_json: args };
}
