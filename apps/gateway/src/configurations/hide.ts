import { hideSecrets } from '@sluice/run';

/** An argument of a command that holds a secret, as `--api-key=…` or, in a list, `"--token", "…"`. */
const named = String.raw`--?[\w-]*(?:key|token|secret|password)[\w-]*`;
const withValue = new RegExp(String.raw`(\B${named}=)[^\s"',\]]+`, 'gi');
const isNamed = new RegExp(`^${named}$`, 'i');
const beforeValue = new RegExp(String.raw`("${named}"\s*,\s*")[^"]*(?=")`, 'gi');

/** The text without secrets, which a configuration should name and not hold. */
export function withoutSecrets(text: string): string {
  return hideSecrets(text).replaceAll(withValue, '$1(hidden)').replaceAll(beforeValue, '$1(hidden)');
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
