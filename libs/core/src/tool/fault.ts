/** Characters of a fault’s text: a line of the log, no page. */
const longestFault = 2_000;
const deepestCause = 4;

/** An error of another process, with what that process says of it. */
export class ToolFault extends Error {
  override readonly name = 'ToolFault';

  constructor(
    message: string,
    readonly told: string,
  ) {
    super(message);
  }
}

/**
 * What an error says to an operator: its kind, its text, what caused it and the line where it was thrown. For the log
 * alone, since no author meant it for a model. Looking at what a tool threw may throw itself.
 */
export function faultText(error: unknown): string {
  try {
    const text = error instanceof ToolFault ? error.told : told(error);
    return text.slice(0, longestFault).toWellFormed();
  } catch {
    return 'It cannot be looked at.';
  }
}

function told(error: unknown): string {
  if (!(error instanceof Error)) return `It is no Error: ${String(error)}`;
  const at = placeIn(error.stack);
  return `${words(error, 0)}${at === null ? '' : ` (${at})`}`;
}

function words(error: Error, depth: number): string {
  const { permission, resource } = error as { readonly permission?: unknown; readonly resource?: unknown };
  const { code } = error as { readonly code?: unknown };
  const what = typeof permission === 'string' && permission !== '' ? ` [${permission} ${String(resource ?? '')}]` : '';
  const named = typeof code === 'string' && !error.message.includes(code) ? ` [${code}]` : '';
  const { cause } = error;
  const why = cause === undefined || depth === deepestCause ? '' : `; caused by ${causeWords(cause, depth + 1)}`;
  return `${error.name}: ${error.message}${named}${what}${why}`;
}

function causeWords(cause: unknown, depth: number): string {
  return cause instanceof ToolFault ? cause.told : cause instanceof Error ? words(cause, depth) : String(cause);
}

/** The first line of the stack that is of no module of Node. */
function placeIn(stack: unknown): string | null {
  if (typeof stack !== 'string') return null;
  const line = stack.split('\n').find((each) => /^\s+at /.test(each) && !/\(?node:|<anonymous>/.test(each));
  return line?.trim() ?? null;
}
