import { ToolUserError } from '@sluice/core';
import { CypherReader } from './cypher-syntax.js';
import type { Clause, Expression, NodePattern, Path, Projection, RelationshipPattern } from './cypher-syntax.js';
import type { Token } from './cypher-tokens.js';
import type { GraphNode, GraphRelationship, Properties, QueryRows } from './store.js';
import { requireSmall, sizeOf } from './cypher-sizes.js';
import type { Value } from './cypher-sizes.js';
import { applied, callOf, compare, isNode, plain, propertyOf, same, text } from './cypher-values.js';

type Row = ReadonlyMap<string, Value>;

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly relationships: readonly GraphRelationship[];
}

const aggregates = new Set(['count', 'collect', 'sum', 'avg', 'min', 'max']);

/** Rows that may be held at a time, beyond which a query is refused. */
const mostHeld = 100_000;
const stepsBetweenLooks = 4_096;

/** The answer to a query that only reads. Throws ToolUserError for one that is wrong, or too much. */
export function answer(
  tokens: readonly Token[],
  parameters: Properties,
  graph: Graph,
  limits: { readonly rows: number; readonly queryMs: number },
): QueryRows {
  return new Answering(parameters, graph, performance.now() + limits.queryMs).rows(
    new CypherReader(tokens).query(),
    limits.rows,
  );
}

class Answering {
  private readonly byKey: ReadonlyMap<string, GraphNode>;
  private readonly around = new Map<string, GraphRelationship[]>();
  private steps = 0;

