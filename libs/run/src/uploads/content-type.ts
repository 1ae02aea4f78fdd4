/** What the first bytes of a file say of it. */
type FoundType =
  | { readonly ok: true; readonly type: string }
  /** `why` goes on after the file’s name. */
  | { readonly ok: false; readonly why: string };

/** Bytes at the beginning of a file by which its type is found. */
export const typeBytes = 4_096;

/** Types that are known by a file’s first bytes, and what those are, as Latin-1. */
const signatures: readonly (readonly [type: string, begins: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
  ['application/pdf', /^[^]{0,1016}%PDF-\d/],
  ['audio/wav', /^RIFF[^]{4}WAVE/],
  ['audio/mpeg', /^(?:ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/],
  ['audio/ogg', /^OggS/],
  ['audio/flac', /^fLaC/],
];

const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

/** Types by the ending of a file’s name, where its sender gives none. */
const endings: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  docx: word,
  flac: 'audio/flac',
  gif: 'image/gif',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  markdown: 'text/markdown',
  md: 'text/markdown',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  wav: 'audio/wav',
  webp: 'image/webp',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
};

/**
 * The media type of a file by its first bytes: what it is declared to be is believed of no image, sound or PDF, and of
 * text alone that is text. `declared` and `name` may be null.
 */
export function findType(head: Uint8Array, declared: string | null, name: string | null): FoundType {
  const latin = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, typeBytes)).toString('latin1');
  const found = signatures.find(([, begins]) => begins.test(latin))?.[0];
  if (found !== undefined) return { ok: true, type: found };
  const given = bare(declared) ?? byEnding(name);
  if (given !== null && given !== 'image/svg+xml') {
    if (given.startsWith('image/'))
      return { ok: false, why: `says ${given}, and is no PNG, JPEG, GIF or WebP image. Convert it to one of these.` };
    if (given.startsWith('audio/'))
      return { ok: false, why: `says ${given}, and is no WAV, MP3, Ogg or FLAC sound. Convert it to one of these.` };
    if (given === 'application/pdf')
      return { ok: false, why: 'says application/pdf, and is no PDF. Send one that opens, or correct its type.' };
  }
  if (isText(head)) return { ok: true, type: given ?? 'text/plain' };
  const isArchive = given === word && latin.startsWith('PK\u0003\u0004');
  const isOther = given !== null && !/^(?:text\/|image\/)|[/+](?:json|xml|yaml)$/.test(given) && given !== word;
  return { ok: true, type: isArchive || isOther ? given : 'application/octet-stream' };
}

/** What a file of this type, which was found, is for a model. */
export function kindOfType(type: string): 'image' | 'audio' | 'file' {
  const [kind] = type.split('/', 1);
  const isFound = signatures.some(([one]) => one === type);
  return isFound && (kind === 'image' || kind === 'audio') ? kind : 'file';
}

/** A media type without its parameters; null for what is none, or says no more than that these are bytes. */
function bare(type: string | null): string | null {
  const [given = ''] = (type ?? '').split(';', 1);
  const clear = given.trim().toLowerCase();
  const isOne = clear.length <= 127 && /^[\w.+-]+\/[\w.+-]+$/.test(clear);
  return isOne && clear !== 'application/octet-stream' ? clear : null;
}

function byEnding(name: string | null): string | null {
  const ending = /\.([a-z0-9]+)$/i.exec(name ?? '')?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(endings, ending) ? (endings[ending] ?? null) : null;
}

/** Whether the beginning of a file reads as UTF-8 or marked UTF-16; a character may be cut at its end. */
function isText(head: Uint8Array): boolean {
  const [first, second] = head;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    // eslint-disable-next-line no-control-regex -- these are what no text has
    return !/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]/.test(text);
  } catch {
    return false;
  }
}
