import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { BacktestsController } from '../api/backtests/backtests.controller.js';
import { CoverageController } from '../api/coverage/coverage.controller.js';
import { CreditsController } from '../api/credits/credits.controller.js';
import { ExploreItemsController } from '../api/explore/explore-items.controller.js';
import { ExploreController } from '../api/explore/explore.controller.js';
import { ActivityController } from '../api/keywords/activity.controller.js';
import { KeywordChangeController } from '../api/keywords/keyword-change.controller.js';
import { KeywordCreateController } from '../api/keywords/keyword-create.controller.js';
import { KeywordsController } from '../api/keywords/keywords.controller.js';
import { EstimateTokens } from '../api/keywords/estimate-tokens.js';
import { MentionsController } from '../api/mentions/mentions.controller.js';
import { SourcesController } from '../api/sources/sources.controller.js';

/**
 * The controllers of the HTTP routes that tools and resources use, and the estimate tokens. A tool calls the method of
 * the controller, so that the input of the tool is validated in the same way as a request over HTTP. Four things differ
 * from HTTP: tools can shorten the answers, the MCP server checks the role that a tool needs before it calls the tool,
 * an API key has a daily limit of credits, and creating a keyword needs an estimate token. Nest creates controllers
 * after providers, so each controller is looked up when it is used.
 */
@Injectable()
export class McpRoutes {
  constructor(private readonly modules: ModuleRef) {}

  get mentions(): MentionsController {
    return this.modules.get(MentionsController);
  }
  get keywords(): KeywordsController {
    return this.modules.get(KeywordsController);
  }
  get keywordCreate(): KeywordCreateController {
    return this.modules.get(KeywordCreateController);
  }
  get keywordChange(): KeywordChangeController {
    return this.modules.get(KeywordChangeController);
  }
  get activity(): ActivityController {
    return this.modules.get(ActivityController);
  }
  get coverage(): CoverageController {
    return this.modules.get(CoverageController);
  }
  get backtests(): BacktestsController {
    return this.modules.get(BacktestsController);
  }
  get explore(): ExploreController {
    return this.modules.get(ExploreController);
  }
  get exploreItems(): ExploreItemsController {
    return this.modules.get(ExploreItemsController);
  }
  get credits(): CreditsController {
    return this.modules.get(CreditsController);
  }
  get sources(): SourcesController {
    return this.modules.get(SourcesController);
  }
  get estimateTokens(): EstimateTokens {
    return this.modules.get(EstimateTokens);
  }
}
