import { foldTerm } from '#matching';
import type { RuleSubject } from './subject.js';

/** The fields of prose: `text` is title and body. */
export type TextField = 'text' | 'title' | 'body';

/** The texts of a field in the form in which they are compared, without empty texts. */
export type TextsOf = (field: TextField) => readonly string[];

/** Returns true for a field of prose. */
export function isText(field: string): field is TextField {
  return field === 'text' || field === 'title' || field === 'body';
}

/** Returns the parts of an item that a field of prose consists of. */
export function textFields(field: TextField): readonly ('title' | 'body')[] {
  return field === 'text' ? ['title', 'body'] : [field];
}

/** Folds each text of an item once, when the first clause needs it. */
export function textsOfItem(subject: RuleSubject): TextsOf {
  const folded = new Map<'title' | 'body', string>();
  const foldOnce = (name: 'title' | 'body') => {
    let text = folded.get(name);
    if (text === undefined) folded.set(name, (text = foldTerm(subject[name])));
    return text;
  };
  return (field) =>
    textFields(field)
      .map(foldOnce)
      .filter((text) => text !== '');
}
