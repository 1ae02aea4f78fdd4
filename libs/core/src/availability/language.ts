/** Letters of a question that are looked at: what comes later seldom changes the language. */
const looked = 1_000;

/** Scripts that one language, or nearly one, is written in. The first that holds a third of the letters counts. */
const scripts: readonly (readonly [string, RegExp])[] = [
  ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ['ko', /\p{Script=Hangul}/gu],
  ['zh', /\p{Script=Han}/gu],
  ['uk', /[іїєґ]/giu],
  ['ru', /\p{Script=Cyrillic}/gu],
  ['el', /\p{Script=Greek}/gu],
  ['ar', /\p{Script=Arabic}/gu],
  ['he', /\p{Script=Hebrew}/gu],
  ['hi', /\p{Script=Devanagari}/gu],
  ['th', /\p{Script=Thai}/gu],
];

/** Words that questions in a language seldom do without. */
const commonWords: Readonly<Record<string, ReadonlySet<string>>> = {
  en: words('the of and is are what which who how when where why does do did can to in for with from this that my me'),
  de: words(
    'der die das und ist sind was welche wer wie wann wo warum kann zu für mit von dieser mein mir nicht ein eine',
  ),
  fr: words(
    'le la les et est sont que quel quelle qui comment quand où pourquoi peut pour avec de des du mon une un pas',
  ),
  es: words('el la los las y es son qué cuál quién cómo cuándo dónde por puede para con de del mi una un no que'),
  it: words('il lo la gli e è sono che quale chi come quando dove perché può per con di del mio una un non'),
  pt: words('o a os as e é são que qual quem como quando onde porque pode para com de do da meu uma um não'),
  nl: words('de het en is zijn wat welke wie hoe wanneer waar waarom kan voor met van mijn een niet deze dit'),
  pl: words('i jest są co który kto jak kiedy gdzie dlaczego może dla z od mój nie to w na do czy'),
};

/** The languages that are distinguished. */
export const knownLanguages: readonly string[] = [
  ...Object.keys(commonWords),
  ...scripts.map(([language]) => language),
];

/**
 * The language of a question as its two letters; `und` where nothing decides. By its script, else by its common
 * words.
 */
export function languageOf(question: string): string {
  const text = question.slice(0, looked);
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (letters === 0) return 'und';
  for (const [language, script] of scripts) {
    const enough = language === 'ja' || language === 'uk' ? letters / 20 : letters / 3;
    if ((text.match(script)?.length ?? 0) > enough) return language;
  }
  const found = new Map<string, number>();
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? [])
    for (const [language, common] of Object.entries(commonWords))
      if (common.has(word)) found.set(language, (found.get(language) ?? 0) + 1);
  const [first, second] = [...found].sort(([, one], [, other]) => other - one);
  return first === undefined || first[1] === second?.[1] ? 'und' : first[0];
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}
