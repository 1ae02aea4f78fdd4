import { autocompletion, completionKeymap } from '@codemirror/autocomplete';
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { linter, lintGutter, lintKeymap } from '@codemirror/lint';
import type { Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import schema from '../../../../../../schemas/configuration.schema.json' with { type: 'json' };
import { possibleAt } from './completions.js';
import { look } from './look.js';
import { yamlPosition } from './yaml-position.js';

/** A problem at a line, from 1. */
export interface EditorProblem {
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
  readonly severity: 'error' | 'info';
}

interface Props {
  readonly label: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
  /** Says what is wrong with the text; asked a moment after the last change. */
  readonly check: (text: string) => Promise<readonly EditorProblem[]>;
  /** Counts up to bring a line into view. */
  readonly goTo: { readonly line: number } | null;
}

const checkAfterMs = 600;

/** An editor of a configuration as YAML, with the keys of its schema and its problems at their lines. */
export function ConfigurationEditor({ label, text, onChange, check, goTo }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef({ onChange, check });
  latest.current = { onChange, check };
  const first = useRef(text);

  useEffect(() => {
    if (place.current === null) return undefined;
    const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
    const editor = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          EditorView.cspNonce.of(nonce),
          ...[lineNumbers(), highlightActiveLine(), highlightActiveLineGutter(), history(), yaml(), look],
          autocompletion({ override: [complete], icons: false }),
          lintGutter(),
          linter(async (current) => diagnosticsOf(current, await latest.current.check(current.state.doc.toString())), {
            delay: checkAfterMs,
          }),
          keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
          EditorState.tabSize.of(2),
          EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => {
      view.current = null;
      editor.destroy();
    };
  }, [label]);

  // A text from elsewhere, such as the one in force again.
  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === text) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [text]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null || goTo === null) return;
    const { from } = editor.state.doc.line(Math.min(Math.max(1, goTo.line), editor.state.doc.lines));
    editor.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
    editor.focus();
  }, [goTo]);

  return <div ref={place} />;
}

function complete({ state, pos, explicit }: CompletionContext): CompletionResult | null {
  const at = yamlPosition(state.doc.toString(), pos);
  if (at === null || (at.from === pos && !explicit)) return null;
  const options = possibleAt(schema, at).map(({ name, description }) => ({
    label: name,
    apply: at.kind === 'key' ? `${name}: ` : name,
    ...(description === null ? {} : { info: description }),
  }));
  return options.length === 0 ? null : { from: at.from, options, validFor: /^[\w.*/-]*$/ };
}

function diagnosticsOf({ state: { doc } }: EditorView, problems: readonly EditorProblem[]): readonly Diagnostic[] {
  return problems.map(({ line, column, message, severity }) => {
    const found = doc.line(Math.min(Math.max(1, line ?? 1), doc.lines));
    const indent = /^\s*/.exec(found.text)?.[0].length ?? 0;
    const from = Math.min(found.from + Math.max(indent, (column ?? 1) - 1), found.to);
    return { from, to: Math.max(from, found.to), severity, message };
  });
}
