/** Applies a function to the parts of a page that are neither blocks of code nor code within a line. */
export function outsideCode(text, change) {
  const parts = text.split(/(^ *```[^\n]*\n[\s\S]*?^ *```[^\n]*$)/m);
  return parts
    .map((part, index) => {
      if (index % 2 === 1) return part;
      return part
        .split(/(`[^`\n]+`)/)
        .map((piece, at) => (at % 2 === 1 ? piece : change(piece)))
        .join('');
    })
    .join('');
}

/** A link with its text in back-ticks is cut by these: targets are looked for in the whole line instead. */
const linkTarget = /(\]\()([^)\s]+)(\))/g;

/** Applies a function to the target of each link and image outside of blocks of code. */
export function changeLinks(text, change) {
  const parts = text.split(/(^ *```[^\n]*\n[\s\S]*?^ *```[^\n]*$)/m);
  return parts
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replace(linkTarget, (_all, before, target, after) => before + change(target) + after),
    )
    .join('');
}

/** The id of a heading, as GitHub makes it. */
export function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

/** A text for a cell of a table. */
export const cell = (text) =>
  String(text ?? '')
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ');

/** A text that is no HTML, whatever it says. */
export const plain = (text) => outsideCode(String(text ?? ''), (piece) => piece.replaceAll('<', '&lt;'));

/** A text as code within a line. */
export const code = (text) => (String(text).includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``);

/** The title of a page, and its first sentence without links and emphasis. */
export function aboutPage(text) {
  const [, title = ''] = /^# (.+)$/m.exec(text) ?? [];
  const paragraph =
    text
      .replace(/^# .+$/m, '')
      .split(/\n\s*\n/)
      .map((one) => one.trim())
      .find((one) => /^[\p{L}`"*[]/u.test(one) && !one.startsWith('```') && !one.startsWith('**Category')) ?? '';
  const words = paragraph
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
    .replaceAll(/\s+/g, ' ');
  const [sentence] = words.split(/(?<=[.?!])\s/, 1);
  return { title: title.replaceAll('`', ''), sentence: sentence.replace(/[:;]$/, '.') };
}
