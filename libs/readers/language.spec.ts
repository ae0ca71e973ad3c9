import { languageOf } from './language.js';

describe('the language of a text', () => {
  it.each([
    ['en', 'The delivery was late again and nobody answered my call'],
    ['de', 'Die Lieferung kam schon wieder zu spät und niemand hat sich gemeldet'],
    ['fr', 'La livraison est encore arrivée en retard et personne ne répond'],
    ['es', 'El pedido llegó tarde otra vez y nadie contesta al teléfono'],
    ['ja', '今日も配達が遅れました、誰も電話に出ません'],
    ['zh', '这个手机很好用'],
    ['ru', 'Доставка снова опоздала, и никто не отвечает на звонки'],
    ['ko', '오늘도 배송이 늦었고 아무도 전화를 받지 않습니다'],
    ['ar', 'وصلت الطلبية متأخرة مرة أخرى ولا أحد يرد على الهاتف'],
  ])('is recognised: %s', (language, text) => {
    expect(languageOf(text)).toBe(language);
  });

  it.each([
    '',
    'ok',
    'lol',
    '👍👍👍',
    'https://example.com/die/lieferung/kam/zu/spaet',
    '@jane_doe_from_berlin @max',
  ])('is not recognised from too few letters: "%s"', (text) => {
    expect(languageOf(text)).toBeUndefined();
  });

  it('is the language that the source declares, as a short code, if the text is short', () => {
    expect([languageOf('ok', 'pt-BR'), languageOf('Super Angebot heute', 'de_AT')]).toEqual(['pt', 'de']);
  });

  it('is the language of a long text, even if the source declares another language', () => {
    const text =
      'Die Lieferung kam schon wieder zu spät, niemand hat sich gemeldet und das Paket war beschädigt';
    expect(languageOf(text, 'en')).toBe('de');
  });

  it('is the language of the text if the declared language uses another script', () => {
    expect(languageOf('今日も遅れました、残念です', 'en')).toBe('ja');
  });

  it.each(['und', 'zxx', '', 'x', '!!', 'english'])(
    'is the language of the text if the declared language is not a usable code: "%s"',
    (declared) => {
      expect(languageOf('The delivery was late again and nobody answered', declared)).toBe('en');
    },
  );
});
