/**
 * The principles of the GoBD (letter of the German Federal Ministry of Finance of 28 November 2019), by which records
 * must be kept.
 */
interface GobdFinding {
  readonly principle: string;
  readonly weight: number;
  /** The words that the rule went by. */
  readonly evidence: readonly string[];
}

interface GobdAssessment {
  readonly relevant: boolean;
  /** From 0 to 1. */
  readonly score: number;
  readonly findings: readonly GobdFinding[];
  /** Whether the text is about records that taxes depend on; where it is not, principles count half. */
  readonly aboutRecords: boolean;
}

/** From here on a text counts as relevant. */
export const gobdThreshold = 0.5;

const principles: readonly (readonly [principle: string, weight: number, pattern: RegExp])[] = [
  [
    'named',
    1,
    /(?<!\p{L})(?:GoBD|GoBS|GDPdU|§§?\s*(?:14[0-8]|200)\s*(?:[a-z]\s*)?(?:Abs\.\s*\d+\s*)?(?:\p{L}+\.?\s*\d*\s*)?AO|§§?\s*(?:23[89]|257)\s*(?:Abs\.\s*\d+\s*)?HGB|§\s*14b?\s*UStG)(?!\p{L})/giu,
  ],
  [
    'immutability',
    0.6,
    /(?<!\p{L})(?:immutab\p{L}*|unalterab\p{L}*|tamper\p{L}*|(?:not|never) (?:be )?(?:change[ds]?|alter(?:ed)?|overwrit\p{L}*|delete[ds]?)|unveränder(?:bar|lich|t)\p{L}*|revisionssicher\p{L}*|nicht (?:mehr )?(?:ge|ver)ändert|nicht (?:\p{L}+ )?(?:gelöscht|überschrieben))(?!\p{L})/giu,
  ],
  [
    'retention',
    0.6,
    /(?<!\p{L})(?:retain(?:ed|s)?|retention|archiv(?:e[ds]?|ing|al)|(?:kept|stored|preserved) for (?:at least )?\w+ years|aufbewahr\p{L}*|aufzubewahren|archivier\p{L}*|(?:sechs|acht|zehn|6|8|10) Jahre\p{L}*)(?!\p{L})/giu,
  ],
  [
    'traceability',
    0.5,
    /(?<!\p{L})(?:traceab\p{L}*|audit (?:trail|log)\p{L}*|auditab\p{L}*|change log\p{L}*|nachvollzieh\p{L}*|nachprüf\p{L}*|protokollier\p{L}*|änderungshistorie|prüfpfad\p{L}*)(?!\p{L})/giu,
  ],
  [
    'completeness',
    0.35,
    /(?<!\p{L})(?:complete(?:ness|ly)? (?:and|record\p{L}*|captur\p{L}*)|without gaps|gapless|consecutive number\p{L}*|vollständig\p{L}*|lückenlos\p{L}*|fortlaufend\p{L}*|einzelaufzeichnung\p{L}*)(?!\p{L})/giu,
  ],
  [
    'correctness',
    0.3,
    /(?<!\p{L})(?:accura(?:te|cy)\p{L}*|correctness|wahrheitsgemäß\p{L}*|richtigkeit|sachlich richtig\p{L}*)(?!\p{L})/giu,
  ],
  [
    'timeliness',
    0.35,
    /(?<!\p{L})(?:timely|within (?:ten|10) days|zeitgerecht\p{L}*|zeitnah\p{L}*|innerhalb von (?:zehn|10) tagen)(?!\p{L})/giu,
  ],
  [
    'order',
    0.3,
    /(?<!\p{L})(?:systematic order|indexed|ordnungsmäßig\p{L}*|geordnet\p{L}*|indexier\p{L}*)(?!\p{L})/giu,
  ],
  [
    'data access',
    0.6,
    /(?<!\p{L})(?:tax audit\p{L}*|data access for (?:the )?(?:tax|audit)\p{L}*|tax authorit\p{L}*|betriebsprüf\p{L}*|außenprüf\p{L}*|datenzugriff|datenträgerüberlassung|Z[123]-Zugriff|finanzamt\p{L}*|finanzbehörde\p{L}*|maschinell(?:e|en)? auswert\p{L}*)(?!\p{L})/giu,
  ],
  [
    'procedural documentation',
    0.6,
    /(?<!\p{L})(?:procedur(?:e|al) documentation|verfahrensdokumentation|internes kontrollsystem|IKS|internal control system)(?!\p{L})/giu,
  ],
];

const records =
  /(?<!\p{L})(?:invoic\p{L}*|receipt\p{L}*|voucher\p{L}*|ledger\p{L}*|bookkeeping|account(?:ing|s)\p{L}*|journal\p{L}*|tax\p{L}*|transaction\p{L}*|payroll|cash register\p{L}*|rechnung\p{L}*|\p{L}*beleg\p{L}*|buch(?:ung|haltung|führung)\p{L}*|\p{L}*konto|konten|steuer\p{L}*|kasse\p{L}*|geschäftsvorf\p{L}*|handelsbrief\p{L}*|bilanz\p{L}*|zahlung\p{L}*|vat|umsatzsteuer\p{L}*)(?!\p{L})/iu;

/**
 * Each principle found counts once, whatever often its words occur: the score is 1 − ∏(1 − weight), with half of each
 * weight where the text is not about records. A text that names the rules themselves is relevant in any case.
 */
export function assessGobd(text: string): GobdAssessment {
  const aboutRecords = records.test(text);
  const findings = principles.flatMap(([principle, weight, pattern]) => {
    const evidence = [
      ...new Set((text.match(pattern) ?? []).map((each) => each.replace(/\s+/g, ' ').slice(0, 80))),
    ].slice(0, 5);
    const counts = aboutRecords || principle === 'named' ? weight : weight / 2;
    return evidence.length === 0 ? [] : [{ principle, weight: counts, evidence }];
  });
  const score = Math.round((1 - findings.reduce((rest, { weight }) => rest * (1 - weight), 1)) * 100) / 100;
  return { relevant: score >= gobdThreshold, score, findings, aboutRecords };
}
