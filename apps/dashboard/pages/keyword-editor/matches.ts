/** The modes in which a term is compared with a text. */
export const MATCHES = [
  { value: 'word', label: 'whole words' },
  { value: 'contains', label: 'part of a word too' },
  { value: 'platform', label: 'by the search of the source' },
];
