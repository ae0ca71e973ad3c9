import { AccountChangeDto } from '../../api/account/account-change.dto.js';
import { PackBodyDto, PlanBodyDto } from '../../api/account/plan-body.dto.js';
import { AnalysisBodyDto } from '../../api/analyses/analysis-body.dto.js';
import { BacktestBodyDto } from '../../api/backtests/backtest-body.dto.js';
import { ChannelBodyDto, ChannelChangeDto, ChannelConfigDto } from '../../api/channels/channel-body.dto.js';
import { ResendBodyDto } from '../../api/deliveries/resend-body.dto.js';
import { EnableBodyDto } from '../../api/endpoints/enable-body.dto.js';
import { InvitationBodyDto } from '../../api/invitations/invitation-body.dto.js';
import { KeyBodyDto, KeyChangeDto } from '../../api/keys/key-body.dto.js';
import { AgentStepDto } from '../../api/keywords/agent-step.dto.js';
import {
  CriteriaDto,
  GlobalCriteriaDto,
  SearchDto,
  SourceEntryDto,
} from '../../api/keywords/criteria.dto.js';
import {
  KeywordBodyDto,
  KeywordChannelDto,
  MuteDto,
  READ_ONLY_KEYS,
  ScheduleDto,
  VipDto,
} from '../../api/keywords/keyword-body.dto.js';
import {
  ActionDto,
  ClauseDto,
  ConditionDto,
  ItemConditionDto,
  RuleDto,
  WindowConditionDto,
} from '../../api/keywords/rule.dto.js';
import { ExploreBodyDto } from '../../api/explore/explore-body.dto.js';
import { TweetIdsDto } from '../../api/lookups/tweet-ids.dto.js';
import { MemberChangeDto } from '../../api/members/member-change.dto.js';
import { MentionChangeDto } from '../../api/mentions/mention-change.dto.js';
import { ReplayBodyDto } from '../../api/replays/replay-body.dto.js';
import { ViewBodyDto } from '../../api/views/view-body.dto.js';
import { WatchBodyDto, WatchChangeDto } from '../../api/watches/watch-body.dto.js';
import { WebhookTestBodyDto } from '../../api/webhooks/webhook-test-body.dto.js';
import {
  PasswordChangeDto,
  PasswordResetConfirmDto,
  PasswordResetDto,
  SignInDto,
  SignUpDto,
} from '../../sessions/auth-body.dto.js';
import { bodySchemas } from '../body-schemas.js';
import { nullable, described, type Schema } from '../schema.js';

/** The classes of all request bodies and of their parts. */
export const BODIES = [
  KeywordBodyDto,
  GlobalCriteriaDto,
  CriteriaDto,
  SourceEntryDto,
  SearchDto,
  AgentStepDto,
  MuteDto,
  VipDto,
  KeywordChannelDto,
  ScheduleDto,
  RuleDto,
  ConditionDto,
  ItemConditionDto,
  WindowConditionDto,
  ClauseDto,
  ActionDto,
  ViewBodyDto,
  WatchBodyDto,
  WatchChangeDto,
  MentionChangeDto,
  AnalysisBodyDto,
  AccountChangeDto,
  ReplayBodyDto,
  ResendBodyDto,
  EnableBodyDto,
  WebhookTestBodyDto,
  ChannelBodyDto,
  ChannelChangeDto,
  ChannelConfigDto,
  TweetIdsDto,
  ExploreBodyDto,
  BacktestBodyDto,
  SignUpDto,
  SignInDto,
  PasswordChangeDto,
  PasswordResetDto,
  PasswordResetConfirmDto,
  KeyBodyDto,
  KeyChangeDto,
  MemberChangeDto,
  InvitationBodyDto,
  PlanBodyDto,
  PackBodyDto,
] as const;

type Properties = Readonly<Record<string, Schema>>;

const schemas = bodySchemas(BODIES);
const keyword = schemas['KeywordBody'] as { properties: Properties; required: readonly string[] };
const readOnly = Object.fromEntries(
  READ_ONLY_KEYS.map((key) => [key, described('Read-only; ignored in a body', {})]),
);

export const requestSchemas: Properties = {
  ...schemas,
  QueryBody: {
    ...keyword,
    description: 'camelCase only. Read-only keys of a keyword are ignored.',
    properties: { ...keyword.properties, ...readOnly },
  },
  KeywordChange: {
    ...keyword,
    description:
      'A key that is absent in the body does not change; null removes its value. Read-only keys of a keyword are ignored.',
    properties: {
      ...Object.fromEntries(
        Object.entries(keyword.properties).map(([key, schema]) => [
          key,
          keyword.required.includes(key) || 'anyOf' in schema ? schema : nullable(schema),
        ]),
      ),
      ...readOnly,
    },
    required: [],
  },
};
