import { JsonSpan } from '@sluice/wires';

/** The model that a body names; null where it names none or is no JSON. */
export function readModel(body: Buffer): string | null {
  try {
    return JsonSpan.of(body.toString('utf8')).member('model')?.string ?? null;
  } catch {
    return null;
  }
}

/** The body with another model in it, and every other byte as it was. */
export function withBodyModel(body: Buffer, model: string): Buffer {
  const text = body.toString('utf8');
  const span = JsonSpan.of(text).member('model');
  if (span === undefined) return body;
  return Buffer.from(`${text.slice(0, span.start)}${JSON.stringify(model)}${text.slice(span.end)}`);
}
