import type { RequestFields } from '../runs/ask-dialog.js';

/** The run’s request as a command of a shell. The credential is read from SLUICE_TOKEN, so it stands in no command. */
export function asCurl(asked: RequestFields, origin: string): string {
  const body = JSON.stringify({
    question: asked.question,
    ...(asked.group === null ? {} : { group: asked.group }),
    ...(asked.state === null ? {} : { state: asked.state }),
  });
  return [
    `curl ${quoted(`${origin}/v1/runs`)}`,
    `-H "authorization: Bearer $SLUICE_TOKEN"`,
    `-H 'content-type: application/json'`,
    `-H 'prefer: wait=50'`,
    `-d ${quoted(body)}`,
  ].join(' \\\n  ');
}

export function asCommand({ question, group, state }: RequestFields): string {
  return [
    'npx sluice ask',
    ...(group === null ? [] : [`--group ${quoted(group.join(','))}`]),
    ...(state === null || state === 'undefined' ? [] : [`--state ${quoted(state)}`]),
    // Else a question that begins with a dash were an option.
    ...(question.startsWith('-') ? ['--'] : []),
    quoted(question),
  ].join(' ');
}

/** As one word of a POSIX shell, whatever it holds. */
function quoted(text: string): string {
  return /^[\w./:,@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
