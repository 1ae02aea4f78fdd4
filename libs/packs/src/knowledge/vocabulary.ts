/** The predicates by which RDF data commonly names its things, the main name first (RDFS, SKOS, schema.org, FOAF). */
export const labels = [
  'http://www.w3.org/2000/01/rdf-schema#label',
  'http://www.w3.org/2004/02/skos/core#prefLabel',
  'http://schema.org/name',
  'https://schema.org/name',
  'http://xmlns.com/foaf/0.1/name',
] as const;

export const otherNames = [
  'http://www.w3.org/2004/02/skos/core#altLabel',
  'http://schema.org/alternateName',
  'https://schema.org/alternateName',
] as const;

export const rdfsLabel = labels[0];
export const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

/** Where things and relations go that are added by name only. */
export const entityPrefix = 'urn:sluice:entity:';
export const relationPrefix = 'urn:sluice:relation:';

/**
 * The IRI part for a name: lower case, words joined by hyphens, so that names that are found as equal become one
 * thing.
 */
export function slug(name: string): string {
  return encodeURIComponent(name.normalize('NFC').trim().toLowerCase().replace(/\s+/g, '-'));
}
