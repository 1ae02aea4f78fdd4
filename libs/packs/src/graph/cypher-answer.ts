import { ToolUserError } from '@sluice/core';
import { aggregated, aggregates, isAggregate } from './cypher-aggregates.js';
import { QueryBudget } from './cypher-budget.js';
import { gathered, PatternMatcher } from './cypher-match.js';
import type { Graph, Row } from './cypher-match.js';
import { requireSmall, sizeOf } from './cypher-sizes.js';
import type { Value } from './cypher-sizes.js';
import { CypherReader } from './cypher-syntax.js';
import type { Clause, Expression, Projection } from './cypher-syntax.js';
import type { Token } from './cypher-tokens.js';
import { applied, callOf, compare, isNode, plain, propertyOf, text } from './cypher-values.js';
import type { Properties, QueryRows } from './store.js';

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
  private readonly matcher: PatternMatcher;
  private readonly budget: QueryBudget;

  constructor(
    private readonly parameters: Properties,
    graph: Graph,
    until: number,
  ) {
    this.budget = new QueryBudget(until);
    this.matcher = new PatternMatcher(graph, this.budget, (expression, row) => this.value(expression, row));
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
        return gathered(rows, (row) => this.matcher.match(clause, row));
      case 'unwind':
        return gathered(rows, (row) => {
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

  private project({ all, distinct, items, order, skip, limit }: Projection, rows: readonly Row[]): Row[] {
    const grouped = items.some(({ expression }) => aggregates(expression));
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
    const keys = items.filter(({ expression }) => !aggregates(expression));
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

  private count(expression: Expression): number {
    const value = this.value(expression, new Map());
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
    throw new ToolUserError('SKIP and LIMIT need a whole number.');
  }

  private value(expression: Expression, row: Row, group?: readonly Row[]): Value {
    this.budget.tick();
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
        return !this.matcher.walk(expression.path, row).next().done;
      case 'call':
        return isAggregate(expression.name)
          ? aggregated(
              expression,
              group,
              (each, of) => this.value(each, of),
              (values) => this.keyOf(values),
            )
          : callOf(
              expression.name,
              expression.args.map((each) => this.value(each, row, group)),
              this.matcher.byKey,
            );
      case 'apply': {
        const args = expression.args.map((each) => this.value(each, row, group));
        for (const each of args) this.budget.tick(sizeOf(each));
        return applied(expression.operator, args);
      }
    }
  }

  /** One text for equal values. */
  private keyOf(values: readonly Value[]): string {
    for (const each of values) this.budget.tick(sizeOf(each));
    return text(values);
  }
}
