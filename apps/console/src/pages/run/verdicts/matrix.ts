import type { IterationVerdicts, ToolVerdict } from '@sluice/client';

/** Iterations in a row in which every tool had the same verdict, in the same state. */
export interface MatrixColumn {
  readonly from: number;
  readonly to: number;
  readonly iteration: IterationVerdicts;
  /** By the keys of the tools; null where the configuration of then is gone. */
  readonly verdicts: ReadonlyMap<string, ToolVerdict> | null;
}

export interface Matrix {
  readonly columns: readonly MatrixColumn[];
  /** Every tool of some iteration, in the order of the configuration, as it was first seen. */
  readonly tools: readonly ToolVerdict[];
}

/** What every tool was at each iteration, with iterations that say the same in one column. */
export function matrixOf(iterations: readonly IterationVerdicts[]): Matrix {
  const byNumber = new Map<number, ReadonlyMap<string, ToolVerdict> | null>();
  const tools = new Map<string, ToolVerdict>();
  const columns: MatrixColumn[] = [];
  for (const iteration of iterations) {
    const { iteration: number, same_as: same, tools: own, state } = iteration;
    const verdicts =
      same === null
        ? own === null
          ? null
          : new Map(own.map((tool) => [tool.key, tool]))
        : (byNumber.get(same) ?? null);
    byNumber.set(number, verdicts);
    for (const tool of own ?? []) if (!tools.has(tool.key)) tools.set(tool.key, tool);
    const last = columns.at(-1);
    if (last !== undefined && last.verdicts === verdicts && verdicts !== null && last.iteration.state === state)
      columns[columns.length - 1] = { ...last, to: number };
    else columns.push({ from: number, to: number, iteration, verdicts });
  }
  return { columns, tools: [...tools.values()] };
}

/** Which tools of a matrix are shown. */
interface MatrixFilter {
  readonly text: string;
  /** `all`, `offered`, `hidden` (in every iteration), `called`, or the code of a reason. */
  readonly which: string;
}

/** The tools that match, given the ids of those that were called. */
export function toolsOf(
  { tools, columns }: Matrix,
  filter: MatrixFilter,
  called: ReadonlySet<string>,
): readonly ToolVerdict[] {
  const text = filter.text.trim().toLowerCase();
  const verdictsOf = (key: string): readonly ToolVerdict[] =>
    columns.flatMap(({ verdicts }) => verdicts?.get(key) ?? []);
  return tools.filter(({ id, key, title }) => {
    if (text !== '' && ![id, key, title].some((each) => each.toLowerCase().includes(text))) return false;
    switch (filter.which) {
      case 'all':
        return true;
      case 'offered':
        return verdictsOf(key).some(({ offered }) => offered);
      case 'hidden':
        return verdictsOf(key).every(({ offered }) => !offered);
      case 'called':
        return called.has(id) || called.has(key);
      default:
        return verdictsOf(key).some(({ reasons }) => reasons.some(({ code }) => code === filter.which));
    }
  });
}
