import { ToolUserError } from '@sluice/core';
import { lackAt } from './cypher-lacks.js';
import type { Token } from './cypher-tokens.js';
import { numericOf } from './integers.js';
import type { Numeric } from './integers.js';

export type Expression =
  | { readonly is: 'value'; readonly value: string | Numeric | boolean | null }
  | { readonly is: 'list'; readonly items: readonly Expression[] }
  | { readonly is: 'name' | 'parameter'; readonly name: string }
  | { readonly is: 'property'; readonly of: Expression; readonly name: string }
  | { readonly is: 'labels'; readonly of: Expression; readonly labels: readonly string[] }
  | {
      readonly is: 'call';
      readonly name: string;
      readonly distinct: boolean;
      readonly args: readonly Expression[];
      readonly star: boolean;
    }
  | { readonly is: 'apply'; readonly operator: string; readonly args: readonly Expression[] }
  | { readonly is: 'pattern'; readonly path: Path };

export interface NodePattern {
  readonly name: string | null;
  readonly labels: readonly string[];
  readonly properties: readonly (readonly [string, Expression])[];
}

export interface RelationshipPattern {
  readonly name: string | null;
  readonly types: readonly string[];
  readonly direction: 'out' | 'in' | 'both';
  readonly least: number;
  readonly most: number;
}

export interface Path {
  readonly start: NodePattern;
  readonly steps: readonly { readonly relationship: RelationshipPattern; readonly node: NodePattern }[];
}

export interface Projection {
  readonly all: boolean;
  readonly distinct: boolean;
  readonly items: readonly { readonly name: string; readonly expression: Expression }[];
  readonly order: readonly { readonly expression: Expression; readonly descending: boolean }[];
  readonly skip: Expression | null;
  readonly limit: Expression | null;
}

export type Clause =
  | {
      readonly is: 'match';
      readonly optional: boolean;
      readonly paths: readonly Path[];
      readonly where: Expression | null;
    }
  | { readonly is: 'unwind'; readonly list: Expression; readonly name: string }
  | { readonly is: 'with'; readonly projection: Projection; readonly where: Expression | null }
  | { readonly is: 'return'; readonly projection: Projection };

/** The farthest that `*` without an upper end goes. */
const farthest = 6;
const deepest = 50;
const mostAtoms = 20_000;

/** Reads the part of Cypher that the embedded graph has; docs/packs.md lists it. Throws ToolUserError. */
export class CypherReader {
  private at = 0;
  private depth = 0;
  private atoms = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  query(): readonly Clause[] {
    const clauses: Clause[] = [];
    while (!this.isMark(';') && this.now.kind !== 'end') clauses.push(this.clause());
    if (clauses.at(-1)?.is !== 'return') throw this.problem('a RETURN at the end');
    return clauses;
  }

  private clause(): Clause {
    const optional = this.takeWord('OPTIONAL');
    if (this.takeWord('MATCH')) {
      const paths = this.listOf(() => this.path());
      return { is: 'match', optional, paths, where: this.takeWord('WHERE') ? this.expression() : null };
    }
    if (this.takeWord('UNWIND')) {
      const list = this.expression();
      this.needWord('AS');
      return { is: 'unwind', list, name: this.name() };
    }
    if (this.takeWord('WITH')) {
      const projection = this.projection();
      return { is: 'with', projection, where: this.takeWord('WHERE') ? this.expression() : null };
    }
    if (this.takeWord('RETURN')) return { is: 'return', projection: this.projection() };
    throw this.problem('MATCH, OPTIONAL MATCH, UNWIND, WITH or RETURN, which are the clauses of the embedded graph');
  }

  private projection(): Projection {
    const distinct = this.takeWord('DISTINCT');
    const all = this.takeMark('*');
    const items = all ? [] : this.listOf(() => this.item());
    const order = this.takeWord('ORDER') ? (this.needWord('BY'), this.listOf(() => this.orderItem())) : [];
    const skip = this.takeWord('SKIP') ? this.expression() : null;
    const limit = this.takeWord('LIMIT') ? this.expression() : null;
    return { all, distinct, items, order, skip, limit };
  }

