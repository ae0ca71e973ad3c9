// Domains that people write in addresses without a scheme. The list does not contain the whole registry: a word inside
// an address does not match, so a text that is wrongly taken for an address hides a mention. A country domain that is
// also a word or a file type (`it`, `md`; see ALSO_WORDS) counts only if a path, port, query or fragment follows.
// Generic domains (`food`, `live`) always count.
const GENERIC =
  'com org net io ai co dev app info biz edu gov mil int xyz shop store online site website tech cloud digital ' +
  'media news blog agency studio design space world life live social network email systems solutions software ' +
  'games game fun club team group company finance money bank capital health care academy school university ' +
  'wiki page link click host zone tools services global international asia mobi name pro tel travel jobs art ' +
  'music film video photos pictures style fashion beauty fit food pizza coffee bar restaurant hotel tours green ' +
  'energy earth eco bio farm garden eu uk gg ly tv fm';
const COUNTRIES =
  'ac ad ae af ag al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cc cd ' +
  'cf cg ch ci ck cl cm cn cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et fi fj fk fo fr ga gd ge gf gh ' +
  'gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in iq ir is it je jm jo jp ke kg kh ki km kn ' +
  'kp kr kw ky kz la lb lc li lk lr ls lt lu lv ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz ' +
  'na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd ' +
  'se sg sh si sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tw tz ua ug us uy uz ' +
  'va vc ve vg vi vn vu wf ws ye yt za zm zw';
const ALSO_WORDS =
  'ac ad ae ag al am as at ba be bi by cc cd cf cm do ga gs ht id ie im in is it je la li ma mc md me mm mo ' +
  'ms mt my na ne no nu om pa pm pr ps py re rs sc sh si sm so st su td to tt us va vi ws ye';

const generic = new Set(GENERIC.split(' '));
const countries = new Set(COUNTRIES.split(' '));
const alsoWords = new Set(ALSO_WORDS.split(' '));

/**
 * Returns true for a top-level domain (lower case) that makes `name.ending` an address. `withPath`: a path, port,
 * query or fragment follows.
 */
export function isTopLevelDomain(ending: string, withPath: boolean): boolean {
  if (generic.has(ending)) return true;
  return countries.has(ending) && (withPath || !alsoWords.has(ending));
}
