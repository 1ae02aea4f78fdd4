import { styleText } from 'node:util';

/** How the kinds of words are set off on a terminal; plain where there is none. */
export interface Paint {
  strong(text: string): string;
  dim(text: string): string;
  state(text: string): string;
  tool(text: string): string;
  good(text: string): string;
  bad(text: string): string;
}

/** styleText itself leaves colours out where the stream or NO_COLOR says so. */
export function paintFor(stream: NodeJS.WriteStream): Paint {
  const as = (format: Parameters<typeof styleText>[0]) => (text: string) => styleText(format, text, { stream });
  return {
    strong: as('bold'),
    dim: as('dim'),
    state: as('cyan'),
    tool: as('yellow'),
    good: as('green'),
    bad: as('red'),
  };
}
