import { ToolUserError } from '@sluice/core';
import type { QueryBudget } from './cypher-budget.js';
import type { Value } from './cypher-sizes.js';
import type { Clause, Expression, NodePattern, Path, RelationshipPattern } from './cypher-syntax.js';
import { same } from './cypher-values.js';
import type { GraphNode, GraphRelationship } from './store.js';

export type Row = ReadonlyMap<string, Value>;

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly relationships: readonly GraphRelationship[];
}

/** Rows that may be held at a time, beyond which a query is refused. */
const mostHeld = 100_000;

/** The rows made of rows. Throws ToolUserError beyond as many as may be held. */
export function gathered(rows: readonly Row[], make: (row: Row) => Iterable<Row>): Row[] {
  const found: Row[] = [];
  for (const row of rows) {
    for (const each of make(row)) {
      found.push(each);
      if (found.length > mostHeld)
        throw new ToolUserError(`The query has more than ${mostHeld} rows on its way. Narrow it down.`);
    }
  }
  return found;
}

/** Where patterns are in a graph. */
export class PatternMatcher {
  readonly byKey: ReadonlyMap<string, GraphNode>;
  private readonly around = new Map<string, GraphRelationship[]>();

  constructor(
    private readonly graph: Graph,
    private readonly budget: QueryBudget,
    private readonly value: (expression: Expression, row: Row) => Value,
  ) {
    this.byKey = new Map(graph.nodes.map((node) => [node.key, node]));
    for (const relationship of graph.relationships) {
      for (const key of new Set([relationship.from, relationship.to])) {
        const there = this.around.get(key);
        if (there === undefined) this.around.set(key, [relationship]);
        else there.push(relationship);
      }
    }
  }

  match({ paths, where, optional }: Extract<Clause, { is: 'match' }>, row: Row): Row[] {
    let found: Row[] = [row];
    for (const path of paths) found = gathered(found, (each) => this.walk(path, each));
    if (where !== null) found = found.filter((each) => this.value(where, each) === true);
    if (found.length > 0 || !optional) return found;
    const names = paths.flatMap(({ start, steps }) => [
      start.name,
      ...steps.flatMap(({ relationship, node }) => [relationship.name, node.name]),
    ]);
    const empty = new Map(row);
    for (const name of names) if (name !== null && !empty.has(name)) empty.set(name, null);
    return [empty];
  }

  *walk({ start, steps }: Path, row: Row): Generator<Row> {
    const bound = start.name === null ? undefined : row.get(start.name);
    if (bound === null) return;
    for (const node of bound === undefined ? this.graph.nodes : [bound as GraphNode]) {
      if (!this.fits(start, node, row)) continue;
      yield* this.follow(steps, node, named(row, start.name, node), new Set());
    }
  }

  private *follow(
    steps: Path['steps'],
    from: GraphNode,
    row: Row,
    used: ReadonlySet<GraphRelationship>,
  ): Generator<Row> {
    const [step, ...rest] = steps;
    if (step === undefined) return void (yield row);
    const { relationship: pattern, node } = step;
    for (const { end, path } of this.reached(pattern, from, used)) {
      const bound = node.name === null ? undefined : row.get(node.name);
      if (bound !== undefined && (bound as GraphNode | null)?.key !== end.key) continue;
      if (!this.fits(node, end, row)) continue;
      const passed = pattern.most === 1 && pattern.least === 1 ? path[0] : path;
      yield* this.follow(
        rest,
        end,
        named(named(row, pattern.name, passed), node.name, end),
        new Set([...used, ...path]),
      );
    }
  }

  private *reached(
    pattern: RelationshipPattern,
    from: GraphNode,
    used: ReadonlySet<GraphRelationship>,
    path: readonly GraphRelationship[] = [],
  ): Generator<{ readonly end: GraphNode; readonly path: readonly GraphRelationship[] }> {
    this.budget.tick();
    if (path.length >= pattern.least) yield { end: from, path };
    if (path.length >= pattern.most) return;
    for (const relationship of this.around.get(from.key) ?? []) {
      if (used.has(relationship) || path.includes(relationship)) continue;
      if (pattern.types.length > 0 && !pattern.types.includes(relationship.type)) continue;
      const isOut = relationship.from === from.key;
      if (pattern.direction === 'out' ? !isOut : pattern.direction === 'in' && relationship.to !== from.key) continue;
      const to = pattern.direction === 'in' ? relationship.from : isOut ? relationship.to : relationship.from;
      yield* this.reached(pattern, this.byKey.get(to) as GraphNode, used, [...path, relationship]);
    }
  }

  private fits({ labels, properties }: NodePattern, node: GraphNode, row: Row): boolean {
    this.budget.tick();
    if (!labels.every((label) => node.labels.includes(label))) return false;
    return properties.every(([name, expression]) => same(node.properties[name], this.value(expression, row)) === true);
  }
}

function named(row: Row, name: string | null, value: Value): Row {
  return name === null ? row : new Map(row).set(name, value);
}
