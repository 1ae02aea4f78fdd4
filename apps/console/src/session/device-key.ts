/**
 * The key of this browser: made once, not extractable, kept in IndexedDB, which belongs to this origin alone, its port
 * included. With it a reload signs in again, though no token is kept anywhere.
 */
const database = 'sluice-console';
const store = 'sign-in';
const algorithm = { name: 'ECDSA', namedCurve: 'P-256' } as const;

interface Kept {
  readonly privateKey: CryptoKey;
  readonly publicKey: Readonly<Record<string, unknown>>;
}

/** Its public part; null where the browser gives none: over plain HTTP from another machine, in private windows. */
export async function consoleKey(): Promise<Readonly<Record<string, unknown>> | null> {
  try {
    const found = await read<Kept>('key');
    if (found !== undefined) return found.publicKey;
    const pair = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
    const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', pair.publicKey);
    const made: Kept = { privateKey: pair.privateKey, publicKey: { kty, crv, x, y } };
    await write('key', made);
    return made.publicKey;
  } catch {
    return null;
  }
}

/** Keeps what the gateway gave for this key. */
export async function rememberSession(session: string): Promise<void> {
  await write('session', session);
}

export async function rememberedSession(): Promise<string | null> {
  try {
    return (await read<string>('session')) ?? null;
  } catch {
    return null;
  }
}

/** The time in milliseconds, and the key’s signature over the session and it: r and s, as WebCrypto gives them. */
export async function signedTime(session: string): Promise<{ readonly at: number; readonly signature: string }> {
  const key = await read<Kept>('key');
  if (key === undefined) throw new Error('This browser has no key to sign in by.');
  const at = Date.now();
  const bytes = new TextEncoder().encode(`${session}.${at}`);
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key.privateKey, bytes);
  return { at, signature: base64url(new Uint8Array(signature)) };
}

export async function forgetKey(): Promise<void> {
  await new Promise<void>((resolve) => {
    const request = indexedDB.deleteDatabase(database);
    request.onsuccess = request.onerror = request.onblocked = () => resolve();
  });
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(database, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(store);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('IndexedDB could not be opened.'));
  });
}

async function within<T>(mode: IDBTransactionMode, act: (objects: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await opened();
  try {
    return await new Promise<T>((resolve, reject) => {
      const request = act(db.transaction(store, mode).objectStore(store));
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error ?? new Error('IndexedDB refused.'));
    });
  } finally {
    db.close();
  }
}

const read = <T>(name: string): Promise<T | undefined> => within('readonly', (objects) => objects.get(name));
const write = (name: string, value: unknown): Promise<IDBValidKey> =>
  within('readwrite', (objects) => objects.put(value, name));
