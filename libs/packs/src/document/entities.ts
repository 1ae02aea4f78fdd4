import { passageAt } from './document.js';
import type { ParsedDocument, Passage } from './document.js';

export const entityKinds = [
  'business_object',
  'message',
  'role',
  'system',
  'law',
  'identifier',
  'date',
  'duration',
  'amount',
  'named',
] as const;
type EntityKind = (typeof entityKinds)[number];

interface Mention {
  readonly name: string;
  readonly kind: EntityKind;
  /** How often it is mentioned. */
  readonly count: number;
  /** Where it is mentioned first. */
  readonly first: Passage;
}

/** What the rules look for, in the order of their precedence: a passage that one has found is no other’s. */
const patterns: readonly (readonly [EntityKind, RegExp])[] = [
  [
    'law',
    /(?<!\p{L})(?:§§?\s*\d+[a-z]?(?:\s*(?:Abs\.|Absatz|Satz|Nr\.)\s*\d+)*\s*(?:AO|HGB|UStG|BGB|EStG|KStG|BDSG|GwG|TMG)|Art(?:\.|icle|ikel)\s*\d+(?:\(\d+\))?\s*(?:DSGVO|GDPR|GG|AEUV)|(?:ISO|IEC|DIN|EN)(?:[/ ](?:IEC|EN|ISO))*\s?\d{3,6}(?:-\d+)?(?::\d{4})?|GoBD|DSGVO|GDPR|SOX|PCI[- ]DSS|eIDAS|HGB|UStG)(?![\p{L}\d])/gu,
  ],
  ['identifier', /(?<![\p{L}\d-])(?:(?:REQ|FR|NFR|ANF|UC|US|R)[-_]\d{1,6}|[A-Z]{2,10}-\d{1,6})(?![\p{L}\d-])/gu],
  [
    'date',
    /(?<!\d)(?:\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}\.? (?:January|February|March|April|May|June|July|August|September|October|November|December|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember) \d{4})(?!\d)/gu,
  ],
  [
    'duration',
    /(?<![\p{L}\d.])(?:\d+(?:[.,]\d+)?|one|two|three|five|six|eight|ten|ein(?:en?|er)?|zwei|drei|fünf|sechs|acht|zehn)\s(?:milliseconds?|ms|seconds?|minutes?|hours?|(?:working )?days?|weeks?|months?|years?|Millisekunden?|Sekunden?|Minuten?|Stunden?|(?:Werk)?Tage?n?|Wochen?|Monate?n?|Jahre?n?)(?!\p{L})/giu,
  ],
  [
    'amount',
    /(?<![\p{L}\d])(?:(?:EUR|CHF|USD|€|\$)\s?\d[\d.,'’]*|\d[\d.,'’]*\s?(?:EUR|CHF|USD|Euro|Franken|€|\$|%|Prozent|percent))(?![\p{L}\d])/gu,
  ],
  [
    'message',
    /(?<!\p{L})(?:[A-Z][a-z]+(?:[A-Z][a-z]+)*(?:Request|Response|Event|Message|Command|Notification|Nachricht|Meldung|Ereignis)|(?:pain|camt|pacs|acmt)\.\d{3}(?:\.\d{3}\.\d{2})?|\p{Lu}\p{L}+(?:nachricht|meldung))(?:en|s)?(?!\p{L})/gu,
  ],
  [
    'role',
    /(?<!\p{L})(?:administrators?|accountants?|auditors?|approvers?|clerks?|customers?|suppliers?|end users?|users?|operators?|managers?|taxpayers?|Administrator(?:en|in)?|Buchhalter(?:in(?:nen)?|n)?|Prüfer(?:in(?:nen)?|n)?|Sachbearbeiter(?:in(?:nen)?|n)?|Kund(?:e|en|in)|Lieferant(?:en|in)?|Benutzer(?:in(?:nen)?|n)?|Anwender(?:in(?:nen)?|n)?|Steuerpflichtige[nr]?|Betriebsprüfer(?:in(?:nen)?|n)?)(?!\p{L})/giu,
  ],
  [
    'system',
    /(?<!\p{L})(?:ERP|CRM|DMS|DATEV|SAP|Kafka|PostgreSQL|Neo4j|\p{Lu}\p{L}*-(?:System|Server|Gateway|Portal)|\p{Lu}\p{L}+(?:system|server|datenbank|portal))(?:e|s|n)?(?!\p{L})/gu,
  ],
  [
    'business_object',
    /(?<!\p{L})(?:(?:credit |purchase |sales )?(?:invoice|order|receipt|voucher)s?|credit notes?|payments?|ledgers?|contracts?|bank accounts?|postings?|journal entr(?:y|ies)|delivery notes?|(?:\p{Lu}\p{L}*)?(?:Rechnung|Buchung|Bestellung|Zahlung|Lieferung|Mahnung|Quittung|Gutschrift)(?:en)?|(?:\p{Lu}\p{L}*)?(?:Beleg|Auftrag|Aufträge|Vertrag|Verträge|Konto|Konten|Lieferschein)(?:e|s|es|en)?|Hauptbuch|Journal)(?!\p{L})/giu,
  ],
  ['named', /[„“"»]([^„“”"»«\n]{2,60})[“”"«]/gu],
];

/**
 * What a document mentions, the most frequent first. Names of `known` count as business objects or messages of the
 * graph: they are found whatever their case.
 */
export function mentionsOf(
  document: ParsedDocument,
  known: readonly { readonly name: string; readonly kind: EntityKind }[],
): readonly Mention[] {
  const { text } = document;
  const found = new Map<string, { name: string; kind: EntityKind; count: number; at: number; end: number }>();
  const taken: (readonly [number, number])[] = [];
  const given = known.map(
    ({ name, kind }) => [kind, new RegExp(`(?<![\\p{L}\\d])${escaped(name)}(?![\\p{L}\\d])`, 'giu')] as const,
  );
  for (const [kind, pattern] of [...given, ...patterns]) {
    const own: (readonly [number, number])[] = [];
    for (const { 0: all, 1: inner, index } of text.matchAll(pattern)) {
      const start = inner === undefined ? index : index + all.indexOf(inner);
      const name = (inner ?? all).replace(/\s+/g, ' ');
      if (overlaps(taken, index, index + all.length)) continue;
      own.push([index, index + all.length]);
      const key = `${kind} ${name.toLowerCase()}`;
      const before = found.get(key);
      if (before === undefined) found.set(key, { name, kind, count: 1, at: start, end: start + name.length });
      else before.count++;
    }
    taken.push(...own);
    taken.sort((a, b) => a[0] - b[0]);
  }
  return [...found.values()]
    .sort((a, b) => b.count - a.count || a.at - b.at)
    .map(({ name, kind, count, at, end }) => ({ name, kind, count, first: passageAt(document, at, end) }));
}

/** Whether one of the ranges, which are sorted and apart, touches this one. */
function overlaps(ranges: readonly (readonly [number, number])[], start: number, end: number): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const half = (low + high) >> 1;
    if ((ranges[half] as readonly [number, number])[1] <= start) low = half + 1;
    else high = half;
  }
  return (ranges[low]?.[0] ?? Infinity) < end;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
