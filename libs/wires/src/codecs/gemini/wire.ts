import type { JsonSpan } from '../../json/span.js';

export const wire = 'gemini';

/**
 * Gemini 3 refuses a call without its signature; this word stands for one that another model, or an older record,
 * made.
 */
export const withoutSignature = 'skip_thought_signature_validator';

/** The API takes both ways of writing a name. */
export function either(span: JsonSpan | undefined, name: string): JsonSpan | undefined {
  return span?.member(name) ?? span?.member(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

export function bothNames(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => [name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]);
}

export function argsIn(call: JsonSpan): string {
  const args = call.member('args');
  return args === undefined || args.isNull ? '{}' : args.source;
}
