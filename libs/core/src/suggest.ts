/** Names longer than this are not compared: they are seldom mistyped by a letter or two. */
const longestCompared = 64;
/** At most this many names are listed in a message. */
const listed = 12;

/** What to write instead of an unknown name: a near miss as a question, else the known names if they are few. */
export function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (near !== undefined) return `a known name (did you mean \`${near}\`?)`;
  if (known.length === 0) return 'nothing here, since none is configured';
  if (known.length <= listed) return `one of ${known.map((one) => `\`${one}\``).join(', ')}`;
  return `one of the ${String(known.length)} that are configured`;
}

/** The known name that differs least, if it differs little; case and `-` against `_` do not count. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > longestCompared) return undefined;
  const wanted = plain(name);
  const most = Math.min(3, Math.floor(wanted.length / 3));
  let best: string | undefined;
  let least = most + 1;
  for (const candidate of known) {
    if (candidate.length > longestCompared || Math.abs(candidate.length - name.length) >= least) continue;
    const distance = editDistance(wanted, plain(candidate));
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

/** Letters to insert, drop, change or swap with their neighbour, to get from one text to the other. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = from[i - 1] === to[j - 1] ? 0 : 1;
      let cost = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + change);
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[j - 2] as number) + 1);
      row.push(cost);
    }
    [beforeLast, last] = [last, row];
  }
  return last[to.length] as number;
}

/** Names shorter than this are often meant to differ by one letter: `v1` and `v2`. */
const shortest = 5;

/** The name that is probably meant: it nearly is this one, and the two are not likely to differ on purpose. */
export function nearMiss(name: string, common: readonly string[]): string | undefined {
  const meant = nearest(name, common);
  if (meant === undefined || differsByNumber(name, meant)) return undefined;
  return name.length < shortest && name.toLowerCase() !== meant.toLowerCase() ? undefined : meant;
}

/** `phase-1` and `phase-2` are two names. */
function differsByNumber(one: string, other: string): boolean {
  return one !== other && one.replaceAll(/\d+/g, '#') === other.replaceAll(/\d+/g, '#');
}
