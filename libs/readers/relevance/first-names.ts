/** Common first names. A first name with another capitalised word after it counts as the name of a person. */
export const FIRST_NAMES: ReadonlySet<string> = new Set(
  `aaron abby abdul abigail adam adele adrian ahmed aidan aisha alan albert alejandro alex alexander alexandra alexis alfred ali alice
  alicia alison allan allen allison amanda amber amelia amir amy ana andre andrea andrew andy angela angelina angie anita ann anna anne
  annie anthony antonio ariana arthur ashley audrey austin ava barbara barry beatrice becky ben benjamin bernard bernie beth betty beverly
  bill billy blake bob bobby bonnie boris brad bradley brandon brenda brendan brent brett brian bridget brittany brooke bruce bryan caitlin
  caleb calvin cameron camila carl carla carlos carmen carol caroline carolyn catherine cathy cecilia chad charlene charles charlie charlotte
  chelsea cheryl chris christian christina christine christopher cindy claire clara clark claudia clint clive cody colin connie connor
  corey courtney craig crystal curtis cynthia daisy dale damian dan dana daniel daniela danielle danny darren darryl dave david dawn dean
  debbie deborah debra dennis derek devin diana diane diego dmitri dolores dominic don donald donna doris dorothy doug douglas duncan dustin
  dylan earl ed eddie edgar edith edward edwin eileen elaine eleanor elena eli elijah elizabeth ella ellen ellie elon emily emma eric erica
  erik erin ernest ethan eugene eva evan eve evelyn faith fatima felix fernando fiona florence frances francis francisco frank frankie fred
  freddie frederick gabriel gabriela gail gareth gary gavin gene geoff george georgia gerald gerard gina giovanni glen glenn gloria gordon
  grace graham grant greg gregory gwen hailey hank hannah harold harriet harry harvey hassan hazel heather hector heidi helen henry herbert
  holly howard hugh hugo ian ibrahim igor irene iris isaac isabel isabella ivan jack jackie jackson jacob jade jaime jake james jamie jan
  jane janet janice jared jasmine jason javier jay jean jeff jeffrey jen jenna jennifer jenny jeremy jerome jerry jesse jessica jessie jill
  jim jimmy jo joan joanna joanne joe joel joey johan johannes john johnny jon jonah jonathan jordan jorge jose joseph josh joshua joy joyce
  juan juanita judith judy julia julian julie juliet june justin kaitlyn karen karl kate katherine kathleen kathryn kathy katie kayla keith
  kelly ken kenneth kenny kerry kevin kim kimberly kirk kris kristen kristin kurt kyle lana larry laura lauren laurie lawrence leah lee leo
  leon leonard leonardo leslie lester levi lewis liam lily linda lindsay lisa liz lloyd logan lois lola lori lorraine louis louise lucas lucia
  lucy luis luke lydia lynn mabel maddie madison mandy manuel marc marcel marcia marco marcus margaret maria mariah marie marilyn mario marion
  mark marlene martha martin marvin mary mason matt matthew maureen maurice max maxine megan mel melanie melinda melissa melvin meredith mia
  michael michelle miguel mike mildred miles milton miranda mitch mitchell mohamed mohammed moira molly monica morgan muhammad myra nadia nancy
  naomi natalie natasha nathan neil nelson nicholas nick nicola nicole nigel nina noah noel nora norma norman oliver olivia omar oscar otto owen
  pablo paige pam pamela pat patricia patrick paul paula pauline pedro peggy penny perry pete peter phil philip phillip phyllis pierre rachel
  ralph ramon randy raul ray raymond rebecca regina renee rhonda ricardo rich richard rick ricky rita rob robert roberta roberto robin rod
  rodney roger roland ron ronald ronnie rory rosa rosalind rose rosemary ross roxanne roy ruby russell ruth ryan sabrina sadie sally sam samantha
  samuel sandra sandy sara sarah sasha saul scott sean sebastian selena serena sergio seth shane shannon sharon shaun shawn sheila shelby
  sherry shirley sidney silvia simon sofia sonia sophia sophie stacey stacy stan stanley stella stephanie stephen steve steven stewart stuart
  sue susan suzanne sylvia tamara tammy tanya tara taylor ted teresa terrence terry thelma theodore theresa thomas tiffany tim timothy tina toby
  todd tom tommy toni tony tracey tracy travis trevor tristan troy tyler valerie vanessa vera vernon veronica vicki victor victoria vincent viola
  violet virginia vivian wade walter wanda warren wayne wendy wesley wilbur will william willie winston xavier yolanda yusuf yvonne zach zachary
  zoe freeman harrison nikola hans jurgen goodwin hieronymus
  bentley lexus mercedes porsche chevy harley dakota chanel dior armani kia lincoln siri alexa orlando wendy carter kennedy mercury`.split(
    /\s+/,
  ),
);

/** Titles before a surname. */
export const PERSON_TITLES: ReadonlySet<string> = new Set(
  'mr mrs ms miss dr prof professor sir lady lord captain sergeant officer judge senator coach aunt uncle sister brother father'.split(
    ' ',
  ),
);
