import { isJsonObject, type JsonValue } from '../json.js';
import type { ToolExecResult } from './types.js';

const hidden = '[hidden]';

/**
 * The credentials that a call was given, in the forms in which they may be written. Whatever leaves the call goes
 * through here: a tool may repeat its credential, out of carelessness or worse.
 */
export class CallSecrets {
  private readonly forms = new Set<string>();
  private found = false;

  add(forms: readonly string[]): void {
    for (const form of forms) if (form !== '') this.forms.add(form);
  }

  /** Whether something was taken out so far. */
  get wereFound(): boolean {
    return this.found;
  }

  /** The text without them. The longest form goes first: it may hold a shorter one. */
  text(text: string): string {
    let rest = text;
    for (const form of [...this.forms].sort((a, b) => b.length - a.length)) {
      if (!rest.includes(form)) continue;
      this.found = true;
      rest = rest.replaceAll(form, hidden);
    }
    return rest;
  }

  /** The result without them, names of members included; the same object where it holds none. */
  result(result: ToolExecResult): ToolExecResult {
    if (this.forms.size === 0) return result;
    const before = this.found;
    this.found = false;
    const left = result.ok
      ? { ...result, value: this.value(result.value) }
      : { ...result, safeMessage: this.text(result.safeMessage) };
    const hasOne = this.found;
    this.found ||= before;
    return hasOne ? left : result;
  }

  /** The value without them, names of members included. */
  value(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.text(String(value)) === String(value) ? value : hidden;
    if (Array.isArray(value)) return value.map((item: JsonValue) => this.value(item));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [this.text(name), this.value(member)]));
  }
}
