/** Nanoseconds per call, the median of the rounds: the machine is shared, so a few that were disturbed do not count. */
export function perCall(work: () => void, rounds = 31, callsPerRound = 2_000): number {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = process.hrtime.bigint();
    for (let call = 0; call < callsPerRound; call++) work();
    times.push(Number(process.hrtime.bigint() - start) / callsPerRound);
  }
  return median(times);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

/** A line of the report: what, the figure, and the goal it is held against. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly goal?: { readonly atMost: number } | { readonly atLeast: number };
}

export function report(title: string, figures: readonly Figure[]): void {
  console.log(`\n${title}`);
  for (const { name, value, unit, goal } of figures) {
    console.log(
      `  ${name.padEnd(64)} ${format(value).padStart(10)} ${unit.padEnd(6)} ${goal === undefined ? '' : judged(value, goal)}`,
    );
  }
}

function judged(value: number, goal: { readonly atMost: number } | { readonly atLeast: number }): string {
  const [met, text] =
    'atMost' in goal
      ? [value <= goal.atMost, `goal ≤ ${goal.atMost}`]
      : [value >= goal.atLeast, `goal ≥ ${goal.atLeast}`];
  return `${text}${met ? '' : '  MISSED'}`;
}

function format(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
