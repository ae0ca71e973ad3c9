import { normalised, withoutNames } from './clean.js';
import { markedText, placesOf, searchableNames } from './names.js';

const marked = (text: string, ...names: string[]) => markedText(text, placesOf(text, searchableNames(names)));

describe('the names of a subject', () => {
  it('are found as whole words, with hashtags, handles and possessives', () => {
    expect(marked('acme #acme @acme acme’s acmeist macme', 'Acme')).toBe('§ #§ @§ §’s acmeist macme');
  });

  it('are searched for with the longest name first', () => {
    expect(marked('acme cloud and acme', 'Acme', 'Acme Cloud')).toBe('§ and §');
  });

  it('are found without spaces, as in hashtags', () => {
    expect(marked('#acmecloud is down', 'Acme Cloud')).toBe('#§ is down');
  });

  it('are found inside text without spaces', () => {
    expect(marked('我喜欢小米手机', '小米')).toBe('我喜欢§手机');
  });
});

describe('a text that is read', () => {
  it('loses its zero-width characters, and keeps its case', () => {
    expect(normalised('I lo\u200bve\u00ad A\u2060cme\ufeff')).toBe('I love Acme');
  });

  it('is cut to 4,000 characters', () => {
    expect(normalised('a'.repeat(100_000)).length).toBe(4_000);
  });

  it('has links and handles replaced', () => {
    expect(withoutNames('see https://a.b/c?d=e and @jane_doe, me@x.org')).toBe(
      'see http and @user, me@x.org',
    );
  });
});
