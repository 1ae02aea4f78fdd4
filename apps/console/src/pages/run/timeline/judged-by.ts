/** What was found out to judge a call, in words; what this page does not know stands as it is recorded. */
export function factsInWords(facts: Readonly<Record<string, string>>): readonly Fact[] {
  return Object.entries(facts).map(([name, value]) => {
    const [kind, ...rest] = name.split('/');
    switch (kind) {
      case 'total':
        return { name: totalName(rest), value };
      case 'lookup':
        return { name: `On the list ${rest[0] ?? ''}: ${rest.slice(1).join('/')}`, value };
      case 'approval':
        return { name: 'Approved by the standing approval', value };
      case 'past':
        return { name: pastName(rest), value: pastValue(value) };
      default:
        return { name, value };
    }
  });
}

interface Fact {
  readonly name: string;
  readonly value: string;
}

/** `total/<session, user, tenant or agent>/<milliseconds>/<calls, or sum and its path>/<of which tools>`. */
function totalName([per = '', span = '', kind = '', ...rest]: readonly string[]): string {
  const what = kind === 'sum' ? rest.slice(0, -1).join('/') : kind;
  return `Used before of ${what} (per ${per}${sinceOf(span)})`;
}

/** `past/<session, user or tenant>/<milliseconds>/<tool>`. */
function pastName([within = '', span = '', ...tool]: readonly string[]): string {
  return `Calls of ${tool.join('/')} (${within}${sinceOf(span)})`;
}

function sinceOf(span: string): string {
  const hours = Number(span) / 3_600_000;
  if (!Number.isFinite(hours)) return '';
  return `, last ${hours >= 1 ? `${round(hours)} h` : `${round(hours * 60)} min`}`;
}

function pastValue(text: string): string {
  try {
    const { count, succeeded, running, last } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const words = [`${String(count)} made`, `${String(succeeded)} succeeded`, `${String(running)} running`];
    return `${words.join(', ')}${typeof last === 'string' ? `, the last one ${last}` : ''}`;
  } catch {
    return text;
  }
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