  private item(): Projection['items'][number] {
    const from = this.at;
    const expression = this.expression();
    const written = this.tokens
      .slice(from, this.at)
      .map(({ kind, text }) => (kind === 'text' ? `'${text}'` : kind === 'parameter' ? `$${text}` : text))
      .join('');
    return { expression, name: this.takeWord('AS') ? this.name() : written };
  }

  private orderItem(): Projection['order'][number] {
    const expression = this.expression();
    const descending = this.takeWord('DESC') || this.takeWord('DESCENDING');
    if (!descending && !this.takeWord('ASC')) this.takeWord('ASCENDING');
    return { expression, descending };
  }

  private path(): Path {
    const start = this.node();
    const steps: Path['steps'][number][] = [];
    while (this.isMark('-') || this.isMark('<-') || this.isMark('->')) {
      const relationship = this.relationship();
      steps.push({ relationship, node: this.node() });
    }
    return { start, steps };
  }

  private node(): NodePattern {
    this.needMark('(');
    const name = this.isName() ? this.name() : null;
    const labels = this.labels();
    const properties = this.isMark('{') ? this.map() : [];
    this.needMark(')');
    return { name, labels, properties };
  }

  private labels(): string[] {
    const labels: string[] = [];
    while (this.takeMark(':')) labels.push(this.name());
    return labels;
  }

  private relationship(): RelationshipPattern {
    const isIn = this.takeMark('<-');
    if (!isIn) this.needMark('-');
    const types: string[] = [];
    let [name, least, most]: [string | null, number, number] = [null, 1, 1];
    if (this.takeMark('[')) {
      if (this.isName()) name = this.name();
      if (this.takeMark(':')) {
        do {
          this.takeMark(':');
          types.push(this.name());
        } while (this.takeMark('|'));
      }
      if (this.takeMark('*')) [least, most] = this.range();
      this.needMark(']');
    }
    if (this.takeMark('->')) return { name, types, direction: isIn ? 'both' : 'out', least, most };
    this.needMark('-');
    return { name, types, direction: isIn ? 'in' : 'both', least, most };
  }

  private range(): [number, number] {
    const least = this.now.kind === 'number' ? this.whole() : null;
    if (!this.takeMark('..')) return [least ?? 1, least ?? farthest];
    const most = this.now.kind === 'number' ? this.whole() : farthest;
    return [least ?? 1, Math.min(most, farthest)];
  }

  private map(): (readonly [string, Expression])[] {
    this.needMark('{');
    const found: (readonly [string, Expression])[] = [];
    while (!this.isMark('}')) {
      const key = this.name();
      this.needMark(':');
      found.push([key, this.expression()]);
      if (!this.takeMark(',')) break;
    }
    this.needMark('}');
    return found;
  }

  private expression(): Expression {
    if (++this.depth > deepest) throw new ToolUserError('The query is nested too deeply.');
    try {
      return this.binary(0);
    } finally {
      this.depth--;
    }
  }

  private binary(level: number): Expression {
    if (level === 3 && this.takeWord('NOT')) return { is: 'apply', operator: 'NOT', args: [this.binary(3)] };
    if (level === 7) return this.suffixed();
    let left = this.binary(level + 1);
    for (let operator = this.operator(level); operator !== null; operator = this.operator(level)) {
      if (operator === 'IS NULL' || operator === 'IS NOT NULL') left = { is: 'apply', operator, args: [left] };
      else left = { is: 'apply', operator, args: [left, this.binary(level + 1)] };
    }
    return left;
  }

  private operator(level: number): string | null {
    switch (level) {
      case 0:
        return this.takeWord('OR') ? 'OR' : null;
      case 1:
        return this.takeWord('XOR') ? 'XOR' : null;
      case 2:
        return this.takeWord('AND') ? 'AND' : null;
      case 4: {
        const mark = ['=', '<>', '<=', '>=', '<', '>'].find((each) => this.takeMark(each));
        if (mark !== undefined) return mark;
        if (this.takeWord('IN')) return 'IN';
        if (this.takeWord('CONTAINS')) return 'CONTAINS';
        if (this.takeWord('STARTS')) return (this.needWord('WITH'), 'STARTS WITH');
        if (this.takeWord('ENDS')) return (this.needWord('WITH'), 'ENDS WITH');
        if (!this.takeWord('IS')) return null;
        const isNot = this.takeWord('NOT');
        this.needWord('NULL');
        return isNot ? 'IS NOT NULL' : 'IS NULL';
      }
      case 5:
        return ['+', '-'].find((each) => this.takeMark(each)) ?? null;
      case 6:
        return ['*', '/', '%'].find((each) => this.takeMark(each)) ?? null;
      default:
        return null;
    }
  }

