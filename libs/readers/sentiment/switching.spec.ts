import { readingOf, requestOf } from '../testing/requests.js';
import { switchingIn } from './switching.js';

// In the sentences, § is the subject.
const direction = (sentence: string) => switchingIn([sentence])[0]?.direction;

describe('statements that compare products, or say that somebody changes to or from a product', () => {
  it.each([
    'leaving § for acme',
    'we switched from § to acme last week',
    'moved our team away from §',
    'i use acme instead of §',
    'acme is better than §',
    'acme is much more reliable than the §',
    '§ is worse than acme',
    '§ is slower than acme',
    'i prefer acme over §',
    'replaced § with acme',
    'acme beats §',
    'goodbye §',
    '§ is not as good as acme',
    'i would never switch to §',
    'ditched my § for an acme',
  ])('count against the subject: "%s"', (sentence) => {
    expect(direction(sentence)).toBe(-1);
  });

  it.each([
    'leaving acme for §',
    'we switched from acme to §',
    'just moved everything over to §',
    'i use § instead of acme',
    '§ is better than acme',
    'acme is worse than §',
    'acme is slower than §',
    'i prefer § over acme',
    'replaced acme with §',
    '§ beats acme',
    'nothing is as good as §',
    "i'd never leave § for acme",
    'went back to §',
  ])('count for the subject: "%s"', (sentence) => {
    expect(direction(sentence)).toBe(1);
  });

  it.each(['is § better than acme?', 'should i switch from § to acme?', 'does anyone prefer acme over §?'])(
    'are ignored in a question: "%s"',
    (sentence) => {
      expect(direction(sentence)).toBeUndefined();
    },
  );

  it.each(['take me to § tomorrow', 'djokovic beats § 6-3 in the final', 'globex beats § in the polls'])(
    'are ignored if they are not about products: "%s"',
    (sentence) => {
      expect(direction(sentence)).toBeUndefined();
    },
  );

  it('are ignored if they are not about the subject', () => {
    expect(direction('acme is better than globex, says §')).toBeUndefined();
  });
});

describe('the stance toward the subject', () => {
  const stance = (text: string, names: string[], role: 'own' | 'competitor' | 'topic' = 'own') =>
    readingOf(requestOf(text, { names, role })).sentiment;

  it('is negative for the product that the author leaves, and positive for the product that the author chooses [readings.stance]', () => {
    const text = 'Leaving Globex for Acme today.';
    expect([stance(text, ['Globex'], 'competitor'), stance(text, ['Acme'])]).toEqual([
      'negative',
      'positive',
    ]);
  });

  it('is read for all names of the subject', () => {
    expect(stance('Acme Cloud is better than Globex Drive', ['Globex Suite', 'globex drive'])).toBe(
      'negative',
    );
  });

  it('is mixed if one sentence prefers the subject and another sentence prefers something else', () => {
    expect(stance('Acme is better than Globex. Initech is better than Acme.', ['Acme'])).toBe('mixed');
  });

  it('is the mood of the text if the subject is a topic [readings.stance]', () => {
    const text = 'I love this, finally leaving Globex for Acme, so happy and excited!';
    expect([stance(text, ['Globex'], 'topic'), stance(text, ['Globex'], 'own')]).toEqual([
      'positive',
      'negative',
    ]);
  });
});
