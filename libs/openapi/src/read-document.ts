import { readFile, realpath } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isJsonObject, wellFormed } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import type { GuardedRequests } from './guarded-requests.js';

/** Bytes of a document, or of a file that it refers to. */
const mostBytes = 67_108_864;
/** Files that a document is made of. */
const mostFiles = 200;

/** Why a document cannot be used, a sentence. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
}

/**
 * Reads a document, of a file or an address, as one object whose references all lead into itself. References to other
 * files are put in place where these are in the document’s folder, or below its address; no other is read or fetched.
 * Throws a DocumentError.
 */
export async function readDocument(place: string, requests: GuardedRequests, signal: AbortSignal): Promise<JsonObject> {
  const isAddress = /^https?:\/\//i.test(place);
  const root = isAddress ? new URL(place).href : pathToFileURL(await real(resolve(place))).href;
  const read = (url: string): Promise<string> =>
    isAddress ? fetched(url, requests, signal) : text(fileURLToPath(url));
  const document = await parsed(await read(root), place);
  if (!hasOthers(document)) return document;
  return inOne(document, root, read);
}

async function inOne(document: JsonObject, root: string, read: (url: string) => Promise<string>): Promise<JsonObject> {
  const { $RefParser } = await import('@apidevtools/json-schema-ref-parser');
  const folder = new URL('.', root).href;
  let files = 0;
  // What the reader of references throws says less.
  let refused: DocumentError | null = null;
  const readPart = async (url: string): Promise<string> => {
    const address = /^[a-z]+:\/\//i.test(url) ? url : pathToFileURL(url).href;
    if (!address.startsWith(folder) || !(await isWithin(address, folder)))
      throw new DocumentError(
        `It refers to ${shown(url)}, which is not in its own folder: nothing outside of that is read. Put it there, or the parts into one document.`,
      );
    if (++files > mostFiles) throw new DocumentError(`It is made of more than ${String(mostFiles)} files.`);
    return read(address.replace(/#.*$/, ''));
  };
  const resolver = {
    order: 1,
    canRead: true,
    read: async ({ url }: { readonly url: string }): Promise<string> => {
      try {
        return await readPart(url);
      } catch (error) {
        if (error instanceof DocumentError) refused ??= error;
        throw error;
      }
    },
  };
  const parser = {
    order: 1,
    canParse: true,
    parse: async ({ data, url }: { readonly data: unknown; readonly url: string }) => {
      try {
        return await parsed(String(data), url);
      } catch (error) {
        if (error instanceof DocumentError) refused ??= error;
        throw error;
      }
    },
  };
  try {
    const path = root.startsWith('file:') ? fileURLToPath(root) : root;
    const whole = await $RefParser.bundle(path, structuredClone(document), {
      resolve: { file: false, http: false, own: resolver },
      parse: { json: false, yaml: false, text: false, binary: false, own: parser },
    });
    return whole as JsonObject;
  } catch (error) {
    throw (
      refused ??
      new DocumentError(`Its references could not be put in place: ${(error as Error).message}`, { cause: error })
    );
  }
}

/** Whether some reference leads to another file. */
function hasOthers(value: JsonValue): boolean {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).some(hasOthers);
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([key, one]) =>
    key === '$ref' && typeof one === 'string' ? !one.startsWith('#') : !isExample(key) && hasOthers(one),
  );
}

/** What is said as an example is no part of the document. */
function isExample(key: string): boolean {
  return key === 'example' || key === 'examples' || key === 'default' || key === 'enum';
}

/** A link in the folder may lead out of it. */
async function isWithin(address: string, folder: string): Promise<boolean> {
  if (!folder.startsWith('file:')) return true;
  const [file, home] = [await real(fileURLToPath(address.replace(/#.*$/, ''))), await real(fileURLToPath(folder))];
  return file.startsWith(home.endsWith(sep) ? home : `${home}${sep}`) || dirname(file) === home;
}

async function real(file: string): Promise<string> {
  return realpath(file).catch(() => file);
}

async function text(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a folder' : message;
    throw new DocumentError(`The document ${shown(file)} cannot be read: ${why}.`, { cause: error });
  }
  if (bytes.byteLength > mostBytes) throw tooLarge(file);
  return bytes.toString('utf8');
}

async function fetched(url: string, requests: GuardedRequests, signal: AbortSignal): Promise<string> {
  const { status, bytes } = await requests.get(url, { mostBytes, signal }).catch((error: unknown) => {
    throw new DocumentError(`The document ${shown(url)} cannot be fetched: ${(error as Error).message}`, {
      cause: error,
    });
  });
  if (status !== 200)
    throw new DocumentError(`The document ${shown(url)} cannot be fetched: its server answers ${String(status)}.`);
  return new TextDecoder().decode(bytes);
}

async function parsed(text: string, place: string): Promise<JsonObject> {
  let value: unknown;
  try {
    value = /^\s*[[{]/.test(text) ? JSON.parse(text) : undefined;
  } catch {
    // A flow map of YAML begins so, too.
  }
  if (value === undefined) {
    const { parse } = await import('yaml');
    try {
      value = parse(text, { uniqueKeys: false, maxAliasCount: 1_000, logLevel: 'error' });
    } catch (error) {
      const [line = ''] = (error as Error).message.split('\n');
      throw new DocumentError(`${shown(place)} is neither JSON nor YAML: ${line}`, { cause: error });
    }
  }
  const document = wellFormed(value) as JsonValue;
  if (!isJsonObject(document)) throw new DocumentError(`${shown(place)} holds no object.`);
  return document;
}

function tooLarge(place: string): DocumentError {
  return new DocumentError(`The document ${shown(place)} has more than ${String(mostBytes / 1_048_576)} MB.`);
}

/** Without a query, which may hold a key. */
function shown(place: string): string {
  return (/^https?:/i.test(place) ? place.replace(/[?#].*$/, '') : place).slice(0, 300);
}
