import type { DescMessage } from '@bufbuild/protobuf';
import {
  AcceptInvitationSchema,
  AnswerAddressSchema,
  AnsweredAddressSchema,
  AskedQuestionSchema,
  AskQuestionSchema,
  CancelReplaySchema,
  ChangeAccountSchema,
  ChangeChannelSchema,
  ChangedSchema,
  ChangeKeywordSchema,
  ChangeMentionSchema,
  ChangePlanSchema,
  ChangeWatchSchema,
  CreatedKeySchema,
  CreateChannelSchema,
  CreateKeySchema,
  DeleteChannelSchema,
  EnableChannelSchema,
  CreateKeywordSchema,
  CreateReplaySchema,
  CreateWatchSchema,
  DoneSchema,
  EnableEndpointSchema,
  EstimatedSchema,
  EstimateKeywordSchema,
  GrantCreditsSchema,
  GrantedSchema,
  LookedUpSchema,
  LookUpSchema,
  MadeSchema,
  OpenAccountSchema,
  OpenedAccountSchema,
  PauseKeywordSchema,
  ResendingSchema,
  ResendSchema,
  ResumeKeywordSchema,
  RetireKeywordSchema,
  RetireWatchSchema,
  RanAnalysisSchema,
  RanBacktestSchema,
  ReadBacktestSchema,
  BacktestPageSchema,
  ChangedPasswordSchema,
  ChangeMemberRoleSchema,
  ChangePasswordSchema,
  InvitedMemberSchema,
  InviteMemberSchema,
  JoinedMemberSchema,
  RemoveMemberSchema,
  LimitKeySchema,
  PasswordWasResetSchema,
  RenameKeySchema,
  RequestedPasswordResetSchema,
  RequestPasswordResetSchema,
  ResetPasswordSchema,
  RevokeInvitationSchema,
  RevokeKeySchema,
  RunAnalysisSchema,
  RunBacktestSchema,
  RotatedSigningSecretSchema,
  RotateSigningSecretSchema,
  RotateFeedSchema,
  SettledQuestionSchema,
  SettleQuestionSchema,
  StartExploreSchema,
  TestChannelSchema,
  TestedChannelSchema,
  TestedWebhookSchema,
  TestWebhookSchema,
} from '#contracts';

/** One command of a service: its subject, the message that it takes and the message that it returns. */
export interface CommandType<I extends DescMessage = DescMessage, O extends DescMessage = DescMessage> {
  /** `commands.<service>.<name>` */
  subject: string;
  input: I;
  output: O;
}

/**
 * The commands that are sent over NATS, except lookups (see `lookupCommand`). `proto/earshot/commands` defines their
 * messages.
 */