  private suffixed(): Expression {
    let of = this.atom();
    for (;;) {
      if (this.takeMark('.')) of = { is: 'property', of, name: this.name() };
      else if (this.isMark(':')) of = { is: 'labels', of, labels: this.labels() };
      else return of;
    }
  }

  private atom(): Expression {
    // What may be a pattern or an expression is read twice, at each level of it.
    if (++this.atoms > mostAtoms) throw new ToolUserError('The query is nested too deeply.');
    const { kind, text } = this.now;
    if (kind === 'text') return (this.at++, { is: 'value', value: text });
    if (kind === 'number') return (this.at++, { is: 'value', value: numericOf(text) });
    if (kind === 'parameter') return (this.at++, { is: 'parameter', name: text });
    if (this.takeMark('-')) return { is: 'apply', operator: 'MINUS', args: [this.suffixed()] };
    if (this.takeMark('[')) {
      const items = this.isMark(']') ? [] : this.listOf(() => this.expression());
      this.needMark(']');
      return { is: 'list', items };
    }
    if (this.isMark('(')) return this.pathOrParentheses();
    for (const [word, value] of [
      ['TRUE', true],
      ['FALSE', false],
      ['NULL', null],
    ] as const)
      if (this.takeWord(word)) return { is: 'value', value };
    if (kind !== 'word' && kind !== 'name') throw this.problem('an expression');
    const name = this.name();
    if (kind !== 'word' || !this.takeMark('(')) return { is: 'name', name };
    const distinct = this.takeWord('DISTINCT');
    const star = this.takeMark('*');
    const args = star || this.isMark(')') ? [] : this.listOf(() => this.expression());
    this.needMark(')');
    return { is: 'call', name: name.toLowerCase(), distinct, args, star };
  }

  /** `(a)-->(b)` is a pattern, `(a)` alone is `a`. */
  private pathOrParentheses(): Expression {
    const start = this.at;
    try {
      const path = this.path();
      if (path.steps.length > 0) return { is: 'pattern', path };
    } catch (error) {
      if (!(error instanceof ToolUserError)) throw error;
    }
    this.at = start;
    this.needMark('(');
    const inner = this.expression();
    this.needMark(')');
    return inner;
  }

  private listOf<T>(read: () => T): T[] {
    const items = [read()];
    while (this.takeMark(',')) items.push(read());
    return items;
  }

  private whole(): number {
    return Number((this.tokens[this.at++] as Token).text);
  }

  private get now(): Token {
    return this.tokens[this.at] as Token;
  }

  private isName(): boolean {
    return this.now.kind === 'word' || this.now.kind === 'name';
  }

  private name(): string {
    if (!this.isName()) throw this.problem('a name');
    return (this.tokens[this.at++] as Token).text;
  }

  private isMark(mark: string): boolean {
    return this.now.kind === 'mark' && this.now.text === mark;
  }

  private takeMark(mark: string): boolean {
    if (!this.isMark(mark)) return false;
    this.at++;
    return true;
  }

  private needMark(mark: string): void {
    if (!this.takeMark(mark)) throw this.problem(`“${mark}”`);
  }

  private takeWord(word: string): boolean {
    if (this.now.kind !== 'word' || this.now.text.toUpperCase() !== word) return false;
    this.at++;
    return true;
  }

  private needWord(word: string): void {
    if (!this.takeWord(word)) throw this.problem(word);
  }

  private problem(expected: string): ToolUserError {
    const { kind, text, at } = this.now;
    const lack = lackAt(this.tokens, this.at, expected);
    if (lack !== null) return new ToolUserError(`The embedded graph has ${lack} (character ${at + 1} of the query).`);
    const found = kind === 'end' ? 'its end' : `“${text.slice(0, 30)}”`;
    return new ToolUserError(`The query has ${found} at character ${at + 1}; write ${expected} there.`);
  }
}
