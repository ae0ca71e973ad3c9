import { constants } from 'node:zlib';
import compress, { type FastifyCompressOptions } from '@fastify/compress';
import { Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createOutboundMail, type OutboundMail } from '#http-out';
import { serviceModule, LOG, type Loop, type ServiceDefinition } from '#platform';
import { AddressLinks, ReportAddresses, reportKeys, SecretBox } from '#secrets';
import type { Logger } from '#telemetry';
import { AccountController } from './api/account/account.controller.js';
import { PlanController } from './api/account/plan.controller.js';
import { AnalysesController } from './api/analyses/analyses.controller.js';
import { AnswersController } from './api/answers/answers.controller.js';
import { ChannelPagesController } from './api/channels/channel-pages.controller.js';
import { ChannelsController } from './api/channels/channels.controller.js';
import { CoverageController } from './api/coverage/coverage.controller.js';
import { CreditUsageController } from './api/credits/credit-usage.controller.js';
import { CreditsController } from './api/credits/credits.controller.js';
import { DeliveriesController } from './api/deliveries/deliveries.controller.js';
import { EndpointsController } from './api/endpoints/endpoints.controller.js';
import { AuditLogController } from './api/audit-log/audit-log.controller.js';
import { BacktestsController } from './api/backtests/backtests.controller.js';
import { FeedAddresses } from './api/feeds/feed-addresses.js';
import { FeedPagesController } from './api/feeds/feed-pages.controller.js';
import { FeedsController } from './api/feeds/feeds.controller.js';
import { ActivityController } from './api/keywords/activity.controller.js';
import { EstimateTokens } from './api/keywords/estimate-tokens.js';
import { KeywordChangeController } from './api/keywords/keyword-change.controller.js';
import { KeywordCreateController } from './api/keywords/keyword-create.controller.js';
import { KeywordInput } from './api/keywords/keyword-input.js';
import { KeywordQuoteController } from './api/keywords/keyword-quote.controller.js';
import { KeywordViews } from './api/keywords/keyword-views.js';
import { InvitationsController } from './api/invitations/invitations.controller.js';
import { KeysController } from './api/keys/keys.controller.js';
import { KeywordsController } from './api/keywords/keywords.controller.js';
import { LookupClient } from './api/lookups/lookup-client.js';
import { ExploreController } from './api/explore/explore.controller.js';
import { ExploreItemsController } from './api/explore/explore-items.controller.js';
import { LookupsController } from './api/lookups/lookups.controller.js';
import { MentionChangeController } from './api/mentions/mention-change.controller.js';
import { MentionExportController } from './api/mentions/mention-export.controller.js';
import { MentionSeriesController } from './api/mentions/mention-series.controller.js';
import { MentionsController } from './api/mentions/mentions.controller.js';
import { QuestionClient } from './api/mentions/question-client.js';
import { SemanticPages } from './api/mentions/semantic-page.js';
import { MembersController } from './api/members/members.controller.js';
import { ReadingAccuracyController } from './api/readings/reading-accuracy.controller.js';
import { ReportPagesController } from './api/reports/report-pages.controller.js';
import { ReportsController } from './api/reports/reports.controller.js';
import { ReplaysController } from './api/replays/replays.controller.js';
import { LiveMentions } from './api/stream/live-mentions.js';
import { OpenStreams } from './api/stream/open-streams.js';
import { StreamPositions } from './api/stream/stream-positions.js';
import { StreamController } from './api/stream/stream.controller.js';
import { SigningSecretController } from './api/signing-secret/signing-secret.controller.js';
import { SourcesController } from './api/sources/sources.controller.js';
import { ViewsController } from './api/views/views.controller.js';
import { VintedController } from './api/vinted/vinted.controller.js';
import { WatchesController } from './api/watches/watches.controller.js';
import { WebhooksController } from './api/webhooks/webhooks.controller.js';
import { Admission } from './auth/admission.js';
import { ApiKeys } from './auth/api-keys.js';
import { AuditLog } from './auth/audit-log.js';
import { AttemptLimits } from './auth/attempt-limits.js';
import { FailedKeyAttempts } from './auth/failed-key-attempts.js';
import { Passwords } from './auth/passwords.js';
import { FLOOR_SECONDS, HAS_MAIL, HAS_MODEL, SIGN_UP, SOURCES, type GatewayConfig } from './config.js';
import { DashboardFiles } from './dashboard/dashboard-files.js';
import { DashboardFilesController } from './dashboard/dashboard-files.controller.js';
import { serveDashboard } from './dashboard/dashboard-page.js';
import { Cursors } from './http/cursor.js';
import { DocsController } from './docs/docs.controller.js';
import { Guides } from './docs/guides.js';
import { ErrorFilter } from './http/error.filter.js';
import { endQueriesOfLeftCallers } from './http/left-callers.js';
import { trackRequests } from './http/request-context.js';
import { ignoreForms, malformedRequests, acceptOnlyJson } from './http/request-parsing.js';
import { IgnoredInputGuard } from './http/ignored-input.guard.js';
import { WebhookAddresses } from './http/webhook-address.js';
import { Idempotency } from './idempotency/idempotency.js';
import { PurgeHandler } from './idempotency/purge.handler.js';
import { answerInJsonRpc, McpController } from './mcp/mcp.controller.js';
import { McpRoutes } from './mcp/mcp-routes.js';
import { MCP_DAILY_CREDITS, McpSpending } from './mcp/mcp-spending.js';
import { OldRows } from './old-rows.loop.js';
import { methodsAt, nearestPath } from './openapi/document.js';
import { OpenApiController } from './openapi/openapi.controller.js';
import { RequestQuota } from './quota/request-quota.js';
import { AnswerReads } from './reads/answer-reads.js';
import { CoverageReads } from './reads/coverage-reads.js';
import { ActivityReads } from './reads/activity-reads.js';
import { ChannelReads } from './reads/channel-reads.js';
import { CreditReads } from './reads/credit-reads.js';
import { DeliveryReads } from './reads/delivery-reads.js';
import { EndpointReads } from './reads/endpoint-reads.js';
import { KeywordReads } from './reads/keyword-reads.js';
import { MarketReads } from './reads/market-reads.js';
import { ExploreReads } from './reads/explore-reads.js';
import { AccuracyReads } from './reads/accuracy-reads.js';
import { MentionReads } from './reads/mention-reads.js';
import { PurgedKeywords } from './reads/purged-keywords.js';
import { QuoteReads } from './reads/quote-reads.js';
import { AccessReads } from './reads/access-reads.js';
import { ReportReads } from './reads/report-reads.js';
import { ReplayReads } from './reads/replay-reads.js';
import { SemanticReads } from './reads/semantic-reads.js';
import { SourceReads } from './reads/source-reads.js';
import { AccountLinks } from './sessions/account-links.js';
import { AccountMailWriter } from './sessions/account-mail-writer.js';
import { AccountMails, MAIL } from './sessions/account-mails.js';
import { MemberReads } from './sessions/members.js';
import { PasswordController } from './sessions/password.controller.js';
import { PasswordResetController } from './sessions/password-reset.controller.js';
import { SessionCookie } from './sessions/session-cookie.js';
import { Sessions } from './sessions/sessions.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { SignInController } from './sessions/sign-in.controller.js';
import { SignUpCodes } from './sessions/sign-up-codes.js';
import { SignUpController, SignUpOptionsController } from './sessions/sign-up.controller.js';
import { SignUps } from './sessions/sign-ups.js';
import { BrowserSessions } from './sessions/browser-sessions.js';

