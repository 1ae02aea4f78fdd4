// Runs in a thread of its own. It imports nothing of this code base but types, so that Node can run it from its
// source as well.
import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import * as oxigraph from 'oxigraph';
import type { Term, Triple } from './terms.js';

export type WorkerTask =
  | { readonly task: 'load'; readonly path: string; readonly format: string }
  | { readonly task: 'change'; readonly add: readonly Triple[]; readonly remove: readonly Triple[] }
  | { readonly task: 'effect'; readonly add: readonly Triple[]; readonly remove: readonly Triple[] }
  | { readonly task: 'query'; readonly bounded: string; readonly text: string; readonly triples: boolean };

/**
 * `load` and `change` answer null; `effect` what of the change would change something; `query` results JSON, or
 * triples.
 */
export type WorkerAnswer = null | { readonly add: number[]; readonly remove: number[] } | string | readonly Triple[];

export type WorkerReply =
  | { readonly ok: true; readonly answer: WorkerAnswer }
  | { readonly ok: false; readonly message: string; readonly code: string | null };

const store = new oxigraph.Store();

parentPort?.on('message', (task: WorkerTask) => {
  let reply: WorkerReply;
  try {
    reply = { ok: true, answer: perform(task) };
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    reply = {
      ok: false,
      message: error instanceof Error ? error.message : String(error),
      code: typeof code === 'string' ? code : null,
    };
  }
  parentPort?.postMessage(reply);
});

function perform(task: WorkerTask): WorkerAnswer {
  switch (task.task) {
    case 'load':
      store.load(readFileSync(task.path), { format: task.format });
      return null;
    case 'change':
      for (const triple of task.remove) for (const quad of matches(triple)) store.delete(quad);
      for (const triple of task.add) store.add(quadOf(triple));
      return null;
    case 'effect':
      return {
        add: task.add.flatMap((triple, at) => (matches(triple).length === 0 ? [at] : [])),
        remove: task.remove.flatMap((triple, at) => (matches(triple).length > 0 ? [at] : [])),
      };
    case 'query':
      return query(task.bounded, task.text, task.triples);
  }
}

/**
 * The bounded form first; where that cannot be parsed, the query as it was written, so that an error speaks of the
 * author's own text.
 */
function query(bounded: string, text: string, triples: boolean): WorkerAnswer {
  try {
    return evaluate(bounded, triples);
  } catch (error) {
    if (bounded === text) throw error;
    return evaluate(text, triples);
  }
}

function evaluate(text: string, triples: boolean): WorkerAnswer {
  const asUnion = { use_default_graph_as_union: true };
  if (!triples) return store.query(text, { ...asUnion, results_format: 'application/sparql-results+json' }) as string;
  return (store.query(text, asUnion) as oxigraph.Quad[]).map(({ subject, predicate, object }) => ({
    subject: termOf(subject),
    predicate: termOf(predicate),
    object: termOf(object),
  }));
}

function matches({ subject, predicate, object }: Triple): oxigraph.Quad[] {
  return store.match(rdfTerm(subject), rdfTerm(predicate), rdfTerm(object), null);
}

function quadOf({ subject, predicate, object }: Triple): oxigraph.Quad {
  return oxigraph.quad(
    rdfTerm(subject) as oxigraph.Quad_Subject,
    rdfTerm(predicate) as oxigraph.Quad_Predicate,
    rdfTerm(object) as oxigraph.Quad_Object,
  );
}

function rdfTerm(term: Term): oxigraph.NamedNode | oxigraph.BlankNode | oxigraph.Literal {
  if (term.type === 'uri') return oxigraph.namedNode(term.value);
  if (term.type === 'bnode') return oxigraph.blankNode(term.value);
  if (term['xml:lang'] !== undefined) return oxigraph.literal(term.value, term['xml:lang']);
  return oxigraph.literal(term.value, term.datatype === undefined ? undefined : oxigraph.namedNode(term.datatype));
}

function termOf(term: oxigraph.Term): Term {
  switch (term.termType) {
    case 'NamedNode':
      return { type: 'uri', value: term.value };
    case 'BlankNode':
      return { type: 'bnode', value: term.value };
    case 'Literal': {
      const { value, language } = term as oxigraph.Literal;
      if (language !== '') return { type: 'literal', value, 'xml:lang': language };
      return { type: 'literal', value, datatype: (term as oxigraph.Literal).datatype.value };
    }
    case 'Quad':
    case 'Variable':
    case 'DefaultGraph':
      return { type: 'literal', value: term.toString() };
  }
}
