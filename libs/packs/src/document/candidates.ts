import { passageAt } from './document.js';
import type { ParsedDocument, Passage } from './document.js';
import { languageOf, sentencesOf } from './sentences.js';
import type { Language, Sentence } from './sentences.js';

export const requirementTypes = ['functional', 'compliance', 'constraint', 'non_functional'] as const;
export type RequirementType = (typeof requirementTypes)[number];

export interface Candidate extends Passage {
  readonly text: string;
  readonly type: RequirementType;
  /** From 0 to 1: how sure the rules are that it is a requirement. */
  readonly confidence: number;
  /** The words that the rules went by. */
  readonly signals: readonly string[];
  readonly language: Language;
}

/**
 * How a sentence obliges, by RFC 2119 and its German counterparts: 0.8 for what must be, 0.6 for what should be, 0.35
 * for what may be. A sentence has the weight of its strongest word.
 */
const modals: Readonly<Record<Language, readonly (readonly [weight: number, pattern: RegExp])[]>> = {
  en: [
    [
      0.8,
      /\b(?:shall|must|mandatory|prohibited|(?:is|are) (?:required|obliged|forbidden)(?: to)?|(?:has|have|needs?) to|may not|cannot be)\b/i,
    ],
    [0.6, /\b(?:should|ought to|(?:is|are) (?:expected|recommended|intended) to|will be able to)\b/i],
    [0.35, /\b(?:may|can|will|wants? to|would like to|supports?|allows?|enables?|provides?)\b/i],
  ],
  de: [
    [
      0.8,
      /(?<!\p{L})(?:muss|müssen|musste|müsse|darf (?:nicht|nur|kein\p{L}*)|dürfen (?:nicht|nur|kein\p{L}*)|(?:ist|sind) (?:\p{L}+ ){0,8}?zu \p{L}+en|(?:ist|sind) (?:\p{L}+ ){0,8}?\p{L}+zu\p{L}+en|verpflichtet|vorgeschrieben|zwingend|erforderlich|hat (?:\p{L}+ ){0,8}?zu \p{L}+en|haben (?:\p{L}+ ){0,8}?zu \p{L}+en|unzulässig|verboten)(?!\p{L})/iu,
    ],
    [0.6, /(?<!\p{L})(?:soll|sollen|sollte|sollten|empfohlen)(?!\p{L})/iu],
    [
      0.35,
      /(?<!\p{L})(?:kann|können|darf|dürfen|möchte|möchten|wird|werden|unterstützt|ermöglicht|erlaubt)(?!\p{L})/iu,
    ],
  ],
};

/** What a specification can oblige: the thing that is built, and its users. */
const subjects =
  /(?<!\p{L})(?:system|software|application|platform|service|solution|module|interface|component|database|user|customer|administrator|operator|company|taxpayer|invoices?|documents?|data|anwendung|plattform|dienst|lösung|modul|schnittstelle|komponente|datenbank|benutzer\p{L}*|anwender\p{L}*|nutzer\p{L}*|kunde\p{L}*|administrator\p{L}*|unternehmen|steuerpflichtige\p{L}*|rechnung\p{L}*|beleg\p{L}*|buchung\p{L}*|daten|dokument\p{L}*|programm)(?!\p{L})/iu;

const kinds: readonly (readonly [RequirementType, RegExp])[] = [
  [
    'compliance',
    /(?<!\p{L})(?:GoBD|DSGVO|GDPR|HGB|AO|UStG|ISO|SOX|law|legal|statutory|regulation\p{L}*|audit\p{L}*|complian\p{L}*|retain\p{L}*|retention|archiv(?:ed|ing|ier)\p{L}*|gesetz\p{L}*|rechtlich\p{L}*|vorschrift\p{L}*|aufbewahr\p{L}*|aufzubewahren|unveränder\p{L}*|revisionssicher\p{L}*|betriebsprüf\p{L}*|prüfbar\p{L}*|§\s*\d+)(?!\p{L})/iu,
  ],
  [
    'non_functional',
    /(?<!\p{L})(?:performance|availab\p{L}*|latency|response time|respond within|throughput|scal\p{L}*|usab\p{L}*|encrypt\p{L}*|secur\p{L}*|reliab\p{L}*|maintainab\p{L}*|uptime|accessib\p{L}*|verfügbarkeit|antwortzeit\p{L}*|durchsatz|skalier\p{L}*|benutzerfreundlich\p{L}*|verschlüssel\p{L}*|sicherheit\p{L}*|zuverlässig\p{L}*|wartbar\p{L}*|barrierefrei\p{L}*|leistung\p{L}*)(?!\p{L})/iu,
  ],
  [
    'constraint',
    /(?<!\p{L})(?:at most|at least|no more than|only|maximum|minimum|limited to|within \d+|exclusively|höchstens|mindestens|maximal\p{L}*|minimal\p{L}*|nur|ausschließlich|spätestens|innerhalb von|beschränkt auf)(?!\p{L})/iu,
  ],
];

/** Sentences that are no requirements whatever words they hold. */
const nothing = [
  /\?\s*$/,
  /^(?:note|hinweis|example|beispiel|z\.\s?b\.|e\.g\.)\b/i,
  /^(?:this (?:document|chapter|section)|dieses (?:dokument|kapitel)|dieser abschnitt)\b/i,
];
const shortest = 15;
const longest = 2_000;

/** The sentences that read like requirements, in the order of the document. The rules stand in docs/packs.md. */
export function candidatesOf(document: ParsedDocument, least: number): readonly Candidate[] {
  return sentencesOf(document).flatMap((sentence) => {
    const found = judge(sentence);
    if (found === null || found.confidence < least) return [];
    return [{ ...passageAt(document, sentence.start, sentence.end), text: sentence.text, ...found }];
  });
}

function judge({ text, kind }: Sentence): Pick<Candidate, 'type' | 'confidence' | 'signals' | 'language'> | null {
  if (kind === 'heading' || text.length < shortest || text.length > longest) return null;
  if (nothing.some((pattern) => pattern.test(text.trim()))) return null;
  const language = languageOf(text);
  const other = language === 'de' ? 'en' : 'de';
  const [weight, modal] = strongest(text, language) ?? strongest(text, other) ?? [0, ''];
  if (weight === 0) return null;
  const subject = subjects.exec(text)?.[0];
  const numbered = /^(?:\(?\d+(?:\.\d+)*[.)]?|[-•*]|\[?(?:REQ|R|FR|NFR|ANF)[-_ ]?\d+\]?:?)\s/i.exec(text)?.[0];
  const type = typeOf(text);
  const confidence =
    weight + (subject === undefined ? 0 : 0.1) + (type[1] === '' ? 0 : 0.05) + (numbered === undefined ? 0 : 0.05);
  const signals = [modal, subject, type[1], numbered?.trim()].filter((each) => each !== undefined && each !== '');
  return {
    type: type[0],
    confidence: round(Math.min(1, confidence)),
    signals: [...new Set(signals as string[])],
    language,
  };
}

function strongest(text: string, language: Language): readonly [number, string] | null {
  for (const [weight, pattern] of modals[language]) {
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) return [weight, found];
  }
  return null;
}

function typeOf(text: string): readonly [RequirementType, string] {
  for (const [type, pattern] of kinds) {
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) return [type, found];
  }
  return ['functional', ''];
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