@Module({})
class GatewayModule {}

/**
 * Responses over 1 KiB are compressed if the client accepts compression. Brotli's own default takes ten times as long
 * and saves only a few per cent more.
 */
const COMPRESSION = {
  global: true,
  threshold: 1024,
  encodings: ['br', 'gzip', 'identity'],
  brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
} satisfies FastifyCompressOptions;

/** The gateway: the HTTP interface. The gateway sends commands, and reads projections and read models itself. */
export function gatewayService(config: GatewayConfig): ServiceDefinition {
  return {
    name: 'gateway',
    module: serviceModule(
      GatewayModule,
      {
        controllers: [
          KeywordsController,
          KeywordCreateController,
          KeywordChangeController,
          KeywordQuoteController,
          ActivityController,
          CoverageController,
          BacktestsController,
          FeedsController,
          FeedPagesController,
          MentionSeriesController,
          MentionExportController,
          MentionsController,
          MentionChangeController,
          StreamController,
          ReadingAccuracyController,
          ExploreController,
          ExploreItemsController,
          LookupsController,
          SourcesController,
          ViewsController,
          VintedController,
          AnswersController,
          AnalysesController,
          WatchesController,
          AccountController,
          CreditsController,
          CreditUsageController,
          ReplaysController,
          DeliveriesController,
          EndpointsController,
          ChannelsController,
          ChannelPagesController,
          ReportsController,
          ReportPagesController,
          WebhooksController,
          SignUpOptionsController,
          SignUpController,
          SignInController,
          PasswordController,
          PasswordResetController,
          SessionsController,
          PlanController,
          KeysController,
          MembersController,
          InvitationsController,
          SigningSecretController,
          AuditLogController,
          OpenApiController,
          McpController,
          DocsController,
          DashboardFilesController,
          PurgeHandler,
        ],
        providers: [
          { provide: SOURCES, useValue: config.sources },
          { provide: FLOOR_SECONDS, useValue: config.INTERVAL_FLOOR_SECONDS },
          { provide: HAS_MODEL, useValue: config.LLM_URL !== '' },
          { provide: DashboardFiles, useValue: new DashboardFiles() },
          { provide: Cursors, useValue: new Cursors(config.MASTER_KEY) },
          { provide: FeedAddresses, useValue: new FeedAddresses(config.MASTER_KEY, config.PUBLIC_URL) },
          {
            provide: ReportAddresses,
            useValue: new ReportAddresses(reportKeys(config.MASTER_KEY), config.PUBLIC_URL),
          },
          { provide: EstimateTokens, useValue: new EstimateTokens(config.MASTER_KEY) },
          { provide: WebhookAddresses, useValue: new WebhookAddresses(config.egressAllow) },
          KeywordInput,
          KeywordViews,
          McpRoutes,
          { provide: Guides, useValue: new Guides() },
          McpSpending,
          { provide: MCP_DAILY_CREDITS, useValue: config.MCP_DAILY_CREDITS },
          ApiKeys,
          FailedKeyAttempts,
          { provide: SIGN_UP, useValue: config.signUp },
          { provide: SignUpCodes, useValue: new SignUpCodes(config.MASTER_KEY) },
          { provide: SessionCookie, useValue: new SessionCookie(config.PUBLIC_URL) },
          { provide: AccountLinks, useValue: new AccountLinks(config.PUBLIC_URL) },
          { provide: MAIL, useFactory: () => mailOf(config) },
          AttemptLimits,
          Passwords,
          Sessions,
          BrowserSessions,
          SignUps,
          MemberReads,
          AccessReads,
          AuditLog,
          AccountMails,
          AccountMailWriter,
          RequestQuota,
          OldRows,
          Admission,
          Idempotency,
          KeywordReads,
          MentionReads,
          LiveMentions,
          StreamPositions,
          OpenStreams,
          SemanticReads,
          SemanticPages,
          QuestionClient,
          AccuracyReads,
          ExploreReads,
          PurgedKeywords,
          ActivityReads,
          CoverageReads,
          LookupClient,
          MarketReads,
          AnswerReads,
          SourceReads,
          CreditReads,
          QuoteReads,
          ReplayReads,
          DeliveryReads,
          EndpointReads,
          ChannelReads,
          ReportReads,
          { provide: HAS_MAIL, useValue: config.SMTP_URL !== '' },
          { provide: SecretBox, useValue: new SecretBox(config.MASTER_KEY) },
          { provide: AddressLinks, useValue: new AddressLinks(config.MASTER_KEY, config.PUBLIC_URL) },
        ],
      },
      {
        inject: [MAIL, RequestQuota, OpenStreams, AccountMails, OldRows],
        list: (mail: OutboundMail | null, ...loops: Loop[]) => ({
          loops,
          async afterStop() {
            mail?.close();
          },
        }),
      },
    ),
    server: malformedRequests,
    async http(app: NestFastifyApplication) {
      const log = app.get<Logger>(LOG, { strict: false });
      app.useGlobalFilters(new ErrorFilter(log, { methodsAt, nearestPath }));
      app.useGlobalGuards(new IgnoredInputGuard());
      const fastify = app.getHttpAdapter().getInstance();
      await app.register(compress, COMPRESSION);
      acceptOnlyJson(fastify);
      ignoreForms(fastify);
      trackRequests(fastify, log, config.TRUST_TRACEPARENT);
      endQueriesOfLeftCallers(fastify);
      app.get(Admission).guard(fastify);
      app.get(AuditLog).guard(fastify);
      app.get(Idempotency).guard(fastify);
      answerInJsonRpc(fastify);
      serveDashboard(fastify, app.get(DashboardFiles));
    },
  };
}

function mailOf({ SMTP_URL: url, MAIL_FROM: from, SMTP_REQUIRE_TLS: requireTls }: GatewayConfig) {
  return url === '' ? null : createOutboundMail({ url, from, requireTls });
}
