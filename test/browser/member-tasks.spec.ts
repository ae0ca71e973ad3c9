import { channelTasks } from './channel-tasks.js';
import { crowdTasks } from './crowd-tasks.js';
import { editorTasks } from './editor-tasks.js';
import { hostileTasks } from './hostile-tasks.js';
import { insightTasks } from './insight-tasks.js';
import { Member } from './member.js';
import { readingTasks } from './reading-tasks.js';

describe('a member in the dashboard', () => {
  const member = new Member();

  beforeAll(() => member.begin(), 180_000);
  afterAll(() => member.end());

  readingTasks(member);
  channelTasks(member);
  insightTasks(member);
  editorTasks(member);
  // These tests rename the keyword and add many mentions, so they come last.
  hostileTasks(member);
  crowdTasks(member);
});
