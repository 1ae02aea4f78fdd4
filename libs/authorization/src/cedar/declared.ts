import { authorizationActions } from '@sluice/core';
import type { SchemaJson } from '@cedar-policy/cedar-wasm/nodejs';
import { engine } from './engine.js';
import { delegationAction } from './question.js';

/** What of a call the context of an action may declare beside what is always in it. */
export const contextParts = ['arguments', 'claims', 'facts'] as const;
export type ContextPart = (typeof contextParts)[number];

/** The types of the schema that a value of a call can be given as. */
export type Declared =
  | { readonly kind: 'text' | 'whole' | 'truth' | 'decimal' }
  | { readonly kind: 'set'; readonly of: Declared }
  | DeclaredRecord
  /** Any other; its name in the schema. */
  | { readonly kind: 'other'; readonly type: string };

export interface DeclaredRecord {
  readonly kind: 'record';
  readonly attributes: ReadonlyMap<string, { readonly type: Declared; readonly isRequired: boolean }>;
}

/** What the schema declares of a part in the context of an action; `isRequired` without the question mark. */
interface DeclaredPart {
  readonly type: Declared;
  readonly isRequired: boolean;
}

export type DeclaredContext = Readonly<Partial<Record<ContextPart, DeclaredPart>>>;

/** A type as the schema has it in JSON. */
interface TypeJson {
  readonly type: string;
  readonly name?: string;
  readonly element?: TypeJson;
  readonly attributes?: Readonly<Record<string, TypeJson & { readonly required?: boolean }>>;
}

const simple: Readonly<Record<string, Declared>> = {
  String: { kind: 'text' },
  Long: { kind: 'whole' },
  Bool: { kind: 'truth' },
  Boolean: { kind: 'truth' },
  decimal: { kind: 'decimal' },
};

/** What the contexts of the actions that Sluice asks about declare, by action; throws for a schema that is none. */
export function declaredContexts(schema: string): ReadonlyMap<string, DeclaredContext> {
  const read = engine().schemaToJsonWithResolvedTypes(schema);
  if (read.type === 'failure') throw new Error(read.errors.map(({ message }) => message).join('; '));
  // What is asked about stands in no namespace.
  const actions = read.json['']?.actions ?? {};
  return new Map(
    [...authorizationActions, delegationAction].map((action) => {
      const context = actions[action]?.appliesTo?.context as TypeJson | undefined;
      const type = context === undefined ? undefined : declaredAs(context, read.json);
      const attributes = type?.kind === 'record' ? type.attributes : new Map<string, DeclaredPart>();
      const parts = contextParts.flatMap((part) => {
        const declared = attributes.get(part);
        return declared === undefined ? [] : [[part, declared] as const];
      });
      return [action, Object.fromEntries(parts)] as const;
    }),
  );
}

function declaredAs(json: TypeJson, schema: SchemaJson<string>): Declared {
  const name = json.type === 'EntityOrCommon' || json.type === 'Extension' ? (json.name ?? '') : json.type;
  const known = simple[name.replace(/^__cedar::/, '')];
  if (known !== undefined) return known;
  if (name === 'Set' && json.element !== undefined) return { kind: 'set', of: declaredAs(json.element, schema) };
  if (name === 'Record') {
    const attributes = Object.entries(json.attributes ?? {}).map(
      ([key, { required = true, ...type }]) => [key, { type: declaredAs(type, schema), isRequired: required }] as const,
    );
    return { kind: 'record', attributes: new Map(attributes) };
  }
  const common = commonType(name, schema);
  return common === undefined ? { kind: 'other', type: json.name ?? name } : declaredAs(common, schema);
}

/** The type that a name stands for; Cedar refuses names that stand for themselves. */
function commonType(name: string, schema: SchemaJson<string>): TypeJson | undefined {
  const parts = name.split('::');
  const types = schema[parts.slice(0, -1).join('::')]?.commonTypes ?? {};
  const last = parts.at(-1) ?? '';
  return Object.hasOwn(types, last) ? (types[last] as TypeJson) : undefined;
}

/** A declaration that cannot be served. */
interface DeclarationProblem {
  readonly found: string;
  readonly write: string;
}

/** What of the declarations cannot be served, as sentences. */
export function declarationProblems(contexts: ReadonlyMap<string, DeclaredContext>): readonly DeclarationProblem[] {
  return [...contexts].flatMap(([action, context]) =>
    contextParts.flatMap((part) => {
      const declared = context[part];
      if (declared === undefined) return [];
      const where = `of the context of Action::"${action}"`;
      const { type, isRequired } = declared;
      if (type.kind !== 'record')
        return [{ found: `\`${part}\` ${where} as ${inWords(type)}`, write: `\`${part}?\` as a record` }];
      const always = isRequired
        ? [{ found: `\`${part}\` ${where} without a question mark`, write: `\`${part}?\`: a list of tools has none` }]
        : [];
      return [
        ...always,
        ...[...type.attributes].flatMap(([name, attribute]) =>
          unserved(part, `${part}.${name}`, attribute.type, where),
        ),
      ];
    }),
  );
}

const writable: Readonly<Record<ContextPart, string>> = {
  arguments: 'String, Long, Bool, decimal, a Set or a record of these',
  claims: 'String, Long, Bool, decimal or a Set of one of these',
  facts: 'String, Long, Bool, decimal, or a record of these for a fact that is JSON',
};

function unserved(part: ContextPart, path: string, type: Declared, where: string): readonly DeclarationProblem[] {
  const inside = (name: string, inner: Declared) => unserved(part, name, inner, where);
  const isDeep = part === 'claims' && (type.kind === 'record' || (type.kind === 'set' && !isSimple(type.of)));
  if (type.kind === 'other' || isDeep)
    return [{ found: `\`${path}\` ${where} as ${inWords(type)}`, write: writable[part] }];
  if (type.kind === 'set') return inside(path, type.of);
  if (type.kind !== 'record') return [];
  return [...type.attributes].flatMap(([name, attribute]) => inside(`${path}.${name}`, attribute.type));
}

function isSimple({ kind }: Declared): boolean {
  return kind !== 'set' && kind !== 'record';
}

function inWords(type: Declared): string {
  switch (type.kind) {
    case 'text':
      return 'a String';
    case 'whole':
      return 'a Long';
    case 'truth':
      return 'a Bool';
    case 'decimal':
      return 'a decimal';
    case 'set':
      return 'a Set';
    case 'record':
      return 'a record';
    case 'other':
      return type.type;
  }
}

/** Names of the claims that the schema declares; none of a schema that cannot be read, which `cedarProblems` names. */
export function cedarClaims(schema: string): readonly string[] {
  try {
    const named = [...declaredContexts(schema).values()].flatMap(({ claims }) =>
      claims?.type.kind === 'record' ? [...claims.type.attributes.keys()] : [],
    );
    return [...new Set(named)];
  } catch {
    return [];
  }
}