export const COMMANDS = {
  openAccount: {
    subject: 'commands.billing.open-account',
    input: OpenAccountSchema,
    output: OpenedAccountSchema,
  },
  createKey: { subject: 'commands.billing.create-key', input: CreateKeySchema, output: CreatedKeySchema },
  revokeKey: { subject: 'commands.billing.revoke-key', input: RevokeKeySchema, output: DoneSchema },
  limitKey: { subject: 'commands.billing.limit-key', input: LimitKeySchema, output: DoneSchema },
  renameKey: { subject: 'commands.billing.rename-key', input: RenameKeySchema, output: DoneSchema },
  inviteMember: {
    subject: 'commands.billing.invite-member',
    input: InviteMemberSchema,
    output: InvitedMemberSchema,
  },
  revokeInvitation: {
    subject: 'commands.billing.revoke-invitation',
    input: RevokeInvitationSchema,
    output: DoneSchema,
  },
  acceptInvitation: {
    subject: 'commands.billing.accept-invitation',
    input: AcceptInvitationSchema,
    output: JoinedMemberSchema,
  },
  changeMemberRole: {
    subject: 'commands.billing.change-member-role',
    input: ChangeMemberRoleSchema,
    output: DoneSchema,
  },
  removeMember: { subject: 'commands.billing.remove-member', input: RemoveMemberSchema, output: DoneSchema },
  changePassword: {
    subject: 'commands.billing.change-password',
    input: ChangePasswordSchema,
    output: ChangedPasswordSchema,
  },
  requestPasswordReset: {
    subject: 'commands.billing.request-password-reset',
    input: RequestPasswordResetSchema,
    output: RequestedPasswordResetSchema,
  },
  resetPassword: {
    subject: 'commands.billing.reset-password',
    input: ResetPasswordSchema,
    output: PasswordWasResetSchema,
  },
  changePlan: { subject: 'commands.billing.change-plan', input: ChangePlanSchema, output: DoneSchema },
  rotateSigningSecret: {
    subject: 'commands.billing.rotate-signing-secret',
    input: RotateSigningSecretSchema,
    output: RotatedSigningSecretSchema,
  },
  changeAccount: {
    subject: 'commands.billing.change-account',
    input: ChangeAccountSchema,
    output: DoneSchema,
  },
  grantCredits: {
    subject: 'commands.billing.grant-credits',
    input: GrantCreditsSchema,
    output: GrantedSchema,
  },
  changeMention: {
    subject: 'commands.analysis.change-mention',
    input: ChangeMentionSchema,
    output: DoneSchema,
  },
  runAnalysis: {
    subject: 'commands.analysis.run-analysis',
    input: RunAnalysisSchema,
    output: RanAnalysisSchema,
  },
  runBacktest: {
    subject: 'commands.analysis.run-backtest',
    input: RunBacktestSchema,
    output: RanBacktestSchema,
  },
  readBacktest: {
    subject: 'commands.analysis.read-backtest',
    input: ReadBacktestSchema,
    output: BacktestPageSchema,
  },
  askQuestion: {
    subject: 'commands.analysis.ask-question',
    input: AskQuestionSchema,
    output: AskedQuestionSchema,
  },
  settleQuestion: {
    subject: 'commands.analysis.settle-question',
    input: SettleQuestionSchema,
    output: SettledQuestionSchema,
  },
  estimateKeyword: {
    subject: 'commands.keywords.estimate-keyword',
    input: EstimateKeywordSchema,
    output: EstimatedSchema,
  },
  createKeyword: {
    subject: 'commands.keywords.create-keyword',
    input: CreateKeywordSchema,
    output: MadeSchema,
  },
  changeKeyword: {
    subject: 'commands.keywords.change-keyword',
    input: ChangeKeywordSchema,
    output: ChangedSchema,
  },
  pauseKeyword: {
    subject: 'commands.keywords.pause-keyword',
    input: PauseKeywordSchema,
    output: DoneSchema,
  },
  resumeKeyword: {
    subject: 'commands.keywords.resume-keyword',
    input: ResumeKeywordSchema,
    output: DoneSchema,
  },
  rotateFeed: { subject: 'commands.keywords.rotate-feed', input: RotateFeedSchema, output: DoneSchema },
  retireKeyword: {
    subject: 'commands.keywords.retire-keyword',
    input: RetireKeywordSchema,
    output: DoneSchema,
  },
  createWatch: { subject: 'commands.keywords.create-watch', input: CreateWatchSchema, output: MadeSchema },
  changeWatch: { subject: 'commands.keywords.change-watch', input: ChangeWatchSchema, output: MadeSchema },
  startExplore: { subject: 'commands.polling.start-explore', input: StartExploreSchema, output: MadeSchema },
  createReplay: { subject: 'commands.delivery.create-replay', input: CreateReplaySchema, output: MadeSchema },
  cancelReplay: { subject: 'commands.delivery.cancel-replay', input: CancelReplaySchema, output: DoneSchema },
  resend: { subject: 'commands.delivery.resend', input: ResendSchema, output: ResendingSchema },
  testWebhook: {
    subject: 'commands.delivery.test-webhook',
    input: TestWebhookSchema,
    output: TestedWebhookSchema,
  },
  enableEndpoint: {
    subject: 'commands.delivery.enable-endpoint',
    input: EnableEndpointSchema,
    output: DoneSchema,
  },
  createChannel: {
    subject: 'commands.delivery.create-channel',
    input: CreateChannelSchema,
    output: MadeSchema,
  },
  changeChannel: {
    subject: 'commands.delivery.change-channel',
    input: ChangeChannelSchema,
    output: DoneSchema,
  },
  deleteChannel: {
    subject: 'commands.delivery.delete-channel',
    input: DeleteChannelSchema,
    output: DoneSchema,
  },
  enableChannel: {
    subject: 'commands.delivery.enable-channel',
    input: EnableChannelSchema,
    output: DoneSchema,
  },
  testChannel: {
    subject: 'commands.delivery.test-channel',
    input: TestChannelSchema,
    output: TestedChannelSchema,
  },
  answerAddress: {
    subject: 'commands.delivery.answer-address',
    input: AnswerAddressSchema,
    output: AnsweredAddressSchema,
  },
  retireWatch: { subject: 'commands.keywords.retire-watch', input: RetireWatchSchema, output: DoneSchema },
} as const;

/** Returns the command of a lookup on a source. The polling replica that holds the source's first lane answers it. */
export function lookupCommand(source: string) {
  return {
    subject: `commands.polling.lookup.${source}`,
    input: LookUpSchema,
    output: LookedUpSchema,
  };
}
