import { applyEdits, readBody } from '@sluice/wires';

/** The model that a body names; null where it names none or is no JSON. */
export function readModel(body: Buffer): string | null {
  try {
    return readBody(body).member('model')?.string ?? null;
  } catch {
    return null;
  }
}

/** The body with another model in it, and every other byte as it was. */
export function withBodyModel(body: Buffer, model: string): Buffer {
  const root = readBody(body);
  const span = root.member('model');
  if (span === undefined) return body;
  const edit = { of: span.text, start: span.start, end: span.end, text: JSON.stringify(model) };
  return Buffer.from(applyEdits(root, [edit]));
}
