import { discord } from './discord.js';
import { slack } from './slack.js';
import { teams } from './teams.js';
import { telegram } from './telegram.js';

/** The simulated chat services. */
export const CHAT_SERVICES = { slack, discord, teams, telegram } as const;
