// What the code of a call may have changed is not used here: what follows was taken before any code of a tool ran.
const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf, apply } = Reflect;
const same = Object.is;
const text = String;

interface Kept {
  readonly name: string;
  readonly object: object;
  readonly prototype: object | null;
  readonly keys: readonly PropertyKey[];
  /** Those of the keys whose properties are noted. */
  readonly looked: readonly PropertyKey[];
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

/** Globals of a module of Node that takes longer to load than a process to start. To look at one of them loads it. */
const lateNames = new Set<PropertyKey>([
  'CloseEvent',
  'EventSource',
  'FormData',
  'Headers',
  'MessageEvent',
  'Request',
  'Response',
  'WebSocket',
]);
const lateModule = 'NativeModule internal/deps/undici/undici';
/** The modules that Node has loaded. It is nowhere promised: without it there is no way to leave anything out. */
const { moduleLoadList } = process as { readonly moduleLoadList?: readonly string[] };
const isLateLoaded = (): boolean => moduleLoadList?.includes(lateModule) ?? true;

export interface Watch {
  /** Names a part that was changed since; null where none was. It takes some tenths of a millisecond. */
  changed(): string | null;
  /** Whether a call loaded a part that had not been noted, and so may have changed it. */
  readonly missed: boolean;
}

/**
 * Notes what all code of the process shares: globals, constructors, prototypes. What is slow to load is noted if
 * `all`, or if it is loaded already.
 */
export function watchIntrinsics(all: boolean): Watch {
  const isAll = all || isLateLoaded();
  const isLeftOut = (name: PropertyKey): boolean => !isAll && lateNames.has(name);
  const kept: Kept[] = [];
  const seen = new WeakSet();
  const keep = (name: string, object: unknown): void => {
    if ((typeof object !== 'object' && typeof object !== 'function') || object === null || seen.has(object)) return;
    seen.add(object);
    const keys = ownKeys(object);
    const looked = object === globalThis ? keys.filter((key) => !isLeftOut(key)) : keys;
    const properties = looked.map((key) => getOwnPropertyDescriptor(object, key) as PropertyDescriptor);
    kept[kept.length] = { name, object, prototype: getPrototypeOf(object), keys, looked, properties };
  };
  const names = ownKeys(globalThis).filter((name) => !isLeftOut(name));
  // To look at some globals loads them, which changes others: once for all, before they are noted.
  for (const name of names) getOwnPropertyDescriptor(globalThis, name);
  keep('globalThis', globalThis);
  for (const [name, object] of unnamed) keep(name, object);
  for (const name of names) {
    // An accessor loads what it names when it is first read, which is left to the tool.
    const value: unknown = getOwnPropertyDescriptor(globalThis, name)?.value;
    const called = String(name);
    if (typeof value !== 'function' && !shared.has(called)) continue;
    keep(called, value);
    keep(`${called}.prototype`, (value as { readonly prototype?: unknown }).prototype);
  }
  return {
    changed: () => {
      for (let at = 0; at < kept.length; at++) {
        const changed = changeIn(kept[at] as Kept);
        if (changed !== null) return changed;
      }
      return null;
    },
    get missed() {
      return !isAll && isLateLoaded();
    },
  };
}

function changeIn({ name, object, prototype, keys, looked, properties }: Kept): string | null {
  if (getPrototypeOf(object) !== prototype) return name;
  const now = ownKeys(object);
  if (now.length !== keys.length) return `${name}.${newIn(now, keys)}`;
  for (let at = 0; at < looked.length; at++) {
    const key = looked[at] as PropertyKey;
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
