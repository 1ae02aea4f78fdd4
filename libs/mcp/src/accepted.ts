const json = 'application/json';
const events = 'text/event-stream';

/**
 * What a client accepts, in the words that the protocol asks for: who sends no `Accept`, or one with wildcards, takes
 * both kinds of answer. The header as it came where it names them, or leaves one out.
 */
export function acceptedBy(header: string | undefined): string {
  if (header === undefined || header.trim() === '') return `${json}, ${events}`;
  const ranges = header.split(',').flatMap(rangeIn);
  return [json, events].every((type) => takes(ranges, type)) ? `${json}, ${events}` : header;
}

/** A media range, with whether it is wanted at all. */
interface Range {
  readonly type: string;
  readonly isWanted: boolean;
}

function rangeIn(text: string): readonly Range[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  if (type === '') return [];
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return [{ type, isWanted: weight === undefined || Number(weight.slice(2)) > 0 }];
}

/** The most exact range decides. */
function takes(ranges: readonly Range[], type: string): boolean {
  const wide = `${type.slice(0, type.indexOf('/'))}/*`;
  for (const pattern of [type, wide, '*/*']) {
    const found = ranges.find((range) => range.type === pattern);
    if (found !== undefined) return found.isWanted;
  }
  return false;
}
