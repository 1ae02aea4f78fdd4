import { Parser } from 'htmlparser2';
import JSZip from 'jszip';

const longest = 300;

/** What stands in a Word document outside of its text, or in a form that has none. */
export async function docxNotes(bytes: Uint8Array): Promise<readonly string[]> {
  const zip = await JSZip.loadAsync(bytes);
  const textOf = async (name: string, element: string): Promise<readonly string[]> =>
    textsIn((await zip.file(name)?.async('string')) ?? '', element);
  const named = (pattern: RegExp): string[] => Object.keys(zip.files).filter((name) => pattern.test(name));
  const around: string[] = [];
  for (const name of named(/^word\/(?:header|footer)\d*\.xml$/)) around.push(...(await textOf(name, 'w:p')));
  const equations = await textOf('word/document.xml', 'm:oMath');
  const comments = await textOf('word/comments.xml', 'w:comment');
  return [
    ...(around.length > 0 ? [`Headers and footers are not part of the text: ${quoted(around)}.`] : []),
    ...(equations.length > 0
      ? [`Equations are left out of the text (${equations.length}): ${quoted(equations)}.`]
      : []),
    ...(comments.length > 0 ? [`Comments are left out of the text (${comments.length}).`] : []),
  ];
}

/** The texts of the outermost elements of this name, without those that hold none. */
function textsIn(xml: string, element: string): readonly string[] {
  const found: string[] = [];
  let [open, inText, text] = [0, false, ''];
  const parser = new Parser(
    {
      onopentag: (name) => {
        if (name === element && open++ === 0) text = '';
        inText = name === 'w:t' || name === 'm:t';
      },
      ontext: (data) => void (open > 0 && inText && (text += data)),
      onclosetag: (name) => {
        inText = false;
        if (name === element && --open === 0 && text.trim() !== '') found.push(text.trim());
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
  return found;
}

function quoted(texts: readonly string[]): string {
  const whole = [...new Set(texts)].map((each) => `“${each}”`).join(', ');
  return whole.length > longest ? `${whole.slice(0, longest)}…` : whole;
}
