import type { JsonObject } from '@sluice/core';
import { faults } from '../../diagnosis.js';
import { JsonText, type Writable, writeJson } from '../../json/json-text.js';
import { objects, text } from '../../json/read.js';
import type { JsonSpan } from '../../json/span.js';

/** Steps of a path, at most. */
const deepest = 64;

type Node = Map<string, Node> | Node[] | string | boolean | null | JsonText;

/** Arguments that come value by value, each with its path: `$.place.names[0]`. A text may come in pieces. */
export class PartialArguments {
  private readonly root = new Map<string, Node>();
  /** All of them, where a call says them at once. */
  whole: string | null = null;

  /** Takes what one call says of its arguments; `source` is the call’s own text, for the digits of its numbers. */
  add(call: JsonObject, source: () => JsonSpan | undefined, at: string): void {
    objects(call, 'partialArgs', at).forEach((arg, index) => {
      const here = `${at}.partialArgs[${String(index)}]`;
      const steps = stepsOf(text(arg, 'jsonPath', here) ?? '', here);
      const written = () => source()?.member('partialArgs')?.items[index];
      const value = valueOf(arg, written, here);
      if (value !== undefined) this.put(steps, value, here);
    });
  }

  /**
   * The arguments as JSON. Of a call that did not end the last brace is missing, so that it is not taken for a whole
   * one.
   */
  json(isWhole: boolean): string {
    if (this.whole !== null) return this.whole;
    const whole = writeJson(writable(this.root));
    return isWhole ? whole : whole.slice(0, -1);
  }

  private put(steps: readonly (string | number)[], value: Node, at: string): void {
    let node: Node = this.root;
    steps.slice(0, -1).forEach((step, index) => {
      node = child(node, step, () => (typeof steps[index + 1] === 'number' ? [] : new Map<string, Node>()), at);
    });
    const last = steps.at(-1) as string | number;
    const before = child(node, last, () => value, at);
    if (before === value) return;
    if (typeof before !== 'string' || typeof value !== 'string')
      throw faults.wrongType(`\`${at}.jsonPath\``, 'a new path');
    set(node, last, before + value);
  }
}

/** What stands in a node at this step; what `make` gives where nothing does. */
function child(node: Node, step: string | number, make: () => Node, at: string): Node {
  const found = node instanceof Map ? node.get(String(step)) : Array.isArray(node) ? node[Number(step)] : undefined;
  if (found !== undefined) return found;
  const isNext = node instanceof Map ? typeof step === 'string' : Array.isArray(node) && step === node.length;
  if (!isNext) throw faults.wrongType(`\`${at}.jsonPath\``, 'the path of a value');
  const made = make();
  set(node, step, made);
  return made;
}

function set(node: Node, step: string | number, value: Node): void {
  if (node instanceof Map) node.set(String(step), value);
  else if (Array.isArray(node)) node[Number(step)] = value;
}

const stepForm = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

function stepsOf(path: string, at: string): readonly (string | number)[] {
  const steps: (string | number)[] = [];
  stepForm.lastIndex = 1;
  while (path.startsWith('$') && stepForm.lastIndex < path.length && steps.length < deepest) {
    const found = stepForm.exec(path);
    if (found === null) break;
    const [, name, index, single, double] = found;
    if (index !== undefined) steps.push(Number(index));
    else steps.push(name ?? (single ?? double ?? '').replace(/\\(.)/g, '$1'));
    if (stepForm.lastIndex === path.length) return steps;
  }
  throw faults.wrongType(`\`${at}.jsonPath\``, 'the path of a value');
}

function valueOf(arg: JsonObject, source: () => JsonSpan | undefined, at: string): Node | undefined {
  const { numberValue, boolValue } = arg;
  if (typeof numberValue === 'number')
    return new JsonText(source()?.member('numberValue')?.source ?? String(numberValue));
  if (typeof boolValue === 'boolean') return boolValue;
  if ('nullValue' in arg) return null;
  return text(arg, 'stringValue', at);
}

function writable(node: Node): Writable {
  if (Array.isArray(node)) return node.map(writable);
  if (!(node instanceof Map)) return node;
  const members = [...node].map(([name, value]) => `${JSON.stringify(name)}:${writeJson(writable(value))}`);
  return new JsonText(`{${members.join(',')}}`);
}