  constructor(
    private readonly parameters: Properties,
    private readonly graph: Graph,
    private readonly until: number,
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

  rows(clauses: readonly Clause[], most: number): QueryRows {
    let rows: Row[] = [new Map()];
    for (const clause of clauses) rows = this.clause(clause, rows);
    const last = clauses.at(-1) as Extract<Clause, { is: 'return' }>;
    const columns = last.projection.all ? [...(rows[0]?.keys() ?? [])] : last.projection.items.map(({ name }) => name);
    const shown = rows.slice(0, most).map((row) => columns.map((name) => plain(row.get(name))));
    return { columns, rows: shown, truncated: rows.length > most };
  }

  private clause(clause: Clause, rows: readonly Row[]): Row[] {
    switch (clause.is) {
      case 'match':
        return this.gathered(rows, (row) => this.match(clause, row));
      case 'unwind':
        return this.gathered(rows, (row) => {
          const list = this.value(clause.list, row);
          return (Array.isArray(list) ? list : list === null || list === undefined ? [] : [list]).map((each: Value) =>
            new Map(row).set(clause.name, each),
          );
        });
      case 'with': {
        const { where } = clause;
        return this.project(clause.projection, rows).filter((row) => where === null || this.value(where, row) === true);
      }
      case 'return':
        return this.project(clause.projection, rows);
    }
  }

  private gathered(rows: readonly Row[], make: (row: Row) => Iterable<Row>): Row[] {
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

  private match({ paths, where, optional }: Extract<Clause, { is: 'match' }>, row: Row): Row[] {
    let found: Row[] = [row];
    for (const path of paths) found = this.gathered(found, (each) => this.walk(path, each));
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

  private *walk({ start, steps }: Path, row: Row): Generator<Row> {
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
    this.tick();
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
    this.tick();
    if (!labels.every((label) => node.labels.includes(label))) return false;
    return properties.every(([name, expression]) => same(node.properties[name], this.value(expression, row)) === true);
  }

  private project({ all, distinct, items, order, skip, limit }: Projection, rows: readonly Row[]): Row[] {
    const grouped = items.some(({ expression }) => this.aggregates(expression));
    let made: { row: Row; sources: readonly Row[] }[] = all
      ? rows.map((row) => ({ row, sources: [row] }))
      : grouped
        ? this.group(items, rows)
        : rows.map((row) => ({
            row: new Map(items.map(({ name, expression }) => [name, this.value(expression, row)])),
            sources: [row],
          }));
    if (distinct) made = [...new Map(made.map((each) => [this.keyOf([...each.row.values()]), each])).values()];
    if (order.length > 0) {
      const keyed = made.map((each) => {
        const seen = new Map([...(each.sources[0] ?? new Map<string, Value>()), ...each.row]);
        return { each, keys: order.map(({ expression }) => this.value(expression, seen, each.sources)) };
      });
      keyed.sort((a, b) => {
        for (const [at, { descending }] of order.entries()) {
          const way = compare(a.keys[at], b.keys[at]);
          if (way !== 0) return descending ? -way : way;
        }
        return 0;
      });
      made = keyed.map(({ each }) => each);
    }
    const from = skip === null ? 0 : this.count(skip);
    return made.slice(from, limit === null ? undefined : from + this.count(limit)).map(({ row }) => row);
  }

  private group(items: Projection['items'], rows: readonly Row[]): { row: Row; sources: readonly Row[] }[] {
    const keys = items.filter(({ expression }) => !this.aggregates(expression));
    const groups = new Map<string, Row[]>();
    for (const row of rows) {
      const key = this.keyOf(keys.map(({ expression }) => this.value(expression, row)));
      const there = groups.get(key);
      if (there === undefined) groups.set(key, [row]);
      else there.push(row);
    }
    if (keys.length === 0 && groups.size === 0) groups.set('', []);
    return [...groups.values()].map((sources) => {
      const first = sources[0] ?? new Map<string, Value>();
      return {
        sources,
        row: new Map(items.map(({ name, expression }) => [name, this.value(expression, first, sources)])),
      };
    });
  }

  private aggregates(expression: Expression): boolean {
    switch (expression.is) {
      case 'call':
        return aggregates.has(expression.name) || expression.args.some((each) => this.aggregates(each));
      case 'apply':
        return expression.args.some((each) => this.aggregates(each));
      case 'property':
      case 'labels':
        return this.aggregates(expression.of);
      case 'list':
        return expression.items.some((each) => this.aggregates(each));
      default:
        return false;
    }
  }

  private count(expression: Expression): number {
    const value = this.value(expression, new Map());
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
    throw new ToolUserError('SKIP and LIMIT need a whole number.');
  }

  private value(expression: Expression, row: Row, group?: readonly Row[]): Value {
    this.tick();
    return requireSmall(this.evaluated(expression, row, group));
  }

  private evaluated(expression: Expression, row: Row, group?: readonly Row[]): Value {
    switch (expression.is) {
      case 'value':
        return expression.value;
      case 'list':
        return expression.items.map((each) => this.value(each, row, group));
      case 'name':
        if (!row.has(expression.name))
          throw new ToolUserError(`The query uses “${expression.name}”, which it has not bound.`);
        return row.get(expression.name);
      case 'parameter':
        if (!Object.hasOwn(this.parameters, expression.name))
          throw new ToolUserError(`The parameter $${expression.name} is not given.`);
        return this.parameters[expression.name];
      case 'property':
        return propertyOf(this.value(expression.of, row, group), expression.name);
      case 'labels': {
        const of = this.value(expression.of, row, group);
        return isNode(of) && expression.labels.every((label) => of.labels.includes(label));
      }
      case 'pattern':
        return !this.walk(expression.path, row).next().done;
      case 'call':
        return aggregates.has(expression.name)
          ? this.aggregate(expression, group)
          : callOf(
              expression.name,
              expression.args.map((each) => this.value(each, row, group)),
              this.byKey,
            );
      case 'apply': {
        const args = expression.args.map((each) => this.value(each, row, group));
        for (const each of args) this.tick(sizeOf(each));
        return applied(expression.operator, args);
      }
    }
  }

  private aggregate(
    { name, args, distinct, star }: Extract<Expression, { is: 'call' }>,
    group: readonly Row[] | undefined,
  ): Value {
    if (group === undefined)
      throw new ToolUserError(`${name}() stands where nothing is grouped; it may stand in WITH and RETURN.`);
    if (star) return group.length;
    const [argument] = args;
    if (argument === undefined) throw new ToolUserError(`${name}() needs an argument.`);
    let values = group.map((each) => this.value(argument, each)).filter((each) => each !== null && each !== undefined);
    if (distinct) values = [...new Map(values.map((each) => [this.keyOf([each]), each])).values()];
    const numbers = values.filter((each) => typeof each === 'number');
    switch (name) {
      case 'count':
        return values.length;
      case 'collect':
        return values;
      case 'sum':
        return numbers.reduce((sum, each) => sum + each, 0);
      case 'avg':
        return numbers.length === 0 ? null : numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
      default: {
        const sorted = [...values].sort(compare);
        return (name === 'min' ? sorted[0] : sorted.at(-1)) ?? null;
      }
    }
  }

  private tick(steps = 1): void {
    this.steps += steps;
    if (this.steps < stepsBetweenLooks) return;
    this.steps = 0;
    if (performance.now() > this.until) throw new ToolUserError('The query takes too long. Narrow it down.');
  }

  /** One text for equal values. */
  private keyOf(values: readonly Value[]): string {
    for (const each of values) this.tick(sizeOf(each));
    return text(values);
  }
}

function named(row: Row, name: string | null, value: Value): Row {
  return name === null ? row : new Map(row).set(name, value);
}
