import { hideSecrets } from '@sluice/run';

const word = 'key|token|secret|password';
/**
 * An argument of a command that holds a secret, as `--api-key=…` or, in a list, `"--token", "…"`. It begins at the
 * start of a word alone and stops at the first of these words, so that a search takes time in proportion to the text.
 */
const named = String.raw`(?<![\w-])-(?:(?!${word})[\w-])*(?:${word})[\w-]*`;
const withValue = new RegExp(String.raw`(${named}=)[^\s"',\]]+`, 'gi');
const inQuery = new RegExp(String.raw`([?&](?:(?!${word})[\w.-])*(?:${word})[\w.-]*=)[^\s"',\]&#]+`, 'gi');
const isNamed = new RegExp(`^${named}$`, 'i');
/** The item of a list behind such an argument, in flow or in block style. */
const nextItem = new RegExp(
  String.raw`(${named}["']?[ \t]*(?:,\s*|\r?\n[ \t]*-[ \t]+))("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s"',\]]+)`,
  'gi',
);

/** The text without secrets, which a configuration should name and not hold. */
export function withoutSecrets(text: string): string {
  return hideSecrets(text)
    .replaceAll(withValue, '$1(hidden)')
    .replaceAll(inQuery, '$1(hidden)')
    .replaceAll(nextItem, (_, before: string, value: string) => {
      const quote = /^["']/.exec(value)?.[0] ?? '';
      return `${before}${quote}(hidden)${quote}`;
    });
}

/** The same for each text of a JSON value. */
export function valueWithoutSecrets<T>(value: T): T {
  return hidden(value) as T;
}

function hidden(value: unknown): unknown {
  if (typeof value === 'string') return withoutSecrets(value);
  if (Array.isArray(value))
    return value.map((item: unknown, place) => {
      const before: unknown = value[place - 1];
      const isSecret = typeof item === 'string' && typeof before === 'string' && isNamed.test(before);
      return isSecret ? '(hidden)' : hidden(item);
    });
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, hidden(member)]));
}
