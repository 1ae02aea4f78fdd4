// What the code of a call may have changed is not used here: what follows was taken before any code of a tool ran.
const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf, apply } = Reflect;
const same = Object.is;
const text = String;

interface Kept {
  readonly name: string;
  readonly object: object;
  readonly prototype: object | null;
  readonly keys: readonly PropertyKey[];
  readonly properties: readonly PropertyDescriptor[];
}

/** Objects of the language that no global names. */
const unnamed: readonly (readonly [string, object])[] = [
  ['%IteratorPrototype%', getPrototypeOf(getPrototypeOf([][Symbol.iterator]()) as object) as object],
  ['%ArrayIteratorPrototype%', getPrototypeOf([][Symbol.iterator]()) as object],
  ['%TypedArray%', getPrototypeOf(Uint8Array) as object],
  ['%TypedArray%.prototype', getPrototypeOf(Uint8Array.prototype) as object],
  ['%AsyncFunction%.prototype', getPrototypeOf(async () => undefined) as object],
  ['%GeneratorFunction%.prototype', getPrototypeOf(function* () {}) as object],
];

/** Objects beside functions whose members code shares. */
const shared = new Set(['Atomics', 'Intl', 'JSON', 'Math', 'Reflect', 'WebAssembly', 'console', 'globalThis']);

/**
 * Notes what all code of the process shares: globals, constructors, prototypes. The function that it gives names a
 * part that was changed since; null where none was. It takes some tenths of a millisecond.
 */
export function watchIntrinsics(): () => string | null {
  const kept: Kept[] = [];
  const seen = new WeakSet();
  const keep = (name: string, object: unknown): void => {
    if ((typeof object !== 'object' && typeof object !== 'function') || object === null || seen.has(object)) return;
    seen.add(object);
    const keys = ownKeys(object);
    const properties = keys.map((key) => getOwnPropertyDescriptor(object, key) as PropertyDescriptor);
    kept[kept.length] = { name, object, prototype: getPrototypeOf(object), keys, properties };
  };
  // To read some globals is to load them, which adds others: once for all, before they are noted.
  for (const name of ownKeys(globalThis)) getOwnPropertyDescriptor(globalThis, name);
  keep('globalThis', globalThis);
  for (const [name, object] of unnamed) keep(name, object);
  for (const name of ownKeys(globalThis)) {
    // An accessor loads what it names when it is first read, which is left to the tool.
    const value: unknown = getOwnPropertyDescriptor(globalThis, name)?.value;
    const called = String(name);
    if (typeof value !== 'function' && !shared.has(called)) continue;
    keep(called, value);
    keep(`${called}.prototype`, (value as { readonly prototype?: unknown }).prototype);
  }
  return () => {
    for (let at = 0; at < kept.length; at++) {
      const changed = changeIn(kept[at] as Kept);
      if (changed !== null) return changed;
    }
    return null;
  };
}

function changeIn({ name, object, prototype, keys, properties }: Kept): string | null {
  if (getPrototypeOf(object) !== prototype) return name;
  const now = ownKeys(object);
  if (now.length !== keys.length) return `${name}.${newIn(now, keys)}`;
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as PropertyKey;
    const found = getOwnPropertyDescriptor(object, key);
    if (found === undefined || !isSame(object, properties[at] as PropertyDescriptor, found))
      return `${name}.${text(key)}`;
  }
  return null;
}

function isSame(object: object, before: PropertyDescriptor, now: PropertyDescriptor): boolean {
  if (before.get === now.get && before.set === now.set && same(before.value, now.value)) return true;
  // A global of Node that is loaded when it is first read is a value from then on.
  if (object !== globalThis || before.get === undefined || now.get !== undefined) return false;
  try {
    return same(apply(before.get, globalThis, []), now.value);
  } catch {
    return false;
  }
}

/** The name of a key that was added or taken away. */
function newIn(now: readonly PropertyKey[], before: readonly PropertyKey[]): string {
  const [more, fewer] = now.length > before.length ? [now, before] : [before, now];
  for (let at = 0; at < more.length; at++) if (more[at] !== fewer[at]) return text(more[at] as PropertyKey);
  return '';
}
